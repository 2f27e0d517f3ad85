import { decodeUtf8 } from "../../bytes/utf8.ts";
import { Fate } from "../../rules/fate.ts";
import type { ConfigReader, RowTaker } from "./foreign-reader.ts";

/** Reads the lines of a file in order. It may hold a line until it has seen the next one. */
export interface LineReader {
  line(text: string, number: number, take: RowTaker): void;
  /** Emits a held line. */
  settle(take: RowTaker): void;
  /** Whether a record spans lines, so that blank lines and comments are part of it. */
  readonly isOpen?: boolean;
  /** Called at the end of the file, even within a record. */
  close?(take: RowTaker): void;
}

/** The meaning of a line that does not depend on other lines: one rule, several, or a fate. */
export type LineMeaning = (line: string) => string | readonly string[] | Fate;

export function splitLines(bytes: Uint8Array): string[] {
  const lines = decodeUtf8(bytes).split(/\r\n|\r|\n/);
  // A final line end does not start another line.
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Handles blank lines and comments, which are the same in most formats. */
export class LineByLine implements ConfigReader {
  private readonly reader: LineReader;
  private readonly commentStart: RegExp;

  constructor(reader: LineReader, commentStart: RegExp = /^\s*[#;!]/) {
    this.reader = reader;
    this.commentStart = commentStart;
  }

  read(bytes: Uint8Array, line: number, take: RowTaker): number {
    const lines = splitLines(bytes);
    for (const [index, text] of lines.entries()) {
      const isSilent = text.trim() === "" || this.commentStart.test(text);
      if (!isSilent || this.reader.isOpen === true) {
        this.reader.line(text, line + index, take);
        continue;
      }
      this.reader.settle(take);
      takeSilent(text, line + index, take);
    }
    return line + lines.length;
  }

  pause(take: RowTaker): void {
    this.reader.settle(take);
  }

  end(take: RowTaker): void {
    this.reader.close?.(take);
    this.reader.settle(take);
  }
}

/** Takes a blank line or a comment. The comment sign is removed: `! #` would read like a directive. */
export function takeSilent(text: string, number: number, take: RowTaker): void {
  if (text.trim() === "") take("", number, Fate.Blank);
  else take(`! ${text.replace(/^[\s#;!]+/, "")}`.trimEnd(), number);
}

/** Takes the meaning of one line. */
export function takeMeaning(
  meaning: ReturnType<LineMeaning>,
  line: string,
  number: number,
  take: RowTaker,
): void {
  if (typeof meaning === "number") take(line, number, meaning);
  else if (typeof meaning === "string") take(meaning, number);
  else for (const text of meaning) take(text, number);
}

/** A reader of lines that do not depend on each other. */
export function eachLine(meaningOf: LineMeaning, commentStart?: RegExp): ConfigReader {
  const reader: LineReader = {
    line: (text, number, take) => takeMeaning(meaningOf(text), text, number, take),
    settle() {},
  };
  return new LineByLine(reader, commentStart);
}
