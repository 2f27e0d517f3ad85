import { LARGE_SUFFIXES, NAME_SAMPLE } from "./name-sample.ts";
import { NamesByText } from "./names-by-text.ts";

/** A pattern may match this share of the sample, … */
const MOST = 1 / 1000;
/** … and this share of the names under a suffix with many names. */
const MOST_OF_SUFFIX = 1 / 50;
/** A quarter of the addresses may match by chance. */
const MOST_ADDRESSES = 10;

/** Resolvers also filter answers by address: a rule for all addresses blocks every name. */
const ADDRESSES: readonly string[] = Array.from({ length: 40 }, (_, index) =>
  index % 4 === 3
    ? `2a0${index % 10}:${(index * 977).toString(16)}::${(index * 31).toString(16)}`
    : [11 + index * 5, (index * 37) % 256, (index * 91) % 256, (index * 53) % 256].join("."),
);

type NameTest = (name: string) => boolean;

/** Names on which the width of patterns is measured. */
interface Sample {
  readonly names: NamesByText;
  readonly addresses: NamesByText;
  readonly size: number;
}

let sample: Sample | undefined;

/** Only lists with patterns need it. */
function loaded(): Sample {
  if (sample === undefined) {
    const names = NAME_SAMPLE.split(" ");
    const addresses = new NamesByText(ADDRESSES);
    sample = { names: new NamesByText(names), addresses, size: names.length };
  }
  return sample;
}

/** How many names the sample has. */
export function sampleSize(): number {
  return loaded().size;
}

/** Some of the names, spread evenly. */
export function someNames(count: number): readonly string[] {
  const all = loaded().names.candidates([]);
  const step = Math.floor(all.length / count);
  return Array.from({ length: count }, (_, index) => all[index * step]!);
}

/**
 * The names of the sample that a rule matches; undefined if they are too many, or too many of one suffix. Tests only names that contain
 * all `texts`, without which the rule cannot match.
 */
export function sampleHits(
  test: NameTest,
  texts: readonly string[] = [],
  most: number = MOST,
): readonly string[] | undefined {
  const { names, addresses, size } = loaded();
  const hits: string[] = [];
  for (const name of names.candidates(texts)) {
    if (!test(name)) continue;
    hits.push(name);
    if (hits.length > size * most) return undefined;
  }
  let left = MOST_ADDRESSES;
  for (const address of addresses.candidates(texts))
    if (test(address) && --left < 0) return undefined;
  return most === MOST && isWideInSuffix(hits) ? undefined : hits;
}

function isWideInSuffix(hits: readonly string[]): boolean {
  return Object.entries(LARGE_SUFFIXES).some(([suffix, count]) => {
    const most = count * MOST_OF_SUFFIX;
    if (hits.length <= most) return false;
    return hits.filter((name) => name.endsWith(`.${suffix}`)).length > most;
  });
}
