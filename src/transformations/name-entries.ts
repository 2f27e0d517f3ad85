import { AhoCorasick, EXACT, FOLDED } from "../bytes/aho-corasick.ts";
import { BACKSLASH } from "../bytes/ascii.ts";
import { hashName } from "../bytes/hash.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { HashFilter, type RowFinder } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import { toAsciiHost } from "../syntax/idna.ts";
import { namesOfLine } from "../meaning/line.ts";

/** The names that exclusions or inclusions of one level match, in lines of any syntax. */
export class NameEntries {
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
