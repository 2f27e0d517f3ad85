import { AhoCorasick, EXACT, FOLDED } from "../bytes/aho-corasick.ts";
import { hashName } from "../bytes/hash.ts";
import { BACKSLASH, HYPHEN, decodeUtf8, encodeUtf8, isAlphanumeric } from "../bytes/text.ts";
import { HashFilter, type RowFinder } from "../kernel/rows.ts";
import { namesOfLine } from "../meaning/line.ts";
import { type Chunk, Flag, Kind, hostOf, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { classifyAgain } from "../syntax/classify.ts";
import { filterNames } from "../syntax/hosts-line.ts";
import {
  type LineTest,
  compileEntryRegex,
  isPortable,
  regexCost,
  regexTexts,
  unionRegex,
} from "../syntax/regex-rule.ts";
import { readFilterEntry } from "../syntax/trust.ts";
import { toAsciiHost } from "../syntax/written-names.ts";
import { type Stage, type StageContext, type TransformationContext, eachChunk } from "./stage.ts";

/** Drops the lines that an exclusion matches. Generated banners stay. */
export function exclude(filter: LineFilter, context: TransformationContext): Stage {
  const { finder } = context;
  const { names } = filter;
  return eachChunk((chunk) => {
    if (filter.hasTexts)
      for (let row = 0; row < chunk.length; row++) {
        if (!isOpenToFilters(chunk, row) || !filter.matchesText(chunk, row)) continue;
        noteSplitLabel(chunk, row, filter, context);
        chunk.drop(row, Fate.Excluded);
      }
    for (const row of names.rowsOf(chunk, finder))
      if (isOpenToFilters(chunk, row))
        keepNames(chunk, row, Fate.Excluded, (name) => !names.hasName(name));
  });
}

/** Drops the lines that no inclusion matches. */
export function include(filter: LineFilter, { finder }: StageContext): Stage {
  const { names } = filter;
  return eachChunk((chunk) => {
    const named = new Set(names.rowsOf(chunk, finder));
    for (let row = 0; row < chunk.length; row++) {
      if (!isOpenToFilters(chunk, row)) continue;
      if (filter.hasTexts && filter.matchesText(chunk, row)) continue;
      if (!named.has(row)) chunk.drop(row, Fate.NotIncluded);
      else if (namesOfLine(textOf(chunk, row)).length > 1)
        keepNames(chunk, row, Fate.NotIncluded, (name) => names.hasName(name));
    }
  });
}

function isOpenToFilters(chunk: Chunk, row: number): boolean {
  return chunk.fate[row] === Fate.Kept && (chunk.flags[row]! & Flag.Banner) === 0;
}

/** Removes names from a hosts line with several names. Drops any other line. */
function keepNames(
  chunk: Chunk,
  row: number,
  fate: Fate,
  mayStay: (name: string) => boolean,
): void {
  const line = textOf(chunk, row);
  const isSeveral = namesOfLine(line).length > 1;
  const rest = isSeveral ? filterNames(line, mayStay) : undefined;
  if (rest === undefined) chunk.drop(row, fate);
  else if (rest !== line) {
    rewriteText(chunk, row, rest);
    classifyAgain(chunk, row);
  }
}

function noteSplitLabel(
  chunk: Chunk,
  row: number,
  filter: LineFilter,
  context: TransformationContext,
): void {
  const hit = filter.lastPlain;
  if (hit === undefined || (chunk.flags[row]! & Flag.AsBlock) !== 0) return;
  const { start, end } = chunk;
  if (splitsLabel(chunk.bytesOf(row), start[row]!, end[row]!, hit.text, hit.end))
    context.warn("exclusion-splits-label", chunk, row, hit.text);
}

/**
 * All exclusions (or inclusions) of one level: text anywhere in the line, wildcards over the whole line, regular expressions,
 * and names. One pass over a line tests all plain entries together.
 */
export class LineFilter {
  private readonly plain: AhoCorasick | undefined;
  private readonly plainTexts: string[] = [];
  private readonly wildcards: LiteralTests;
  private readonly regexes: LiteralTests;
  /** Entries that are rules for names. */
  readonly names: NameEntries;
  /** Plain entry that matched last, and where it ended; for the warning about matches inside a label. */
  lastPlain: { text: string; end: number } | undefined;

  /** `remote` has the entries that come only from remote files. */
  constructor(entries: readonly string[], remote: ReadonlySet<string> = new Set()) {
    const names: string[] = [];
    const nameTexts: string[] = [];
    const wildcards: LiteralTest[] = [];
    const regexes: string[] = [];
    const remoteRegexes: string[] = [];
    for (const text of new Set(entries)) {
      if (text === "") continue;
      const entry = readFilterEntry(text);
      if (entry.kind === "regex") (remote.has(text) ? remoteRegexes : regexes).push(entry.source);
      else if (entry.kind === "wildcard") wildcards.push(wildcardTest(entry.text));
      else if (entry.kind === "plain") this.plainTexts.push(entry.text);
      else {
        for (const name of entry.names) names.push(name);
        if (entry.text !== undefined) nameTexts.push(entry.text);
      }
    }
    this.names = new NameEntries(names, nameTexts);
    if (this.plainTexts.length > 0) this.plain = new AhoCorasick(this.plainTexts.map(encodeUtf8));
    this.wildcards = new LiteralTests(wildcards);
    this.regexes = new LiteralTests([
      ...regexTests(regexes, true),
      ...regexTests(remoteRegexes, false),
    ]);
  }

  get isEmpty(): boolean {
    return !this.hasTexts && this.names.isEmpty;
  }

  /** Whether there are entries that every line must be tested against. */
  get hasTexts(): boolean {
    return this.plainTexts.length > 0 || !this.wildcards.isEmpty || !this.regexes.isEmpty;
  }

  /** Whether an entry that is not a rule for a name matches the row's text. */
  matchesText(chunk: Chunk, row: number): boolean {
    if ((chunk.flags[row]! & Flag.AsBlock) !== 0) return this.matchesLine(textOf(chunk, row));
    return this.matchesBytes(
      chunk.bytesOf(row),
      chunk.start[row]!,
      chunk.end[row]!,
      (chunk.flags[row]! & Flag.NonAscii) !== 0,
    );
  }

  matchesLine(line: string): boolean {
    if (this.names.hasLine(line)) return true;
    const bytes = encodeUtf8(line);
    return this.matchesBytes(bytes, 0, bytes.length, bytes.length !== line.length);
  }

  private matchesBytes(
    bytes: Uint8Array,
    start: number,
    end: number,
    isNonAscii: boolean,
  ): boolean {
    this.lastPlain = undefined;
    if (this.plain !== undefined) {
      const word = this.plain.search(bytes, start, end, EXACT);
      if (word !== -1) {
        this.lastPlain = { text: this.plainTexts[word]!, end: this.plain.matchEnd };
        return true;
      }
    }
    return (
      this.wildcards.matches(bytes, start, end, isNonAscii) ||
      this.regexes.matches(bytes, start, end, isNonAscii)
    );
  }
}

function wildcardTest(text: string): LiteralTest {
  const parts = text.toLowerCase().split(/\*+/);
  // The search for literals folds case only for ASCII.
  const texts = text
    .toLowerCase()
    .split(/[^\u0000-\u0029\u002b-\u007f]+/)
    .filter((part) => part !== "");
  return { texts, test: (line) => matchesParts(line, parts) };
}

/** Matches a whole line: literal parts, each at its earliest position, with any text between them. Linear, no backtracking. */
function matchesParts(line: string, parts: readonly string[]): boolean {
  const text = line.toLowerCase();
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a match of a domain-like entry begins or ends inside a label: `t.co` in `||microsoft.com^`. */
// oxlint-disable-next-line max-params -- numbers, not objects, in a loop over rows
function splitsLabel(
  bytes: Uint8Array,
  start: number,
  end: number,
  hit: string,
  hitEnd: number,
): boolean {
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(hit)) return false;
  const hitStart = hitEnd - hit.length;
  const before = hitStart > start ? bytes[hitStart - 1]! : 0;
  const after = hitEnd < end ? bytes[hitEnd]! : 0;
  return isLabelByte(before) || isLabelByte(after);
}

function isLabelByte(byte: number): boolean {
  return isAlphanumeric(byte) || byte === HYPHEN;
}

interface LiteralTest {
  /** In lower case. A line that lacks one of them cannot match. */
  readonly texts: readonly string[];
  readonly test: LineTest;
}

/** Non-ASCII letters that fold to `i`, `s` and `k` when case is ignored. */
const FOLDS_TO_ASCII = /[\u0130\u017f\u212a]/;

/** Many tests that each need a text in the line. One pass over the line finds the tests worth trying. */
class LiteralTests {
  private readonly all: readonly LineTest[];
  private readonly always: readonly LineTest[];
  private readonly byLiteral: readonly (readonly LineTest[])[];
  private readonly literals: AhoCorasick | undefined;
  /** The number of the last line that the tests of each literal ran on. */
  private readonly triedOn: Float64Array;
  private line = 0;

  constructor(tests: readonly LiteralTest[]) {
    this.all = tests.map(({ test }) => test);
    this.always = tests.filter(({ texts }) => texts.length === 0).map(({ test }) => test);
    const byLiteral = new Map<string, LineTest[]>();
    const counts = new Map<string, number>();
    for (const { texts } of tests)
      for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const { texts, test } of tests) {
      const literal = rarest(texts, counts);
      if (literal === undefined) continue;
      const known = byLiteral.get(literal);
      if (known === undefined) byLiteral.set(literal, [test]);
      else known.push(test);
    }
    this.byLiteral = [...byLiteral.values()];
    this.triedOn = new Float64Array(this.byLiteral.length);
    if (byLiteral.size > 0) this.literals = new AhoCorasick([...byLiteral.keys()].map(encodeUtf8));
  }

  get isEmpty(): boolean {
    return this.all.length === 0;
  }

  matches(bytes: Uint8Array, start: number, end: number, isNonAscii: boolean): boolean {
    if (this.isEmpty) return false;
    let decoded: string | undefined;
    const line = (): string => (decoded ??= decodeUtf8(bytes, start, end));
    const isMatch = (test: LineTest): boolean => test(line());
    if (isNonAscii && FOLDS_TO_ASCII.test(line())) return this.all.some(isMatch);
    if (this.always.some(isMatch)) return true;
    if (this.literals === undefined) return false;
    this.line++;
    return this.literals.some(bytes, { start, end }, FOLDED, (word) => {
      if (this.triedOn[word] === this.line) return false;
      this.triedOn[word] = this.line;
      return this.byLiteral[word]!.some(isMatch);
    });
  }
}

