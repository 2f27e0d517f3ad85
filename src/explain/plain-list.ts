import {
  HASH_SEED,
  HashTable,
  type HashedName,
  grown,
  hashEnd,
  hashLabel,
  hashName,
  hashText,
  sameBytes,
} from "../bytes/hash.ts";
import {
  DOT,
  LF,
  PIPE,
  SPACE,
  bufferOf,
  countLineFeeds,
  decodeUtf8,
  encodeUtf8,
  isAlphanumeric,
  isDigit,
} from "../bytes/text.ts";
import { exactName, nameSlice, readLine, readNameSlice, soleName, subtreeName } from "../meaning/line.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { CANARY_SUFFIX, isCanaryRule } from "../syntax/host-name.ts";
import { asciiLabels } from "../syntax/written-names.ts";
import { type ListRule, ListRules, type PlainNames, type PlainRules } from "./list-rules.ts";

const NOTHING: PlainRules = {};

/**
 * A list that was read from a file: its distinct rules, and their meaning. Rules that are only a name stay in the bytes of the list; a
 * table has the hash of each name and where its line begins, which is the row of the rule. That takes about 13 bytes for a rule.
 */
export class PlainList implements PlainNames {
  readonly bytes: Uint8Array;
  /** The number of distinct rules. */
  size = 0;
  /** Whether it has a canary, which is none of its rules: it would differ between any two lists. */
  hasCanary = false;
  /** Where the lines begin whose rules are only a name, by the hashes of the names; more by one. */
  private readonly lines: HashTable;
  /** The other rules, and where they begin. */
  private readonly special = new Map<string, number>();
  /** Whether a rule that is only a name is written in an uncommon way, so that two lines with other bytes may be the same rule. */
  private hasOdd = false;
  private specialNames: Set<string> | undefined;
  private meaning: ListRules | undefined;

