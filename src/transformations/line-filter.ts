import { AhoCorasick, EXACT, FOLDED } from "../bytes/aho-corasick.ts";
import { HYPHEN, isAlphanumeric } from "../bytes/ascii.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Flag } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { type FilterEntry, readFilterEntry } from "../syntax/filter-entry.ts";
import { NameEntries } from "./name-entries.ts";
import { type LineTest, compileEntryRegex } from "../syntax/regex-rule.ts";

interface WildcardTest {
  /** Its longest stretch without `*`, in lower case: no line without it can match. */
  readonly literal: string;
  readonly test: LineTest;
}

/**
 * All exclusions (or inclusions) of one level, ready to be asked about lines: text anywhere in the line, wildcards over
 * the whole line, regular expressions, and names. One pass over a line answers for all plain entries together.
 */
export class LineFilter {
  private readonly plain: AhoCorasick | undefined;
  private readonly plainTexts: string[] = [];
  private readonly wildcards: WildcardTest[] = [];
  private readonly wildcardLiterals: AhoCorasick | undefined;
  private readonly regexes: LineTest[] = [];
  /** Entries that are rules for names. */
  readonly names: NameEntries;
  /** Plain entry that hit last, and where it ended; for the warning about hits inside a label. */
  lastPlain: { text: string; end: number } | undefined;

  constructor(entries: readonly string[]) {
    const names: string[] = [];
    const nameTexts: string[] = [];
    for (const text of new Set(entries)) {
      if (text === "") continue;
      const entry = readFilterEntry(text);
      if (entry.kind !== "names") this.add(entry);
      else {
        names.push(...entry.names);
        if (entry.text !== undefined) nameTexts.push(entry.text);
      }
    }
    this.names = new NameEntries(names, nameTexts);
    if (this.plainTexts.length > 0) this.plain = new AhoCorasick(this.plainTexts.map(encodeUtf8));
    if (this.wildcards.every(({ literal }) => literal !== "") && this.wildcards.length > 0)
      this.wildcardLiterals = new AhoCorasick(this.wildcards.map((w) => encodeUtf8(w.literal)));
  }

  get isEmpty(): boolean {
    return !this.hasTexts && this.names.isEmpty;
  }

  /** Whether there are entries that every line has to be asked about. */
  get hasTexts(): boolean {
    return this.plainTexts.length + this.wildcards.length + this.regexes.length > 0;
  }

  private add(entry: Exclude<FilterEntry, { kind: "names" }>): void {
    if (entry.kind === "regex") this.regexes.push(compileEntryRegex(entry.source));
    else if (entry.kind === "wildcard") this.wildcards.push(wildcardTest(entry.text));
    else this.plainTexts.push(entry.text);
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

  /** Whether any entry matches a line. */
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
    if (this.wildcards.length > 0 && this.mayMatchWildcard(bytes, start, end, isNonAscii)) {
      const line = decodeUtf8(bytes, start, end);
      const lower = isNonAscii ? undefined : line.toLowerCase();
      for (const { literal, test } of this.wildcards)
        if ((lower === undefined || lower.includes(literal)) && test(line)) return true;
    }
    if (this.regexes.length === 0) return false;
    const line = decodeUtf8(bytes, start, end);
    return this.regexes.some((test) => test(line));
  }

  /** The fold table knows ASCII only; other lines are left to the tests themselves. */
  private mayMatchWildcard(
    bytes: Uint8Array,
    start: number,
    end: number,
    isNonAscii: boolean,
  ): boolean {
    if (isNonAscii || this.wildcardLiterals === undefined) return true;
    return this.wildcardLiterals.search(bytes, start, end, FOLDED) !== -1;
  }
}

function wildcardTest(text: string): WildcardTest {
  const parts = text.split(/\*+/);
  const literal = parts.reduce(
    (longest, part) => (part.length > longest.length ? part : longest),
    "",
  );
  return { literal: literal.toLowerCase(), test: (line) => matchesParts(line, parts) };
}

/** Whole-line match of literal parts with anything between them, each part at its earliest place: linear, no backtracking. */
function matchesParts(line: string, parts: readonly string[]): boolean {
  const text = line.toLowerCase();
  const first = parts[0]!.toLowerCase();
  const last = parts.at(-1)!.toLowerCase();
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part.toLowerCase(), at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a hit of a domain-like entry begins or ends inside a label: `t.co` in `||microsoft.com^`. */
export function splitsLabel(
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
