import { decide } from "../meaning/verdict.ts";
import { type PatternParts, matchesPattern } from "../syntax/name-pattern.ts";

/**
 * The search of the report. The page contains the source of these functions, because they run in the browser too. They must use
 * only each other, and the functions that `page-script.ts` lists.
 */

/** Sorted hashes of the names of one source, which block either the names alone or their subtrees. */
export interface NameGroup {
  readonly source: number;
  readonly isSubtree: boolean;
  readonly count: number;
  /** Rice parameter: the number of low bits of a difference that are stored directly. */
  readonly low: number;
  /** The encoded differences, in base64. */
  readonly data: string;
}

/** A special rule: more than a name. */
export interface PatternRule {
  readonly text: string;
  readonly source: number;
  readonly line: number;
  /** The name that it matches, with its subtree; otherwise it has a pattern or an expression. */
  readonly host?: string;
  readonly pattern?: PatternParts;
  readonly test?: string;
  readonly denied?: readonly string[];
  readonly isAllow?: true;
  readonly isImportant?: true;
  /** It applies only to some clients or query types. */
  readonly isPartial?: true;
  readonly rewrite?: string;
}

export interface SearchIndex {
  /** Number of bits of a hash. */
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

/** The hash of a name in lower case, with 33 to 52 bits. */
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

/** Decodes the hashes of a group: Golomb–Rice coded differences, with the quotient in unary before the low bits. */
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

/** The answer of the list for a name in lower case; `hashes` are the decoded groups. */
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