  private constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.lines = new HashTable(countLineFeeds(bytes, 0, bytes.length));
  }

  /** Reads a list in adblock syntax. The bytes must not change. */
  static async read(bytes: Uint8Array): Promise<PlainList> {
    const list = new PlainList(bytes);
    eachLineFrom(bytes, (start, end) => list.enter(start, end));
    const special = Array.from(list.special, ([text, row]) => ({ text, row }));
    list.meaning = await ListRules.from(special, list);
    return list;
  }

  private enter(start: number, end: number): void {
    const { bytes, lines } = this;
    if (readUsualName(bytes, start, end)) {
      const { start: from, end: to } = nameSlice;
      if (mayBeCanary(bytes, to) && isCanaryRule(decodeUtf8(bytes, start, end))) {
        this.hasCanary = true;
        return;
      }
      const hash = hashName(bytes, from, to);
      if (this.lineWith(hash, bytes, start, end) !== -1) return;
      if (this.hasOdd && this.has(decodeUtf8(bytes, start, end))) return;
      lines.add(hash, start + 1);
      this.size++;
      return;
    }
    const text = ruleIn(bytes, start, end);
    if (text === undefined) return;
    if (isCanaryRule(text)) {
      this.hasCanary = true;
      return;
    }
    const name = subtreeName(text) ?? exactName(text);
    if (name === undefined) {
      if (this.special.has(text)) return;
      this.special.set(text, start);
    } else {
      if (this.has(text)) return;
      this.hasOdd = true;
      lines.add(hashText(name), start + 1);
    }
    this.size++;
  }

  /** Where the same line of a name begins; -1 without one. */
  private lineWith(hash: number, from: Uint8Array, start: number, end: number): number {
    const { lines, bytes } = this;
    for (let slot = lines.slotOf(hash); ; slot = lines.slotOf(hash, slot + 2)) {
      const line = lines.valueAt(slot) - 1;
      if (line === -1) return -1;
      const lineStop = line + end - start;
      if (lineStop > bytes.length || (lineStop < bytes.length && bytes[lineStop] !== LF)) continue;
      if (sameBytes(bytes, line, lineStop, from, start, end)) return line;
    }
  }

  get rules(): ListRules {
    return this.meaning!;
  }

  isBlocked(name: string): boolean {
    return this.rules.isBlocked(name) ?? this.rules.answer(name).verdict === "blocked";
  }

  /** Whether it has a rule with this text. */
  has(text: string): boolean {
    if (this.special.has(text)) return true;
    const name = subtreeName(text) ?? exactName(text);
    if (name === undefined) return false;
    for (const line of this.linesOf(name)) if (this.textAt(line) === text) return true;
    return false;
  }

  /** The text of the rule that begins at a place. */
  textAt(start: number): string {
    return decodeUtf8(this.bytes, start, stopOf(this.bytes, start)).trim();
  }

  /** The texts of the rules that begin at these places. */
  textsAt(starts: Uint32Array): string[] {
    const buffer = bufferOf(this.bytes);
    return Array.from(starts, (start) =>
      buffer.toString("utf8", start, stopOf(buffer, start)).trim(),
    );
  }

  /** Where the lines begin that are only this name, in no order. */
  private linesOf(name: string): number[] {
    const { lines } = this;
    const found: number[] = [];
    const written = encodeUtf8(name);
    const hash = hashName(written, 0, written.length);
    for (let slot = lines.slotOf(hash); ; slot = lines.slotOf(hash, slot + 2)) {
      const line = lines.valueAt(slot) - 1;
      if (line === -1) return found;
      if (this.isLineOf(line, written, 0, written.length)) found.push(line);
    }
  }

  /** Whether a line that is only a name is this one. */
  private isLineOf(line: number, name: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this;
    const stop = stopOf(bytes, line);
    if (readUsualName(bytes, line, stop)) {
      const { start: from, end: to } = nameSlice;
      return sameBytes(bytes, from, to, name, start, end);
    }
    const text = this.textAt(line);
    return (subtreeName(text) ?? exactName(text)) === decodeUtf8(name, start, end);
  }

  find(name: string): PlainRules {
    let subtree: ListRule | undefined;
    let exact: ListRule | undefined;
    for (const row of this.linesOf(name)) {
      const text = this.textAt(row);
      if (subtreeName(text) !== undefined) subtree ??= { text, row };
      else if (exact === undefined || row < exact.row) exact = { text, row };
    }
    return subtree === undefined && exact === undefined ? NOTHING : { subtree, exact };
  }

  mayFind({ bytes: name, starts, length, ends, hashes }: HashedName): boolean {
    const { lines } = this;
    for (let end = 0; end < ends; end++) {
      const hash = hashes[end]!;
      for (let slot = lines.slotOf(hash); ; slot = lines.slotOf(hash, slot + 2)) {
        const line = lines.valueAt(slot) - 1;
        if (line === -1) break;
        if (!this.isLineOf(line, name, starts[end]!, length)) continue;
        if (end === ends - 1 || this.isSubtree(line)) return true;
      }
    }
    return false;
  }

  private isSubtree(line: number): boolean {
    const first = this.bytes[line]!;
    if (first > SPACE && first < 0x80) return first === PIPE;
    return subtreeName(this.textAt(line)) !== undefined;
  }

  /** Whether a rule matches or excludes this name itself. */
  isNamed(name: string): boolean {
    this.specialNames ??= new Set(
      [...this.special.keys()].flatMap((text) => hostsOf(text).names),
    );
    return this.specialNames.has(name) || this.linesOf(name).length > 0;
  }

  /** Every name that a rule matches or excludes. */
  *names(): Generator<string> {
    const { bytes } = this;
    for (let start = 0; start < bytes.length; ) {
      const end = stopOf(bytes, start);
      if (readUsualName(bytes, start, end)) yield decodeUtf8(bytes, nameSlice.start, nameSlice.end);
      else yield* namesOfRule(bytes, start, end);
      start = end + 1;
    }
  }

  /**
   * Where the rules begin that another list does not have, in order. Two versions of a list have long parts in common: mostly, the line
   * behind the last common one is the next, and nothing is searched.
   */
  without(other: PlainList): Uint32Array {
    const { bytes } = this;
    const found = new Starts();
    let next = 0;
    eachLineFrom(bytes, (start, end) => {
      const length = end - start;
      const to = next + length;
      if (other.isLineAt(next, to, bytes, start)) {
        next = to + 1;
        return;
      }
      const place = this.placeIn(other, start, end);
      if (place === -1) found.push(start);
      else if (place >= 0) next = stopOf(other.bytes, place) + 1;
    });
    return found.all();
  }

  /** Those of some rules that are more than a name. */
  specialAmong(starts: Uint32Array): Uint32Array {
    const { bytes } = this;
    return starts.filter((start) => {
      if (readUsualName(bytes, start, stopOf(bytes, start))) return false;
      return soleName(this.textAt(start)) === undefined;
    });
  }

  /** Where the rules begin that are only a name, with the names below it or without. */
  rulesOf(kind: "subtree" | "exact"): Uint32Array {
    const { bytes } = this;
    const found = new Starts();
    eachLineFrom(bytes, (start, end) => {
      let isSubtree: boolean | undefined;
      if (readUsualName(bytes, start, end)) isSubtree = nameSlice.isSubtree;
      else {
        const text = ruleIn(bytes, start, end) ?? "";
        if (subtreeName(text) !== undefined) isSubtree = true;
        else if (exactName(text) !== undefined) isSubtree = false;
      }
      if (isSubtree === (kind === "subtree")) found.push(start);
    });
    return found.all();
  }

  private isLineAt(start: number, end: number, from: Uint8Array, at: number): boolean {
    const { bytes } = this;
    if (end > bytes.length || (end < bytes.length && bytes[end] !== LF)) return false;
    for (let one = start, two = at; one < end; one++, two++)
      if (bytes[one] !== from[two]) return false;
    return true;
  }

  /** Where another list has the rule of a line; -1 if it has none, -2 if the line is no rule, or not the first with its text. */
  private placeIn(other: PlainList, start: number, end: number): number {
    const { bytes } = this;
    if (readUsualName(bytes, start, end)) {
      const { start: from, end: to } = nameSlice;
      const hash = hashName(bytes, from, to);
      const place = other.lineWith(hash, bytes, start, end);
      if (place !== -1) return place;
      const first = this.lineWith(hash, bytes, start, end);
      if (first !== start) return -2;
      return mayBeCanary(bytes, to) || other.hasOdd ? this.oddPlaceIn(other, start) : -1;
    }
    return this.oddPlaceIn(other, start);
  }

  private oddPlaceIn(other: PlainList, start: number): number {
    const text = ruleIn(this.bytes, start, stopOf(this.bytes, start));
    if (text === undefined || isCanaryRule(text)) return -2;
    const place = other.special.get(text);
    if (place !== undefined) return place;
    const first = this.special.get(text) ?? Math.min(...this.sameLines(text));
    return first !== start || other.has(text) ? -2 : -1;
  }

  private sameLines(text: string): number[] {
    const name = subtreeName(text) ?? exactName(text) ?? "";
    return this.linesOf(name).filter((line) => this.textAt(line) === text);
  }
}

