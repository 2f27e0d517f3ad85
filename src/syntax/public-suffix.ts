import { SliceTable, hashName } from "../bytes/hash.ts";
import { BANG, DOT, SPACE, STAR, encodeUtf8, lowerByte } from "../bytes/text.ts";
import { ICANN_RULES, PRIVATE_RULES } from "./public-suffix-list.ts";

/**
 * Whether a name is a public suffix. Validation checks every rule, so this works on bytes: one hash of the name, one
 * lookup in a table of the list's rules. `tldts` provides the rules when the table is generated, and the tests compare the results with it.
 */
export const Suffix = { No: 0, Icann: 1, Private: 2 } as const;
export type Suffix = (typeof Suffix)[keyof typeof Suffix];

/** Bits of a table entry. For the private part of the list, they are shifted left by `PRIVATE_SHIFT`. */
const RULE = 1;
const WILDCARD = 2;
const EXCEPTION = 4;
const PRIVATE_SHIFT = 3;
const ICANN_PART = [[Suffix.Icann, 0]] as const;
const BOTH_PARTS = [...ICANN_PART, [Suffix.Private, PRIVATE_SHIFT]] as const;

interface SuffixTable {
  readonly names: SliceTable;
  /** The bits of each name. */
  readonly entry: Uint8Array;
  /** A Bloom filter: two bits per rule, 50 bits of size per rule. It never misses a rule. */
  readonly filter: Uint8Array;
  /** The same for the names directly above a wildcard rule. */
  readonly wildcards: Uint8Array;
}

const MOST_SUFFIXES = 16_384;
const FILTER_MASK = 0xffff;
const WILDCARD_MASK = 0x1fff;

let table: SuffixTable | undefined;

/** The kind of suffix of a name, in either case and without a final dot. Unlisted single labels are `No`. */
export function publicSuffixKind(bytes: Uint8Array, start: number, end: number): Suffix {
  table ??= buildTable();
  let name = bytes;
  let from = start;
  let to = end;
  for (let at = start; at < end; at++) {
    if (lowerByte(bytes[at]!) === bytes[at]) continue;
    name = bytes.slice(start, end).map(lowerByte);
    from = 0;
    to = end - start;
    break;
  }
  const own = find(table, name, from, to);
  // Not `indexOf`, which would search all bytes after the name.
  let dot = from;
  while (dot < to && name[dot] !== DOT) dot++;
  const hasParent = dot + 1 < to;
  const parent = hasParent ? find(table, name, dot + 1, to) : 0;
  if (isSuffix(own, parent)) return Suffix.Icann;
  return isSuffix(own >> PRIVATE_SHIFT, parent >> PRIVATE_SHIFT) ? Suffix.Private : Suffix.No;
}

/**
 * Where the public suffix of a name in lower-case ASCII begins, and its kind: the longest one that the list has, or the last label.
 * With `withPrivate`, also a suffix that a company shares with its users.
 */
export function suffixIn(
  bytes: Uint8Array,
  withPrivate: boolean,
): { readonly start: number; readonly kind: Suffix } {
  table ??= buildTable();
  const end = bytes.length;
  const entryAt = (from: number): number => (from < end ? find(table!, bytes, from, end) : 0);
  let own = entryAt(0);
  for (let start = 0; ;) {
    const dot = bytes.indexOf(DOT, start);
    const next = dot === -1 ? end : dot + 1;
    const parent = entryAt(next);
    for (const [kind, shift] of withPrivate ? BOTH_PARTS : ICANN_PART) {
      if (((own >> shift) & EXCEPTION) !== 0) return { start: next, kind };
      if (isSuffix(own >> shift, parent >> shift)) return { start, kind };
    }
    if (dot === -1) return { start, kind: Suffix.No };
    start = next;
    own = parent;
  }
}

let listed: ReadonlySet<string> | undefined;

