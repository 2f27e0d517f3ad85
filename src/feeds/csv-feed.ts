import { CR, HASH, LF, SPACE, decodeUtf8 } from "../bytes/text.ts";
import { Fate } from "../rules/fate.ts";
import {
  type RowCondition,
  FeedError,
  type FeedLines,
  type FeedReader,
  type FeedValues,
  LONGEST_ROW,
  joined,
  writePlainName,
} from "./feed.ts";

export interface CsvShape {
  /** A name in the header, or a number from 1. */
  readonly column: string;
  readonly delimiter?: string | undefined;
  readonly where: readonly RowCondition[];
}

const QUOTE = 34;
/** A row with more columns is not what a user means. */
const MOST_COLUMNS = 1000;
const NUMBER = /^[1-9]\d{0,2}$/;

/**
 * Reads one column of CSV (RFC 4180), byte by byte: rows become no strings. A row that spans lines becomes as many lines, so that
 * line numbers stay true. Lines that begin with `#` are comments; the last one before the first row is the header if the first row is not.
 */
export class CsvFeed implements FeedReader {
  private readonly shape: CsvShape;
  private readonly values: FeedValues;
  private readonly delimiter: number;
  private rest: Uint8Array = new Uint8Array(0);
  private line = 1;
  /** Number of the wanted column, and of those in conditions; undefined until the header is known. */
  private wanted: number | undefined;
  private conditions: { readonly column: number; readonly values: readonly string[] }[] = [];
  private lastComment: readonly string[] = [];
  private hasRows = false;
  /** Whether a row below the header exists, and whether one has the wanted column. */
  private hasValues = false;
  private hasColumn = false;
  /** Where the fields of a row are, up to the last one that is needed. */
  private readonly starts = new Int32Array(MOST_COLUMNS);
  private readonly ends = new Int32Array(MOST_COLUMNS);
  private readonly isQuoted = new Uint8Array(MOST_COLUMNS);
  private fields = 0;
  private isBad = false;
  private spansLines = false;
  /** How many fields are needed. */
  private most = MOST_COLUMNS;

  constructor(shape: CsvShape, values: FeedValues) {
    this.shape = shape;
    this.values = values;
    this.delimiter = (shape.delimiter ?? ",").charCodeAt(0);
    const keys = [shape.column, ...shape.where.map(({ key }) => key)];
    if (keys.every((key) => NUMBER.test(key))) this.choose([]);
  }

  take(bytes: Uint8Array, lines: FeedLines): void {
    const text = joined(this.rest, bytes);
    let at = 0;
    const lastEnd = text.lastIndexOf(LF) + 1;
    while (at < text.length) {
      at = this.plainRows(text, at, lastEnd, lines);
      const next = at < text.length ? this.row(text, at, false, lines) : -1;
      if (next === -1) break;
      at = next;
    }
    if (text.length - at > LONGEST_ROW) throw this.tooLong();
    this.rest = new Uint8Array(text.subarray(at));
  }

  end(lines: FeedLines): void {
    const { rest } = this;
    if (rest.length > 0 && this.row(rest, 0, true, lines) === -1)
      throw new FeedError(`the row in line ${this.line} does not end`);
    this.rest = new Uint8Array(0);
    if (this.hasRows && this.wanted === undefined) throw this.noColumn();
    if (this.hasValues && !this.hasColumn)
      throw new FeedError(`no row of it has the column ${this.shape.column}`);
  }

  /** Reads rows in one line whose value is a name, and returns where the first other row begins. */
  private plainRows(bytes: Uint8Array, start: number, end: number, lines: FeedLines): number {
    if (this.wanted === undefined || this.conditions.length > 0) return start;
    let at = start;
    while (at < end) {
      const next = this.plainRow(bytes, at, this.wanted, lines);
      if (next === -1) break;
      at = next;
      this.line++;
      this.hasRows = this.hasColumn = true;
    }
    return at;
  }

