import { AhoCorasick, EXACT } from "../bytes/aho-corasick.ts";
import { HYPHEN, isAlphanumeric } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Flag } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { readFilterEntry } from "../syntax/filter-entry.ts";
import { type LiteralTest, LiteralTests } from "./literal-tests.ts";
import { NameEntries } from "./name-entries.ts";
import { regexTests } from "./regex-entries.ts";

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