/** Whether the list contains a name in lower case. Names that only match a wildcard rule such as `*.ck` do not count. */
export function isListedSuffix(name: string): boolean {
  listed ??= new Set(
    ICANN_RULES.split(" ")
      .filter((rule) => !rule.startsWith("!"))
      .map((rule) => (rule.startsWith("*.") ? rule.slice(2) : rule)),
  );
  return listed.has(name);
}

/** Whether a name with these hashes of itself and its parent may be a suffix. Rules out nearly all names. */
export function mayBeSuffix(hash: number, parentHash: number): boolean {
  table ??= buildTable();
  return (
    isInFilter(table.filter, FILTER_MASK, hash) ||
    isInFilter(table.wildcards, WILDCARD_MASK, parentHash)
  );
}

/** Whether the list may contain a name with this hash, or a wildcard directly below it. */
export function isSuffixHash(hash: number): boolean {
  table ??= buildTable();
  return isInFilter(table.filter, FILTER_MASK, hash);
}

function isInFilter(filter: Uint8Array, mask: number, hash: number): boolean {
  const other = hash >>> 15;
  return (
    (filter[(hash >>> 3) & mask]! & (1 << (hash & 7))) !== 0 &&
    (filter[(other >>> 3) & mask]! & (1 << (other & 7))) !== 0
  );
}

function addToFilter(filter: Uint8Array, mask: number, hash: number): void {
  const other = hash >>> 15;
  filter[(hash >>> 3) & mask]! |= 1 << (hash & 7);
  filter[(other >>> 3) & mask]! |= 1 << (other & 7);
}

/** The two filters of `mayBeSuffix`, for the kernel. */
export function suffixTables(): { filter: Uint8Array; wildcards: Uint8Array } {
  table ??= buildTable();
  return table;
}

function isSuffix(own: number, parent: number): boolean {
  if ((own & EXCEPTION) !== 0) return false;
  return (own & RULE) !== 0 || (parent & WILDCARD) !== 0;
}

function find({ names, entry }: SuffixTable, bytes: Uint8Array, from: number, to: number): number {
  const number = names.find(bytes, from, to, hashName(bytes, from, to));
  return number === -1 ? 0 : entry[number]!;
}

/** Reads the text of the rules byte by byte: 10,000 strings and a map would cost each run 15 ms. */
function buildTable(): SuffixTable {
  const text = encodeUtf8(`${ICANN_RULES} ${PRIVATE_RULES} `);
  const built: SuffixTable = {
    names: new SliceTable(text, MOST_SUFFIXES),
    entry: new Uint8Array(MOST_SUFFIXES),
    filter: new Uint8Array(FILTER_MASK + 1),
    wildcards: new Uint8Array(WILDCARD_MASK + 1),
  };
  let ruleStart = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== SPACE) continue;
    const shift = ruleStart > ICANN_RULES.length ? PRIVATE_SHIFT : 0;
    const bit = text[ruleStart] === STAR ? WILDCARD : text[ruleStart] === BANG ? EXCEPTION : RULE;
    const nameStart = bit === RULE ? ruleStart : bit === WILDCARD ? ruleStart + 2 : ruleStart + 1;
    addRule(built, nameStart, at, bit << shift);
    ruleStart = at + 1;
  }
  return built;
}

/** Adds a rule, to what the table has about the name from another rule. */
function addRule(built: SuffixTable, start: number, end: number, entry: number): void {
  const { names } = built;
  const hash = hashName(names.bytes, start, end);
  addToFilter(built.filter, FILTER_MASK, hash);
  if ((entry & (WILDCARD | (WILDCARD << PRIVATE_SHIFT))) !== 0)
    addToFilter(built.wildcards, WILDCARD_MASK, hash);
  built.entry[names.numberOf(start, end, hash)]! |= entry;
}

/** `a.b.c`, `b.c`, `c`. */
export function withParents(name: string): string[] {
  const parents = [name];
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1))
    parents.push(name.slice(dot + 1));
  return parents;
}
