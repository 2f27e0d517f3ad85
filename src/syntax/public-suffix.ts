import { hashName } from "../bytes/hash.ts";
import { BANG, DOT, SPACE, STAR, encodeUtf8, lowerByte } from "../bytes/text.ts";
import { icannRules, privateRules } from "./public-suffix-list.ts";

/**
 * Whether a name is a public suffix. Validation checks every rule, so this works on bytes: filters by the hash of the name rule out
 * nearly all names, and a binary search in the text of the list decides about the rest. `tldts` provides the rules when the text is generated, and
 * the tests compare the results with it.
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

/** Bloom filters that never miss: two bits per name, 50 bits of size per name. */
export interface SuffixFilters {
  /** Names of rules. */
  readonly filter: Uint8Array;
  /** Names directly above a wildcard rule. */
  readonly wildcards: Uint8Array;
}

/** Enters the rules into empty filters. A blank follows each rule. */
type FillFilters = (rules: Uint8Array, filters: SuffixFilters) => void;

/** Rules of one kind, sorted. */
interface SuffixPart {
  readonly start: number;
  readonly end: number;
  /** The length of `!` or `*.` before the names. */
  readonly sign: number;
  readonly bit: number;
}

interface SuffixList {
  readonly text: Uint8Array;
  readonly parts: readonly SuffixPart[];
}

const FILTER_MASK = 0xffff;
const WILDCARD_MASK = 0x1fff;

let filters: SuffixFilters | undefined;
let list: SuffixList | undefined;

/** The kind of suffix of a name, in either case and without a final dot. Unlisted single labels are `No`. */
export function publicSuffixKind(bytes: Uint8Array, start: number, end: number): Suffix {
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
  // Not `indexOf`, which would search all bytes after the name.
  let dot = from;
  while (dot < to && name[dot] !== DOT) dot++;
  const parentStart = Math.min(dot + 1, to);
  const { filter, wildcards } = suffixFilters();
  // Parents such as `com` are in the first filter, so nearly all searches would be for them.
  const mayBeBelow =
    parentStart < to && isInFilter(wildcards, WILDCARD_MASK, hashName(name, parentStart, to));
  if (!mayBeBelow && !isInFilter(filter, FILTER_MASK, hashName(name, from, to))) return Suffix.No;
  const own = rulesFor(name, from, to);
  const parent = mayBeBelow ? rulesFor(name, parentStart, to) : 0;
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
  const end = bytes.length;
  const entryAt = (from: number): number => (from < end ? rulesFor(bytes, from, end) : 0);
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

/** Whether the list contains a name in lower case. Names that only match a wildcard rule such as `*.ck` do not count. */
export function isListedSuffix(name: string): boolean {
  const bytes = encodeUtf8(name);
  return (rulesFor(bytes, 0, bytes.length) & (RULE | WILDCARD)) !== 0;
}

/** Whether a name with these hashes of itself and its parent may be a suffix. Rules out nearly all names. */
export function mayBeSuffix(hash: number, parentHash: number): boolean {
  const { filter, wildcards } = suffixFilters();
  return isInFilter(filter, FILTER_MASK, hash) || isInFilter(wildcards, WILDCARD_MASK, parentHash);
}

/** Whether the list may contain a name with this hash, or a wildcard directly below it. */
export function isSuffixHash(hash: number): boolean {
  return isInFilter(suffixFilters().filter, FILTER_MASK, hash);
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

/** The filters of `mayBeSuffix`, which are filled once. The kernel does it in a tenth of the time of a first call in TypeScript. */
export function suffixFilters(fill: FillFilters = fillFilters): SuffixFilters {
  if (filters === undefined) {
    const empty = {
      filter: new Uint8Array(FILTER_MASK + 1),
      wildcards: new Uint8Array(WILDCARD_MASK + 1),
    };
    fill(encodeUtf8(`${icannRules()} ${privateRules()} `), empty);
    filters = empty;
  }
  return filters;
}

/** The same in TypeScript, where no kernel runs. */
export function fillFilters(rules: Uint8Array, { filter, wildcards }: SuffixFilters): void {
  let start = 0;
  for (let end = rules.indexOf(SPACE); end !== -1; end = rules.indexOf(SPACE, start)) {
    const isWildcard = rules[start] === STAR;
    const nameStart = isWildcard ? start + 2 : rules[start] === BANG ? start + 1 : start;
    const hash = hashName(rules, nameStart, end);
    addToFilter(filter, FILTER_MASK, hash);
    if (isWildcard) addToFilter(wildcards, WILDCARD_MASK, hash);
    start = end + 1;
  }
}

function isSuffix(own: number, parent: number): boolean {
  if ((own & EXCEPTION) !== 0) return false;
  return (own & RULE) !== 0 || (parent & WILDCARD) !== 0;
}

/** The bits of all rules for a name. */
function rulesFor(bytes: Uint8Array, from: number, to: number): number {
  if (!isInFilter(suffixFilters().filter, FILTER_MASK, hashName(bytes, from, to))) return 0;
  const { text, parts } = (list ??= readList());
  let bits = 0;
  for (const part of parts) if (isInPart(text, part, bytes.subarray(from, to))) bits |= part.bit;
  return bits;
}

/** Exceptions come first, then wildcards, then names, because `!` and `*` are below all letters and digits. */
function readList(): SuffixList {
  const parts: SuffixPart[] = [];
  let text = "";
  for (const [rules, shift] of [
    [icannRules(), 0],
    [privateRules(), PRIVATE_SHIFT],
  ] as const) {
    const kinds = [
      [/(?:![^ ]+ )*/y, 1, EXCEPTION],
      [/(?:\*[^ ]+ )*/y, 2, WILDCARD],
      [/(?:[^ ]+ )*/y, 0, RULE],
    ] as const;
    const start = text.length;
    text += `${rules} `;
    let at = start;
    for (const [kind, sign, bit] of kinds) {
      kind.lastIndex = at;
      const end = at + kind.exec(text)![0].length;
      parts.push({ start: at, end, sign, bit: bit << shift });
      at = end;
    }
  }
  return { text: encodeUtf8(text), parts };
}

function isInPart(text: Uint8Array, { start, end, sign }: SuffixPart, name: Uint8Array): boolean {
  let low = start;
  let high = end;
  while (low < high) {
    // The rule that contains the byte in the middle.
    let at = (low + high) >>> 1;
    while (at > low && text[at - 1] !== SPACE) at--;
    let same = 0;
    while (same < name.length && text[at + sign + same] === name[same]) same++;
    const next = text[at + sign + same]!;
    if (same === name.length && next === SPACE) return true;
    // A blank is below all characters of names.
    if (same < name.length && next < name[same]!) low = text.indexOf(SPACE, at) + 1;
    else high = at;
  }
  return false;
}

/** `a.b.c`, `b.c`, `c`. */
export function withParents(name: string): string[] {
  const parents = [name];
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1))
    parents.push(name.slice(dot + 1));
  return parents;
}