/** The text that the fewest tests share; of several, the longest. */
function rarest(texts: readonly string[], counts: ReadonlyMap<string, number>): string | undefined {
  let best: string | undefined;
  for (const text of texts)
    if (best === undefined || weight(text, counts) < weight(best, counts)) best = text;
  return best;
}

function weight(text: string, counts: ReadonlyMap<string, number>): number {
  return counts.get(text)! + 1 / text.length;
}

/** The names that exclusions or inclusions of one level match, in lines of any syntax. */
class NameEntries {
  private readonly names = new Set<string>();
  private readonly hashes = new Set<number>();
  private readonly filter = new HashFilter();
  private readonly texts: readonly string[];
  /** Finds names and texts of entries in lines that are more than a name. Created on first use. */
  private nameSearch: AhoCorasick | undefined;
  private textSearch: AhoCorasick | undefined;
  /** Whether a name may be internationalized; `loadIdna` was then awaited. */
  private readonly isInternational: boolean;

  constructor(names: readonly string[], texts: readonly string[]) {
    this.isInternational = names.some(isInternationalName);
    for (const name of names) this.names.add(this.canonical(name));
    for (const name of this.names) {
      const bytes = encodeUtf8(name);
      const hash = hashName(bytes, 0, bytes.length);
      this.filter.add(hash);
      this.hashes.add(hash);
    }
    this.texts = texts;
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  hasName(name: string): boolean {
    return this.names.has(this.canonical(name));
  }

  /** Whether a line is a rule for one of the names, or contains the text of an entry. */
  hasLine(line: string): boolean {
    if (this.isEmpty) return false;
    const bytes = encodeUtf8(line);
    const isAscii = bytes.length === line.length;
    return this.mayHold(bytes, 0, bytes.length, isAscii) && this.isFor(line, bytes);
  }

  /** The live rows that match `hasLine`. Ordinary names are found by their hashes. */
  rowsOf(chunk: Chunk, finder: RowFinder): number[] {
    if (this.isEmpty) return [];
    const rows: number[] = [];
    for (const row of finder.hashed(chunk, this.filter)) {
      const isOrdinary = (chunk.flags[row]! & Flag.Ordinary) !== 0;
      if (isOrdinary && this.hashes.has(chunk.hostHash[row]!) && this.names.has(hostOf(chunk, row)))
        rows.push(row);
    }
    for (const row of finder.special(chunk))
      if (chunk.kind[row] !== Kind.Blank && this.mayName(chunk, row) && this.isNamed(chunk, row))
        rows.push(row);
    return rows;
  }

  /** Tests the bytes of a line, before it becomes a string. */
  private mayName(chunk: Chunk, row: number): boolean {
    const flags = chunk.flags[row]!;
    const isBlock = (flags & Flag.AsBlock) !== 0;
    const start = isBlock ? chunk.hostStart[row]! : chunk.start[row]!;
    const end = isBlock ? chunk.hostEnd[row]! : chunk.end[row]!;
    return this.mayHold(chunk.bytesOf(row), start, end, (flags & Flag.NonAscii) === 0);
  }

  private mayHold(bytes: Uint8Array, start: number, end: number, isAscii: boolean): boolean {
    if (this.isInternational && !isAscii) return true;
    this.nameSearch ??= new AhoCorasick([...this.names].map(encodeUtf8));
    if (this.nameSearch.search(bytes, start, end, FOLDED) !== -1) return true;
    // Regular expressions escape the dots of a name.
    for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
    return false;
  }

  private isNamed(chunk: Chunk, row: number): boolean {
    const text = textOf(chunk, row);
    const bytes = encodeUtf8(text);
    return chunk.kind[row] === Kind.Comment ? this.hasText(bytes) : this.isFor(text, bytes);
  }

  private isFor(line: string, bytes: Uint8Array): boolean {
    return namesOfLine(line).some((name) => this.hasName(name)) || this.hasText(bytes);
  }

  private hasText(bytes: Uint8Array): boolean {
    this.textSearch ??= new AhoCorasick(this.texts.map(encodeUtf8));
    return this.textSearch.search(bytes, 0, bytes.length, EXACT) !== -1;
  }

  /** Lower-case ASCII, without the trailing dot. */
  private canonical(name: string): string {
    const lower = name.toLowerCase().replace(/(?<=.)\.$/, "");
    if (!this.isInternational || !/[^\u0000-\u007f]/.test(lower)) return lower;
    return toAsciiHost(lower) ?? lower;
  }
}

/** Whether a name has two spellings, which need `loadIdna`. */
export function isInternationalName(name: string): boolean {
  return /[^\u0000-\u007f]|xn--/i.test(name);
}

/** Instruction limit per combined expression. */
const LARGEST_UNION = 500;

/**
 * Tests for the expressions of one level. Expressions that need a literal text are found by it; many of the others are
 * combined into one.
 */
function regexTests(sources: readonly string[], isOwn: boolean): LiteralTest[] {
  const tests: LiteralTest[] = [];
  let joined: string[] = [];
  let size = 0;
  const join = (): void => {
    if (joined.length > 0) tests.push({ texts: [], test: unionRegex(joined, isOwn) });
    joined = [];
    size = 0;
  };
  for (const source of sources) {
    const texts = regexTexts(source);
    const { instructions } = regexCost(source);
    if (texts.length > 0 || !isPortable(source) || instructions > LARGEST_UNION) {
      tests.push({ texts, test: compileEntryRegex(source, isOwn) });
      continue;
    }
    if (size + instructions > LARGEST_UNION) join();
    joined.push(source);
    size += instructions + 1;
  }
  join();
  return tests;
}
