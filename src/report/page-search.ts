import { decide } from "../meaning/verdict.ts";
import { type PatternParts, matchesPattern } from "../syntax/name-pattern.ts";

/**
 * The search of the report. These functions run in the browser too: the page gets their text, so they use nothing from
 * outside but each other.
 */

/** Names as sorted hashes: of one source, and for names alone or for everything below them. */
export interface NameGroup {
  readonly source: number;
  readonly isSubtree: boolean;
  readonly count: number;
  /** Bits of a difference that are written as they are; what is above them is counted. */
  readonly low: number;
  /** Differences, as base64. */
  readonly data: string;
}

/** A rule that is more than a name. */
export interface PatternRule {
  readonly text: string;
  readonly source: number;
  readonly line: number;
  /** The name that it is for, with all that is below; without one, the pattern or the expression that tells. */
  readonly host?: string;
  readonly pattern?: PatternParts;
  readonly test?: string;
  readonly denied?: readonly string[];
  readonly isAllow?: true;
  readonly isImportant?: true;
  /** For some clients or questions only. */
  readonly isPartial?: true;
  readonly rewrite?: string;
}

export interface SearchIndex {
  /** Bits of a name's hash. */
  readonly bits: number;
  readonly sources: readonly string[];
  readonly groups: readonly NameGroup[];
  readonly rules: readonly PatternRule[];
}

export interface PageAnswer {
  readonly verdict: "blocked" | "allowed" | "rewritten" | "neither";
  readonly rule?: string;
  readonly source?: number;
  readonly line?: number;
  readonly partial: readonly string[];
}

/** A number of so many bits, 33 to 52, for a name in lower case. */
export function pageHash(name: string, bits: number): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x85ebca6b);
    low ^= low >>> 13;
  }
  high = Math.imul(high ^ (high >>> 15), 0x2c1b3c6d);
  high ^= high >>> 12;
  low = Math.imul(low ^ (low >>> 16), 0x297a2d39);
  low ^= low >>> 15;
  return (high >>> 0) * 2 ** (bits - 32) + ((low >>> 0) >>> (64 - bits));
}

/** The hashes of a group: Golomb–Rice coded differences, first the part that is counted in ones, then the low bits. */
export function hashesOf(group: NameGroup): Float64Array {
  const text = atob(group.data);
  const hashes = new Float64Array(group.count);
  let at = 0;
  const bit = (): number => (text.charCodeAt(at >> 3) >> (7 - (at++ & 7))) & 1;
  let last = 0;
  for (let index = 0; index < group.count; index++) {
    let value = 0;
    while (bit() === 1) value++;
    for (let more = group.low; more > 0; more--) value = value * 2 + bit();
    last += value;
    hashes[index] = last;
  }
  return hashes;
}

export function hasHash(hashes: Float64Array, hash: number): boolean {
  let low = 0;
  let high = hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (hashes[middle] === hash) return true;
    if (hashes[middle]! < hash) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

export function isBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}

/** What the list does to a name in lower case, with the hashes of its groups at hand. */
export function pageAnswer(
  name: string,
  index: SearchIndex,
  hashes: readonly Float64Array[],
): PageAnswer {
  const matching = index.rules.filter(
    (rule) =>
      (rule.host !== undefined
        ? isBelow(name, rule.host)
        : rule.pattern !== undefined
          ? matchesPattern(name, rule.pattern)
          : new RegExp(rule.test!, "i").test(name)) &&
      !(rule.denied ?? []).some((parent) => isBelow(name, parent)),
  );
  const partial = matching.filter((rule) => rule.isPartial).map((rule) => rule.text);
  const { verdict, by } = decide(matching);
  if (by !== undefined)
    return { verdict, rule: by.text, source: by.source, line: by.line, partial };
  for (let parent = name; ;) {
    const hash = pageHash(parent, index.bits);
    for (const [at, group] of index.groups.entries()) {
      if (!group.isSubtree && parent !== name) continue;
      if (!hasHash(hashes[at]!, hash)) continue;
      const rule = group.isSubtree ? `||${parent}^` : parent;
      return { verdict: "blocked", rule, source: group.source, partial };
    }
    const dot = parent.indexOf(".");
    if (dot === -1) return { verdict: "neither", partial };
    parent = parent.slice(dot + 1);
  }
}
