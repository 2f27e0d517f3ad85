import {
  HASH_SEED,
  HashTable,
  type HashedName,
  SliceTable,
  grown,
  hashEnd,
  hashLabel,
  hashName,
  hashSlice,
  hashText,
  sameBytes,
} from "../bytes/hash.ts";
import {
  DOT,
  LF,
  PIPE,
  SPACE,
  bufferOf,
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  isAlphanumeric,
  isDigit,
} from "../bytes/text.ts";
import { addEnd, addWhole, nameFilter, sharedReader } from "../kernel/names.ts";
import { exactName, nameSlice, readLine, readNameSlice, subtreeName } from "../meaning/line.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { CANARY_SUFFIX, isCanaryRule } from "../syntax/host-name.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { asciiLabels } from "../syntax/written-names.ts";
import { type ListRule, ListRules, type PlainNames, type PlainRules } from "./list-rules.ts";

const NOTHING: PlainRules = {};
/** For each of so many rules, one name may be looked up by itself. For more names, all rules are entered. */
const RULES_PER_NAME = 64;
const LEAST_NAMES = 1024;

/**
 * A list that was read from a file: its rules, and their meaning. Rules that are only a name stay in the bytes of the list, and a table
 * has where their lines begin: of all names, or of those that were announced to `expect`. So two lists of millions of names are compared
 * in little more memory than their texts.
 */
export class PlainList implements PlainNames {
  readonly bytes: Uint8Array;
  /** The number of rules. */
  size = 0;
  /** Whether it has a canary, which is none of its rules: it would differ between any two lists. */
  hasCanary = false;
  /** The number of rules for a name with its subdomains, with the canary. */
  private subtrees = 0;
  /** The rules that are more than a name, or a name that is written in an uncommon way, and where their lines begin. */
  private readonly odd = new Map<string, number>();
  private readonly special: ListRule[] = [];
  /** Where some lines begin, spread over the list. */
  private readonly anchors = new Starts();
  private anchorTable: HashTable | undefined;
  /** Where the lines begin that are only a name, by the hashes of the names; more by one. */
  private lines = new HashTable();
  /** Hashes of the names whose lines are entered; undefined for all names. */
  private expected: HashTable | undefined = new HashTable();
  private specialNames: Set<string> | undefined;
  private meaning: ListRules | undefined;

  private constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads a list in adblock syntax. The bytes must not change. */
  static async read(bytes: Uint8Array): Promise<PlainList> {
    const list = new PlainList(bytes);
    eachLineFrom(bytes, (start, end) => list.enter(start, end));
    list.meaning = await ListRules.from(list.special, list);
    return list;
  }

  private enter(start: number, end: number): void {
    const { bytes, odd } = this;
    if (isAnchor(bytes, start, end)) this.anchors.push(start);
    const isUsual = readUsualName(bytes, start, end);
    if (isUsual && nameSlice.isSubtree) this.subtrees++;
    if (isUsual && !mayBeCanary(bytes, nameSlice.end)) {
      this.size++;
      return;
    }
    const text = ruleIn(bytes, start, end);
    if (text === undefined) return;
    if (isCanaryRule(text)) this.hasCanary = true;
    else if (isUsual || !odd.has(text)) {
      this.size++;
      if (isUsual) return;
      odd.set(text, start);
      if (subtreeName(text) !== undefined) this.subtrees++;
      else if (exactName(text) === undefined) this.special.push({ text, row: start });
    }
  }

  /** Announces names that will be looked up, each with the names above it, so that others need not be entered. */
  expect(names: Iterable<string>): void {
    const { expected } = this;
    if (expected === undefined) return;
    const most = Math.max(LEAST_NAMES, this.size / RULES_PER_NAME);
    const own = new HashTable();
    const filter = new LineFinder();
    for (const name of names)
      for (const one of withParents(name)) {
        const hash = hashText(one);
        if (expected.get(hash) !== 0) continue;
        expected.set(hash, 1);
        own.set(hash, 1);
        filter.addName(one);
        if (expected.size > most) {
          this.enterAll();
          return;
        }
      }
    filter.each(this.bytes, (start) => this.enterLine(start, own));
    for (const [text, start] of this.odd) this.enterOdd(text, start, own);
  }

