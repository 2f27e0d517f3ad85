import { COMMA, LF, TAB } from "../bytes/ascii.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Chunk } from "../rules/chunk.ts";
import { FATES } from "../rules/fate.ts";
import type { RecordedRows } from "./recorded-rows.ts";

/** What a line is, in the words of the table. */
export const KINDS = [
  "blank",
  "comment",
  "hosts",
  "domain",
  "block",
  "exception",
  "rule",
  "unknown",
] as const;

export const HEADER = "list,source,row,line,counted,kind,fate,cause,name,text";

const QUOTE = 0x22;
const ZERO = 0x30;

/** Room for the fields of a row that are neither `list`, `source`, `name` nor `text`. */
const OTHER_FIELDS = 128;

/** `,COUNTED,KIND,FATE,` by kind and fate. */
const COUNTED = wordsAfter(",true");
const NOT_COUNTED = wordsAfter(",false");

function wordsAfter(counted: string): readonly (readonly Uint8Array[])[] {
  return KINDS.map((kind) => FATES.map(([fate]) => encodeUtf8(`${counted},${kind},${fate},`)));
}

/** Rows of a CSV file (RFC 4180), as bytes. A line of plain ASCII is copied without becoming a string. */
export class CsvRows {
  rows = 0;
  private bytes = new Uint8Array(1024 * 1024);
  private length = 0;
  private start: Uint8Array = new Uint8Array(0);

  constructor() {
    this.put(encodeUtf8(`${HEADER}\n`));
  }

  /** The list and the source of the rows that follow. */
  startSource(list: string, source: string): void {
    this.start = encodeUtf8(`${field(list)},${field(source)},`);
  }

  /** The rows since the last call; valid until the next one is added. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    return taken;
  }

  /** A row of a line without a name, or with one in lower-case ASCII. */
  addLine(rows: RecordedRows, kind: number, chunk: Chunk, row: number): void {
    const { bytes } = chunk;
    const [start, end] = [chunk.start[row]!, chunk.end[row]!];
    const [nameStart, nameEnd] = [chunk.hostStart[row]!, chunk.hostEnd[row]!];
    this.startRow(rows, kind, nameEnd - nameStart + 2 * (end - start));
    const { bytes: out } = this;
    let to = this.length;
    for (let at = nameStart; at < nameEnd; at++) out[to++] = bytes[at]!;
    out[to++] = COMMA;
    const textAt = to;
    out[to++] = QUOTE;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if ((byte < 0x20 && byte !== TAB) || byte > 0x7e) {
        this.length = textAt;
        this.endRow(decodeUtf8(bytes, start, end));
        return;
      }
      if (byte === QUOTE) out[to++] = QUOTE;
      out[to++] = byte;
    }
    out[to++] = QUOTE;
    out[to++] = LF;
    this.length = to;
  }

  /** Any other row. */
  addText(
    rows: RecordedRows,
    kind: number,
    name: string | undefined,
    text: string | undefined,
  ): void {
    this.startRow(rows, kind, 0);
    this.put(encodeUtf8(`${name ?? ""},`));
    this.endRow(text);
  }

  /** The fields in front of the name. */
  private startRow(rows: RecordedRows, kind: number, more: number): void {
    this.rows++;
    this.reserve(this.start.length + OTHER_FIELDS + more);
    const { bytes: out, start } = this;
    out.set(start, this.length);
    let to = writeNumber(rows.row, out, this.length + start.length);
    out[to++] = COMMA;
    to = writeNumber(rows.line, out, to);
    const words = (rows.isCounted ? COUNTED : NOT_COUNTED)[kind]![rows.fate]!;
    for (let at = 0; at < words.length; at++) out[to++] = words[at]!;
    if (rows.cause !== undefined) to = writeNumber(rows.cause, out, to);
    out[to++] = COMMA;
    this.length = to;
  }

  private endRow(text: string | undefined): void {
    this.put(encodeUtf8(text === undefined ? "\n" : `${field(text)}\n`));
  }

  private put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = new Uint8Array(2 * (this.length + more));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

/** Writes a number from 0 to 2³¹ - 1. Returns where it ends. */
function writeNumber(number: number, out: Uint8Array, from: number): number {
  let end = from + 1;
  for (let rest = number; rest >= 10; rest = (rest / 10) | 0) end++;
  let rest = number;
  for (let at = end - 1; at >= from; at--) {
    const tenth = (rest / 10) | 0;
    out[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return end;
}

/** A quoted field. Characters that could control a terminal are written as `\u{1b}`; tabs stay. */
function field(text: string): string {
  const safe = text
    .split("\t")
    .map((part) => printable(part, Infinity))
    .join("\t");
  return `"${safe.replaceAll('"', '""')}"`;
}
