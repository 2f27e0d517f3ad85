import { hashGram } from "../bytes/hash.ts";
import type { NameTest } from "./name-pattern.ts";
import { LARGE_SUFFIXES, nameSample } from "./name-sample.ts";

/** A pattern may match this share of the sample, … */
const MOST = 1 / 1000;
/** … and this share of the names under a suffix with many names. */
const MOST_OF_SUFFIX = 1 / 50;
/** A quarter of the addresses may match by chance. */
const MOST_ADDRESSES = 10;
/** A rule of the user that matches a larger share must be a mistake, … */
const MOST_OWN = 1 / 20;
/** … which this many names show. */
const FEW_NAMES = 2000;

/** Resolvers also filter answers by address: a rule for all addresses blocks every name. */
const ADDRESSES: readonly string[] = Array.from({ length: 40 }, (_, index) =>
  index % 4 === 3
    ? `2a0${index % 10}:${(index * 977).toString(16)}::${(index * 31).toString(16)}`
    : [11 + index * 5, (index * 37) % 256, (index * 91) % 256, (index * 53) % 256].join("."),
);

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
    const names = nameSample().split(" ");
    const addresses = new NamesByText(ADDRESSES);
    const few = new NamesByText(spread(names, FEW_NAMES));
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
    hitsUpTo(FEW_NAMES * MOST_OWN, test, few.candidates(texts)) === undefined ||
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

/** Longest first, because they are the most selective. */
const LENGTHS = [5, 3, 1] as const;
const LEAST_BITS = 12;
const NONE: readonly string[] = [];
/** Most lists have few patterns. For these, searching all names takes less time than the index. */
const FEW = 32;

/** Finds names by the texts that they contain. */
export class NamesByText {
  private readonly names: readonly string[];
  private asked = 0;
  private joined: string | undefined;
  private index: GramIndex | undefined;

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** Every name that contains all of the texts, in their original order. Both ways find the same, because each name that is tested costs. */
  candidates(texts: readonly string[]): readonly string[] {
    return this.withSomeOf(texts).filter((name) => texts.every((text) => name.includes(text)));
  }

  private withSomeOf(texts: readonly string[]): readonly string[] {
    if (this.asked++ < FEW) return this.search(texts);
    this.index ??= new GramIndex(this.names);
    return this.index.candidates(texts);
  }

  private search(texts: readonly string[]): readonly string[] {
    const text = texts.reduce((best, one) => (one.length > best.length ? one : best), "");
    if (text === "") return this.names;
    this.joined ??= `\n${this.names.join("\n")}\n`;
    const { joined } = this;
    const found: string[] = [];
    for (let at = joined.indexOf(text); at !== -1;) {
      const end = joined.indexOf("\n", at);
      found.push(joined.slice(joined.lastIndexOf("\n", at) + 1, end));
      at = joined.indexOf(text, end);
    }
    return found;
  }
}

/**
 * Maps each group of one, three or five characters to the names that contain it. Two passes over the names fill one array, so that
 * ten thousand names take a few milliseconds.
 */
class GramIndex {
  private readonly names: readonly string[];
  private readonly mask: number;
  /** Where the names of each group of characters begin and end in `places`. */
  private readonly starts: Uint32Array;
  private readonly ends: Uint32Array;
  private readonly places: Uint32Array;

  constructor(names: readonly string[]) {
    this.names = names;
    let total = 0;
    for (const { length } of names)
      for (const size of LENGTHS) total += Math.max(0, length - size + 1);
    // As many slots as groups, so that few groups share a slot.
    const bits = Math.max(LEAST_BITS, Math.ceil(Math.log2(total + 1)));
    this.mask = 2 ** bits - 1;
    this.starts = new Uint32Array(this.mask + 2);
    for (const name of names) this.each(name, (gram) => this.starts[gram + 1]!++);
    for (let gram = 0; gram <= this.mask; gram++) this.starts[gram + 1]! += this.starts[gram]!;
    this.ends = this.starts.slice(0, this.mask + 1);
    this.places = new Uint32Array(total);
    for (const [place, name] of names.entries())
      this.each(name, (gram) => {
        const end = this.ends[gram]!;
        if (end > this.starts[gram]! && this.places[end - 1] === place) return;
        this.places[end] = place;
        this.ends[gram] = end + 1;
      });
  }

  candidates(texts: readonly string[]): readonly string[] {
    let best = -1;
    let fewest = Infinity;
    for (const text of texts)
      for (const length of LENGTHS)
        for (let at = 0; at + length <= text.length; at++) {
          const gram = hashGram(text, at, length) & this.mask;
          const count = this.ends[gram]! - this.starts[gram]!;
          if (count === 0) return NONE;
          if (count >= fewest) continue;
          fewest = count;
          best = gram;
        }
    const { names } = this;
    if (best === -1 || fewest === names.length) return names;
    const places = this.places.subarray(this.starts[best], this.ends[best]);
    return Array.from(places, (place) => names[place]!);
  }

  private each(text: string, visit: (gram: number) => void): void {
    for (const length of LENGTHS)
      for (let at = 0; at + length <= text.length; at++)
        visit(hashGram(text, at, length) & this.mask);
  }
}