  private enterAll(): void {
    this.expected = undefined;
    this.lines = new HashTable(this.size);
    eachLineFrom(this.bytes, (start) => this.enterLine(start));
    for (const [text, start] of this.odd) this.enterOdd(text, start);
  }

  private enterLine(start: number, wanted?: HashTable): void {
    const { bytes, lines } = this;
    if (!readUsualName(bytes, start, stopOf(bytes, start))) return;
    if (mayBeCanary(bytes, nameSlice.end) && isCanaryRule(this.textAt(start))) return;
    const hash = hashName(bytes, nameSlice.start, nameSlice.end);
    if (wanted === undefined || wanted.get(hash) !== 0) lines.add(hash, start + 1);
  }

  private enterOdd(text: string, start: number, wanted?: HashTable): void {
    const name = soleNameOf(text);
    if (name === undefined) return;
    const hash = hashText(name);
    if (wanted === undefined || wanted.get(hash) !== 0) this.lines.add(hash, start + 1);
  }

  get rules(): ListRules {
    return this.meaning!;
  }

  isBlocked(name: string): boolean {
    return this.rules.isBlocked(name) ?? this.rules.answer(name).verdict === "blocked";
  }

  /** Whether it has a rule with this text, which is more than a name. */
  hasSpecial(text: string): boolean {
    return this.odd.has(text);
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
    const found: number[] = [];
    const written = encodeUtf8(name);
    const hash = hashName(written, 0, written.length);
    if (this.expected?.get(hash) === 0) this.enterAll();
    const { lines } = this;
    for (let slot = lines.slotOf(hash); ; slot = lines.slotOf(hash, slot + 2)) {
      const line = lines.valueAt(slot) - 1;
      if (line === -1) return found;
      if (this.isLineOf(line, written, 0, written.length)) found.push(line);
    }
  }

