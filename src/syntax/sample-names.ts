import { LARGE_SUFFIXES, NAME_SAMPLE } from "./name-sample.ts";
import { NamesByText } from "./names-by-text.ts";

/** A pattern may match this share of the sample, … */
const MOST = 1 / 1000;
/** … and this share of the names under a suffix with many names. */
const MOST_OF_SUFFIX = 1 / 50;
/** A quarter of the addresses may match by chance. */
const MOST_ADDRESSES = 10;
/** A rule of the user that matches a larger share must be a mistake, … */
const MOST_OWN = 1 / 20;
/** … which this many names show. */
const FEW = 2000;

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
  readonly few: NamesByText;
  readonly addresses: NamesByText;
  readonly size: number;
}

let sample: Sample | undefined;

/** Only lists with patterns need it. */
function loaded(): Sample {
  if (sample === undefined) {
    const names = NAME_SAMPLE.split(" ");
    const addresses = new NamesByText(ADDRESSES);
    const few = new NamesByText(spread(names, FEW));
    sample = { names: new NamesByText(names), few, addresses, size: names.length };
  }
  return sample;
}

/** How many names the sample has. */
export function sampleSize(): number {
  return loaded().size;
}

/** Some of the names, spread evenly. */
export function someNames(count: number): readonly string[] {
  return spread(loaded().names.candidates([]), count);
}

function spread(names: readonly string[], count: number): readonly string[] {
  const step = Math.floor(names.length / count);
  return Array.from({ length: count }, (_, index) => names[index * step]!);
}

/**
 * The names of the sample that a rule matches; undefined if they are too many, or too many of one suffix. Tests only names that contain
 * all `texts`, without which the rule cannot match.
 */
export function sampleHits(
  test: NameTest,
  texts: readonly string[] = [],
): readonly string[] | undefined {
  const { names, addresses, size } = loaded();
  const hits = hitsUpTo(size * MOST, test, names.candidates(texts));
  if (hits === undefined || isWideInSuffix(hits)) return undefined;
  return hitsUpTo(MOST_ADDRESSES, test, addresses.candidates(texts)) && hits;
}

/** Whether a rule matches so many names that not even the user can mean it. */
export function matchesManyNames(test: NameTest, texts: readonly string[]): boolean {
  const { few, addresses } = loaded();
  return (
    hitsUpTo(FEW * MOST_OWN, test, few.candidates(texts)) === undefined ||
    hitsUpTo(MOST_ADDRESSES, test, addresses.candidates(texts)) === undefined
  );
}

function hitsUpTo(
  most: number,
  test: NameTest,
  names: readonly string[],
): readonly string[] | undefined {
  const hits: string[] = [];
  for (const name of names) {
    if (!test(name)) continue;
    hits.push(name);
    if (hits.length > most) return undefined;
  }
  return hits;
}

function isWideInSuffix(hits: readonly string[]): boolean {
  return Object.entries(LARGE_SUFFIXES).some(([suffix, count]) => {
    const most = count * MOST_OF_SUFFIX;
    if (hits.length <= most) return false;
    return hits.filter((name) => name.endsWith(`.${suffix}`)).length > most;
  });
}