  /** Returns where the next row begins, or -1 if this is not a plain row. A line end follows `start`, so no loop leaves the bytes. */
  private plainRow(bytes: Uint8Array, start: number, wanted: number, lines: FeedLines): number {
    const { delimiter } = this;
    if (bytes[start] === HASH) return -1;
    let at = start;
    for (let field = 0; field < wanted; field++) {
      at = plainFieldEnd(bytes, at, delimiter);
      if (at === -1 || bytes[at] !== delimiter) return -1;
      at++;
    }
    const before = lines.length;
    const isQuoted = bytes[at] === QUOTE;
    at = writePlainName(bytes, isQuoted ? at + 1 : at, bytes.length, lines);
    if (at === -1) return -1;
    if (isQuoted) at = bytes[at] === QUOTE ? at + 1 : -1;
    while (at !== -1 && bytes[at] === delimiter) at = plainFieldEnd(bytes, at + 1, delimiter);
    if (at !== -1 && bytes[at] === LF && at - start <= LONGEST_ROW) return at + 1;
    lines.length = before;
    return -1;
  }

  /** Reads a row and returns where the next one begins, or -1 if its end is missing. */
  private row(bytes: Uint8Array, start: number, isEnd: boolean, lines: FeedLines): number {
    const first = bytes[start]!;
    const end = first === HASH ? lineEnd(bytes, start) : this.split(bytes, start);
    if (end === -1 || (end === bytes.length && !isEnd)) return -1;
    // A CR at the end may be the first half of CRLF.
    if (bytes[end] === CR && end + 1 === bytes.length && !isEnd) return -1;
    if (end - start > LONGEST_ROW) throw this.tooLong();
    const next = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
    if (first === HASH) this.comment(bytes, start, end, lines);
    else {
      const inner = this.spansLines ? lineEndsIn(bytes, start, end) : 0;
      for (let count = 0; count < inner; count++) lines.blank();
      this.line += inner;
      this.takeRow(bytes, start, end, lines);
    }
    this.line++;
    return next;
  }

  /** Finds the fields of the row and returns where it ends; -1 within quotes. */
  private split(bytes: Uint8Array, start: number): number {
    const { delimiter, starts, ends, isQuoted, most } = this;
    const { length } = bytes;
    let field = 0;
    let at = start;
    this.isBad = false;
    this.spansLines = false;
    while (true) {
      let from = at;
      while (at < length && bytes[at] === SPACE) at++;
      if (bytes[at] === QUOTE) {
        from = ++at;
        while (at < length && (bytes[at] !== QUOTE || bytes[at + 1] === QUOTE)) {
          if (bytes[at] === LF || bytes[at] === CR) this.spansLines = true;
          at += bytes[at] === QUOTE ? 2 : 1;
        }
        // The next byte decides whether a quote at the end closes the field.
        if (at >= length) return -1;
        if (field < most) {
          starts[field] = from;
          ends[field] = at;
          isQuoted[field] = 1;
        }
        at++;
        while (at < length && bytes[at] === SPACE) at++;
        const byte = bytes[at];
        if (at < length && byte !== delimiter && byte !== LF && byte !== CR) {
          this.isBad = true;
          while (at < length && bytes[at] !== LF && bytes[at] !== CR) at++;
        }
      } else {
        let byte = bytes[at];
        while (at < length && byte !== delimiter && byte !== LF && byte !== CR) byte = bytes[++at];
        if (field < most) {
          starts[field] = from;
          ends[field] = at;
          isQuoted[field] = 0;
        }
      }
      field++;
      if (at >= length || bytes[at] !== delimiter) break;
      at++;
    }
    this.fields = Math.min(field, most);
    return at;
  }

  private comment(bytes: Uint8Array, start: number, end: number, lines: FeedLines): void {
    lines.comment(bytes, start + 1, end);
    if (this.wanted !== undefined || this.hasRows) return;
    const text = bytes.slice(start + 1, end);
    if (this.split(text, 0) !== -1) this.lastComment = this.names(text);
  }