/** Calls `visit` with the names of a list, or of some of its lines, that may be concerned. The others cost no string. */
export function eachConcerned(
  bytes: Uint8Array,
  concern: Concern,
  visit: (name: string) => void,
  starts?: Uint32Array,
): void {
  const look = (start: number, end: number): void => {
    if (!readUsualName(bytes, start, end)) {
      for (const name of namesOfRule(bytes, start, end)) visit(name);
      return;
    }
    const { start: from, end: to } = nameSlice;
    if (concern.mayHold(bytes, from, to)) visit(decodeUtf8(bytes, from, to));
  };
  if (starts === undefined) eachLineFrom(bytes, look);
  else for (const start of starts) look(start, stopOf(bytes, start));
}

/** Tells, from the bytes of a name, whether something may concern it. */
export interface Concern {
  mayHold(bytes: Uint8Array, start: number, end: number): boolean;
}

/** Names that concern themselves and all names below them. */
export class NameEnds implements Concern {
  private readonly names = new Set<string>();
  private readonly hashes = new HashTable();

  add(name: string): void {
    const { size } = this.names;
    if (this.names.add(name).size > size) this.hashes.set(hashText(name), 1);
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  mayHold(bytes: Uint8Array, start: number, end: number): boolean {
    const { hashes } = this;
    if (hashes.size === 0) return false;
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      if (hashes.get(hashEnd(state)) !== 0) return true;
      labelEnd = at;
    }
    return hashes.get(hashEnd(hashLabel(state, bytes, start, labelEnd))) !== 0;
  }
}