  /** Whether a line that is only a name is this one. */
  private isLineOf(line: number, name: Uint8Array, start: number, end: number): boolean {
    const { bytes } = this;
    if (readUsualName(bytes, line, stopOf(bytes, line))) {
      const { start: from, end: to } = nameSlice;
      return sameBytes(bytes, from, to, name, start, end);
    }
    return soleNameOf(this.textAt(line)) === decodeUtf8(name, start, end);
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
    for (let end = 0; end < ends; end++) {
      const hash = hashes[end]!;
      if (this.expected?.get(hash) === 0) this.enterAll();
      const { lines } = this;
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
    this.specialNames ??= new Set(this.special.flatMap(({ text }) => hostsOf(text).names));
    return this.specialNames.has(name) || this.linesOf(name).length > 0;
  }

  /** Every name that a rule matches or excludes. */
  *names(): Generator<string> {
    const { bytes } = this;
    for (let start = 0; start < bytes.length;) {
      const end = stopOf(bytes, start);
      if (readUsualName(bytes, start, end)) yield decodeUtf8(bytes, nameSlice.start, nameSlice.end);
      start = end + 1;
    }
    for (const text of this.odd.keys()) yield* hostsOf(text).names;
  }

  /**
   * Calls `visit` with the names that may be concerned; the others cost no string. They and the names above them can be looked up
   * then.
   */
  eachConcerned(concern: Concern, visit: (name: string) => void): void {
    const { bytes } = this;
    const { filter } = concern;
    const isEntered = this.expected !== undefined && filter !== undefined;
    const look = (start: number, end: number): void => {
      if (!readUsualName(bytes, start, end)) return;
      const { start: from, end: to } = nameSlice;
      const isHeld = concern.mayHold(bytes, from, to);
      if (isHeld) visit(decodeUtf8(bytes, from, to));
      if (!isEntered) return;
      const hash = hashName(bytes, from, to);
      if (isHeld || concern.isAbove(hash)) this.enterOnce(hash, start);
    };
    if (filter === undefined) eachLineFrom(bytes, look);
    else filter.each(bytes, look);
    for (const [text, start] of this.odd) {
      for (const name of hostsOf(text).names) visit(name);
      const sole = isEntered ? soleNameOf(text) : undefined;
      if (sole !== undefined) this.enterOnce(hashText(sole), start);
    }
  }

  /** Notes that `eachConcerned` has entered the lines of these names, and of the names above them. */
  noteEntered(names: Iterable<string>): void {
    for (const name of names)
      for (const one of withParents(name)) this.expected?.set(hashText(one), 1);
  }

  private enterOnce(hash: number, start: number): void {
    const { lines } = this;
    for (let slot = lines.slotOf(hash); ; slot = lines.slotOf(hash, slot + 2)) {
      const line = lines.valueAt(slot) - 1;
      if (line === start) return;
      if (line === -1) break;
    }
    lines.add(hash, start + 1);
  }

  /**
   * Where the rules begin that block a name with its subdomains, of all or of some; without any, those for single names. More formats can
   * express the former.
   */
  nameRules(starts?: Uint32Array): Uint32Array {
    const { bytes } = this;
    const found = new Starts();
    const look = (start: number, end: number): void => {
      let isSubtree: boolean | undefined;
      if (readUsualName(bytes, start, end)) ({ isSubtree } = nameSlice);
      else {
        const text = ruleIn(bytes, start, end) ?? "";
        if (soleNameOf(text) === undefined) return;
        isSubtree = subtreeName(text) !== undefined;
      }
      if (isSubtree === this.subtrees > 1) found.push(start);
    };
    if (starts === undefined) eachLineFrom(bytes, look);
    else for (const start of starts) look(start, stopOf(bytes, start));
    return found.all();
  }

  /** The rules that are more than a name, and that another list does not have. */
  specialWithout(other: PlainList): string[] {
    return this.special.flatMap(({ text }) => (other.odd.has(text) ? [] : [text]));
  }

  /** Where the rules begin that another list does not have, in order. */
  without(other: PlainList): Uint32Array {
    return this.confirmed(this.unmatched(other), other);
  }

  /**
   * Where the lines begin that are not found in another list, one behind the other. Two versions of a list have long parts in common,
   * and are compared in blocks there; behind a difference, the next anchor that both have tells where to go on.
   */
  private unmatched(other: PlainList): Starts {
    const { bytes } = this;
    const found = new Starts();
    let next = 0;
    for (let start = 0; start < bytes.length;) {
      const common = commonLines(bytes, start, other.bytes, next);
      start += common;
      next += common;
      if (start >= bytes.length) break;
      const end = stopOf(bytes, start);
      const place = other.lineNear(next, bytes, start, end) ?? other.anchorAt(bytes, start, end);
      if (place === undefined) {
        found.push(start);
        start = end + 1;
        continue;
      }
      next = place;
      // Lines before an anchor are mostly the same, too.
      for (let line = start, to = place; found.last !== undefined;) {
        const before = found.last;
        to -= line - before;
        const isBefore = stopOf(bytes, before) + 1 === line && other.isLine(to, bytes, before);
        if (!isBefore) break;
        found.pop();
        line = before;
      }
    }
    return found;
  }

  /** One of the next lines, if it is the same. */
  private lineNear(next: number, from: Uint8Array, start: number, end: number): number | undefined {
    const { bytes } = this;
    for (let at = next, count = 0; at < bytes.length && count < NEAR; count++) {
      if (isSameLine(bytes, at, from, start, end)) return at;
      at = stopOf(bytes, at) + 1;
    }
    return undefined;
  }

  private anchorAt(from: Uint8Array, start: number, end: number): number | undefined {
    if (!isAnchor(from, start, end)) return undefined;
    const { bytes } = this;
    if (this.anchorTable === undefined) {
      const anchors = this.anchors.all();
      this.anchorTable = new HashTable(anchors.length);
      for (const line of anchors)
        this.anchorTable.add(hashSlice(bytes, line, stopOf(bytes, line)), line + 1);
    }
    const line = this.anchorTable.get(hashSlice(from, start, end)) - 1;
    return line !== -1 && isSameLine(bytes, line, from, start, end) ? line : undefined;
  }

  /** Whether a line begins here that is the same as a line elsewhere. */
  private isLine(at: number, from: Uint8Array, start: number): boolean {
    const { bytes } = this;
    if (at < 0 || (at > 0 && bytes[at - 1] !== LF)) return false;
    return isSameLine(bytes, at, from, start, stopOf(from, start));
  }

  /** Those of some lines that are rules, and that another list has nowhere; of equal rules, the first. */
  private confirmed(starts: Starts, other: PlainList): Uint32Array {
    const { bytes } = this;
    const texts = new SliceTable(bytes);
    const found = new Starts();
    const filter = new LineFinder();
    for (const start of starts.all()) {
      const end = stopOf(bytes, start);
      const isUsual = readUsualName(bytes, start, end);
      const text = isUsual ? decodeUtf8(bytes, start, end) : ruleIn(bytes, start, end);
      if (text === undefined || other.odd.has(text) || isCanaryRule(text)) continue;
      if (!isUsual && this.odd.get(text) !== start) continue;
      // Blanks around a rule do not count.
      const written = encodeUtf8(text);
      const from = isUsual ? start : bytes.indexOf(written[0]!, start);
      const to = from + written.length;
      const { size } = texts;
      if (texts.numberOf(from, to, hashSlice(bytes, from, to)) < size) continue;
      found.push(start);
      filter.addLine(text);
    }
    if (texts.size === 0) return found.all();
    const isThere = new Uint8Array(texts.size);
    filter.each(other.bytes, (start, end) => {
      const number = texts.find(other.bytes, start, end, hashSlice(other.bytes, start, end));
      if (number !== -1) isThere[number] = 1;
    });
    return found.all().filter((_, number) => isThere[number] === 0);
  }
}

/** Tells which names something may concern. */
export interface Concern {
  /** Finds their lines; undefined if any line may be one. */
  readonly filter: LineFinder | undefined;
  mayHold(bytes: Uint8Array, start: number, end: number): boolean;
  /** Whether a name may be above another that something concerns. The filter finds its line. */
  isAbove(hash: number): boolean;
}

/** Names that concern themselves and all names below them. */
export class NameEnds implements Concern {
  readonly filter: LineFinder = new LineFinder();
  private readonly names = new Set<string>();
  private readonly hashes = new HashTable();
  /** Of the names above them. */
  private readonly above = new HashTable();