  private takeRow(bytes: Uint8Array, start: number, end: number, lines: FeedLines): void {
    if (start === end) {
      lines.blank();
      return;
    }
    const { wanted } = this;
    this.hasRows = true;
    if (wanted === undefined) {
      const own = this.names(bytes);
      // A comment may mention the columns, too.
      if (this.choose(own)) lines.dropped(Fate.NoValue);
      else if (this.choose(this.lastComment)) this.takeRow(bytes, start, end, lines);
      else throw this.noColumn();
      return;
    }
    this.hasValues = true;
    if (!this.isBad && wanted < this.fields) this.hasColumn = true;
    if (this.isBad) lines.dropped(Fate.BadSyntax);
    else if (wanted >= this.fields) lines.dropped(Fate.NoValue);
    else if (this.conditions.length > 0 && !this.isChosen(bytes)) lines.dropped(Fate.NotChosen);
    else if (this.isQuoted[wanted] === 1) {
      const text = this.textOf(bytes, wanted);
      if (text === undefined)
        this.values.write(bytes, this.starts[wanted]!, this.ends[wanted]!, lines);
      else if (text.trim() === "") lines.dropped(Fate.NoValue);
      else this.values.writeText(text.trim(), lines);
    } else this.values.write(bytes, this.starts[wanted]!, this.ends[wanted]!, lines);
  }

  /** The text of a quoted field that has quotes in it; undefined if the bytes are the text. */
  private textOf(bytes: Uint8Array, field: number): string | undefined {
    const end = this.ends[field]!;
    for (let at = this.starts[field]!; at < end; at++)
      if (bytes[at] === QUOTE)
        return decodeUtf8(bytes, this.starts[field], end).replaceAll('""', '"');
    return undefined;
  }

  private isChosen(bytes: Uint8Array): boolean {
    return this.conditions.every(({ column, values }) => {
      if (column >= this.fields) return false;
      const text =
        this.textOf(bytes, column) ?? decodeUtf8(bytes, this.starts[column], this.ends[column]);
      return values.includes(text.trim());
    });
  }

  private names(bytes: Uint8Array): string[] {
    return Array.from({ length: this.fields }, (_, field) =>
      (this.textOf(bytes, field) ?? decodeUtf8(bytes, this.starts[field], this.ends[field])).trim(),
    );
  }

  /** Finds the columns in a header; false if one is missing. */
  private choose(header: readonly string[]): boolean {
    const { column, where } = this.shape;
    const indexOf = (key: string): number =>
      NUMBER.test(key) ? Number(key) - 1 : header.indexOf(key);
    const wanted = indexOf(column);
    const conditions = where.flatMap(({ key, values, orAbsent }) => {
      const found = indexOf(key);
      return found === -1 && orAbsent === true ? [] : [{ column: found, values }];
    });
    if (wanted === -1 || conditions.some((one) => one.column === -1)) return false;
    this.wanted = wanted;
    this.conditions = conditions;
    this.most = Math.max(wanted, ...conditions.map((one) => one.column)) + 1;
    return true;
  }

  private tooLong(): FeedError {
    return new FeedError(`the row in line ${this.line} is longer than ${LONGEST_ROW} bytes`);
  }

  private noColumn(): FeedError {
    const { column, where } = this.shape;
    const keys = [column, ...where.map(({ key }) => key)].filter((key) => !NUMBER.test(key));
    return new FeedError(`its header does not have the column ${keys.join(" or ")}`);
  }
}

/** The end of a field, or -1 if it ends its row with CR, has line ends in quotes, or a quote that does not enclose all of it. */
function plainFieldEnd(bytes: Uint8Array, start: number, delimiter: number): number {
  let at = start;
  let byte = bytes[at]!;
  if (byte === QUOTE)
    do {
      byte = bytes[++at]!;
      while (byte !== QUOTE && byte !== LF && byte !== CR) byte = bytes[++at]!;
      if (byte !== QUOTE) return -1;
      byte = bytes[++at]!;
    } while (byte === QUOTE);
  else
    while (byte !== delimiter && byte !== LF && byte !== CR && byte !== QUOTE) byte = bytes[++at]!;
  return byte === delimiter || byte === LF ? at : -1;
}

function lineEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
  return at;
}

function lineEndsIn(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++)
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) count++;
  return count;
}