/** The names that a rule matches or excludes, and whether it can match other names too. */
export function hostsOf(text: string): { names: readonly string[]; isPattern: boolean } {
  const subtree = subtreeName(text);
  if (subtree !== undefined) return { names: [subtree], isPattern: false };
  const line = readLine(text);
  if (line.kind === "names") return { names: line.names, isPattern: false };
  const rule = line.kind === "rule" ? parseAdblockRule(text) : undefined;
  if (rule === undefined) return { names: [], isPattern: false };
  const scope = nameScope(asciiLabels(rule.pattern));
  const denied = rule.modifiers.find(({ name }) => name === "denyallow")?.value?.split("|") ?? [];
  const names = [...(scope === undefined ? [] : [scope.name]), ...denied];
  return {
    names: names.map((name) => asciiLabels(name).toLowerCase()),
    isPattern: scope === undefined,
  };
}

/** The rule in a line, which is not a canary; undefined if the line has none. */
function ruleIn(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decodeUtf8(bytes, start, end).trim();
  return text === "" || text.startsWith("!") || text.startsWith("#") ? undefined : text;
}

function namesOfRule(bytes: Uint8Array, start: number, end: number): readonly string[] {
  const text = ruleIn(bytes, start, end);
  return text === undefined || isCanaryRule(text) ? [] : hostsOf(text).names;
}

/** Reads the commonest lines of which `subtreeName` or `exactName` is the name into `nameSlice`. */
function readUsualName(bytes: Uint8Array, start: number, end: number): boolean {
  if (!readNameSlice(bytes, start, end)) return false;
  return nameSlice.start !== start || isUsualDomain(bytes, start, end);
}

const LONGEST_DOMAIN = 253;
const LONGEST_LABEL = 63;

/** Whether a word is a domain name that ends in letters, for which `exactName` returns it. */
function isUsualDomain(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > LONGEST_DOMAIN) return false;
  let label = start;
  let hasOthers = false;
  for (let at = start; at <= end; at++) {
    const byte = at === end ? DOT : bytes[at]!;
    if (byte !== DOT) {
      hasOthers ||= !isAlphanumeric(byte) || isDigit(byte);
      continue;
    }
    if (at === label || at - label > LONGEST_LABEL) return false;
    if (!isAlphanumeric(bytes[label]!) || !isAlphanumeric(bytes[at - 1]!)) return false;
    if (at === end) return !hasOthers && at - label > 1;
    label = at + 1;
    hasOthers = false;
  }
  return false;
}

const CANARY_END = encodeUtf8(CANARY_SUFFIX);

/** Whether a name ends as canaries do. */
function mayBeCanary(bytes: Uint8Array, end: number): boolean {
  const start = end - CANARY_END.length;
  return start >= 0 && sameBytes(bytes, start, end, CANARY_END, 0, CANARY_END.length);
}

/** Where a line ends. Lines are short: a loop is faster than a call of the platform's search. */
function stopOf(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let end = start;
  while (end < length && bytes[end] !== LF) end++;
  return end;
}

function eachLineFrom(bytes: Uint8Array, visit: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length; ) {
    const end = stopOf(bytes, start);
    visit(start, end);
    start = end + 1;
  }
}

/** Places in a list, in four bytes each. */
class Starts {
  private column = new Uint32Array(1024);
  private count = 0;

  push(start: number): void {
    if (this.count === this.column.length) this.column = grown(this.column);
    this.column[this.count++] = start;
  }

  all(): Uint32Array {
    return this.column.subarray(0, this.count);
  }
}