  add(name: string): void {
    const { size } = this.names;
    if (this.names.add(name).size === size) return;
    this.hashes.set(hashText(name), 1);
    this.filter.addEnd(name);
    for (const parent of withParents(name).slice(1)) {
      const hash = hashText(parent);
      if (this.above.get(hash) !== 0) break;
      this.above.set(hash, 1);
      this.filter.addName(parent);
    }
  }

  isAbove(hash: number): boolean {
    return this.above.get(hash) !== 0;
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

/** With more texts, the filter would find most lines. */
const MOST_FILTERED = 30_000;
/** Preparing the kernel takes longer than a look at so many bytes. */
const FEW_BYTES = 32 * 1024;
const FILTERED_BYTES = 1024 * 1024;

/** Finds lines in a list by their text or name, in the kernel. It may find others, too. */
export class LineFinder {
  private readonly bits = nameFilter();
  private size = 0;

  /** Finds a line with this text. */
  addLine(text: string): void {
    if (++this.size <= MOST_FILTERED) addWhole(this.bits, text);
  }

  /** Finds the lines that are only this name. */
  addName(name: string): void {
    if (++this.size <= MOST_FILTERED)
      for (const line of [`||${name}^`, name, `0.0.0.0 ${name}`, `127.0.0.1 ${name}`])
        addWhole(this.bits, line);
  }

  /** Finds the lines that are only this name, or one below it. */
  addEnd(name: string): void {
    this.addName(name);
    if (this.size > MOST_FILTERED) return;
    addEnd(this.bits, `${name}^`);
    addEnd(this.bits, name);
  }

  each(bytes: Uint8Array, visit: (start: number, end: number) => void): void {
    if (this.size === 0) return;
    if (this.size > MOST_FILTERED || bytes.length <= FEW_BYTES) {
      eachLineFrom(bytes, visit);
      return;
    }
    for (let at = 0; at < bytes.length;) {
      const to = Math.min(bytes.length, at + FILTERED_BYTES);
      const end = stopOf(bytes, to - 1);
      const block = end < bytes.length ? bytes.subarray(at, end + 1) : withLineFeed(bytes, at);
      for (const start of sharedReader().findEnds(block, this.bits))
        visit(at + start, stopOf(bytes, at + start));
      at = end + 1;
    }
  }
}

function withLineFeed(bytes: Uint8Array, start: number): Uint8Array {
  const last = new Uint8Array(bytes.length - start + 1);
  last.set(bytes.subarray(start));
  last[last.length - 1] = LF;
  return last;
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

/** The rule in a line; undefined if the line has none. */
function ruleIn(bytes: Uint8Array, start: number, end: number): string | undefined {
  const text = decodeUtf8(bytes, start, end).trim();
  return text === "" || text.startsWith("!") || text.startsWith("#") ? undefined : text;
}

/** The name of a rule that is only a name. */
function soleNameOf(text: string): string | undefined {
  return subtreeName(text) ?? exactName(text);
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

/** How many of the next lines are looked at behind a difference. */
const NEAR = 3;
/** Bytes that are compared at a time. */
const COMPARED_BYTES = 8192;

/** Whether a line of bytes that begins at a place is the same as the line from `start` to `end` elsewhere. */
// oxlint-disable-next-line max-params -- numbers, not objects, in a loop over lines
function isSameLine(
  bytes: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  end: number,
): boolean {
  const to = at + end - start;
  if (to > bytes.length || (to < bytes.length && bytes[to] !== LF)) return false;
  return sameBytes(bytes, at, to, from, start, end);
}

/** The length of the whole lines that two lists have in common from two places on. */
// oxlint-disable-next-line max-params -- numbers, not objects, in a loop over lines
function commonLines(a: Uint8Array, aStart: number, b: Uint8Array, bStart: number): number {
  const most = Math.min(a.length - aStart, b.length - bStart);
  let common = 0;
  while (common + COMPARED_BYTES <= most) {
    const [x, y] = [aStart + common, bStart + common];
    if (!equalBytes(a.subarray(x, x + COMPARED_BYTES), b.subarray(y, y + COMPARED_BYTES))) break;
    common += COMPARED_BYTES;
  }
  while (common < most && a[aStart + common] === b[bStart + common]) common++;
  // At the end of one of them, a line may be whole without a line feed.
  if (isWhole(a, aStart + common) && isWhole(b, bStart + common)) return common + 1;
  while (common > 0 && a[aStart + common - 1] !== LF) common--;
  return common;
}

function isWhole(bytes: Uint8Array, at: number): boolean {
  return at === bytes.length || bytes[at] === LF;
}

/** Selects about one of sixteen lines by some of its bytes. */
function isAnchor(bytes: Uint8Array, start: number, end: number): boolean {
  const middle = (start + end) >> 1;
  return ((bytes[middle]! * 7 + bytes[middle - 1]! * 3 + (end - start)) & 15) === 0;
}

/** Where a line ends. Lines are short: a loop is faster than a call of the platform's search. */
function stopOf(bytes: Uint8Array, start: number): number {
  const { length } = bytes;
  let end = start;
  while (end < length && bytes[end] !== LF) end++;
  return end;
}

function eachLineFrom(bytes: Uint8Array, visit: (start: number, end: number) => void): void {
  for (let start = 0; start < bytes.length;) {
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

  get last(): number | undefined {
    return this.count === 0 ? undefined : this.column[this.count - 1];
  }

  pop(): void {
    this.count--;
  }

  all(): Uint32Array {
    return this.column.subarray(0, this.count);
  }
}
