import { DOT, lowerByte } from "../bytes/ascii.ts";
import { HASH_SEED, hashByte, hashEnd } from "../bytes/hash.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { ICANN_RULES, PRIVATE_RULES } from "./public-suffix-list.ts";

/**
 * Is a name a public suffix? Asked of every rule that is validated, so it is answered from the bytes: one hash of the
 * name, one look into a table of the list's rules. `tldts` gives the rules and is the judge in the tests.
 */
export const Suffix = { No: 0, Icann: 1, Private: 2 } as const;
export type Suffix = (typeof Suffix)[keyof typeof Suffix];

/** Bits of a table entry; shifted left by `PRIVATE_SHIFT` for the private part of the list. */
const RULE = 1;
const WILDCARD = 2;
const EXCEPTION = 4;
const PRIVATE_SHIFT = 3;

interface SuffixTable {
  /** Hash → index + 1 into the three columns; open addressing. */
  readonly slots: Uint16Array;
  readonly start: Uint32Array;
  readonly end: Uint32Array;
  readonly entry: Uint8Array;
  readonly text: Uint8Array;
  /** One bit for each hash of a rule, 16 bits a rule: a miss is certain. */
  readonly filter: Uint8Array;
  /** Last two bytes of names that may stand below a wildcard rule of the ICANN part; those need a closer look. */
  readonly wildcardEnds: Uint8Array;
}

const FILTER_MASK = 0x7fff;

let table: SuffixTable | undefined;

/** What the name, in either case and without a final dot, is to the list. Unlisted single labels are `No`. */
export function publicSuffixKind(bytes: Uint8Array, start: number, end: number): Suffix {
  table ??= buildTable();
  let state = HASH_SEED;
  let parentHash = 0;
  let parentStart = -1;
  for (let at = end - 1; at >= start; at--) {
    const byte = lowerByte(bytes[at]!);
    if (byte === DOT) {
      parentHash = hashEnd(state);
      parentStart = at + 1;
    }
    state = hashByte(state, byte);
  }
  const own = find(table, hashEnd(state), bytes, start, end);
  const parent = parentStart === -1 ? 0 : find(table, parentHash, bytes, parentStart, end);
  if (isSuffix(own, parent)) return Suffix.Icann;
  return isSuffix(own >> PRIVATE_SHIFT, parent >> PRIVATE_SHIFT) ? Suffix.Private : Suffix.No;
}

/** Whether a name of this hash can be a suffix at all: tells nearly all names apart without reading them again. */
export function mayBeSuffix(hash: number, bytes: Uint8Array, end: number): boolean {
  table ??= buildTable();
  const { filter, wildcardEnds } = table;
  if ((filter[(hash >>> 3) & FILTER_MASK]! & (1 << (hash & 7))) !== 0) return true;
  return wildcardEnds[lowerByte(bytes[end - 2]!) * 256 + lowerByte(bytes[end - 1]!)] === 1;
}

function isSuffix(own: number, parent: number): boolean {
  if ((own & EXCEPTION) !== 0) return false;
  return (own & RULE) !== 0 || (parent & WILDCARD) !== 0;
}

function find(
  { slots, start, end, entry, text }: SuffixTable,
  hash: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): number {
  const mask = slots.length - 1;
  for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const index = slots[slot]! - 1;
    const ruleStart = start[index]!;
    if (end[index]! - ruleStart !== to - from) continue;
    let at = from;
    while (at < to && lowerByte(bytes[at]!) === text[ruleStart + at - from]) at++;
    if (at === to) return entry[index]!;
  }
  return 0;
}

function buildTable(): SuffixTable {
  const names = new Map<string, number>();
  for (const [rules, shift] of [
    [ICANN_RULES, 0],
    [PRIVATE_RULES, PRIVATE_SHIFT],
  ] as const) {
    for (const rule of rules.split(" ")) {
      const bit = rule.startsWith("*.") ? WILDCARD : rule.startsWith("!") ? EXCEPTION : RULE;
      const name = rule.replace(/^(?:\*\.|!)/, "");
      names.set(name, (names.get(name) ?? 0) | (bit << shift));
    }
  }
  const text = encodeUtf8([...names.keys()].join(""));
  const built: SuffixTable = {
    slots: new Uint16Array(32_768),
    start: new Uint32Array(names.size),
    end: new Uint32Array(names.size),
    entry: new Uint8Array(names.size),
    text,
    filter: new Uint8Array(FILTER_MASK + 1),
    wildcardEnds: new Uint8Array(65_536),
  };
  let index = 0;
  let at = 0;
  for (const [name, entry] of names) {
    built.start[index] = at;
    built.end[index] = at += name.length;
    built.entry[index] = entry;
    let state = HASH_SEED;
    for (let i = name.length - 1; i >= 0; i--) state = hashByte(state, name.charCodeAt(i));
    const hash = hashEnd(state);
    built.filter[(hash >>> 3) & FILTER_MASK]! |= 1 << (hash & 7);
    if ((entry & WILDCARD) !== 0)
      built.wildcardEnds[
        name.charCodeAt(name.length - 2) * 256 + name.charCodeAt(name.length - 1)
      ] = 1;
    let slot = hash & (built.slots.length - 1);
    while (built.slots[slot] !== 0) slot = (slot + 1) & (built.slots.length - 1);
    built.slots[slot] = ++index;
  }
  return built;
}
