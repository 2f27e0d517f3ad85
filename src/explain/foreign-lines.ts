import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { splitLines } from "../formats/readers/line-by-line.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { hostsIn } from "./line-names.ts";

/** A rule of a file of another format, and where it was read. */
export interface ForeignLine {
  readonly line: number;
  /** Which of the line's rows it is. */
  readonly rowInLine: number;
  readonly text: string;
  readonly host: string;
}

/** A document in one line is not shown as a whole. */
const LONGEST_SHOWN = 1000;
const PIECE = 1024 * 1024;

/**
 * Reads a whole file of another format again, as the compile read it, and finds what is about certain names: what a line
 * means may depend on those before it. `needles` are texts of which one stands in every line that is wanted.
 */
export function foreignLines(
  format: string,
  bytes: Uint8Array,
  isWanted: (host: string) => boolean,
  needles: readonly string[] | undefined,
): ForeignLine[] {
  const reading = foreignFormats.get(format)!;
  if (reading.hasWholeNames === true && needles !== undefined && !hasAny(bytes, needles)) return [];
  const found: ForeignLine[] = [];
  let last = { line: 0, rows: 0 };
  const take = (text: string, line: number): void => {
    last = { line, rows: line === last.line ? last.rows + 1 : 1 };
    const host = hostsIn(text).find(isWanted);
    if (host !== undefined) found.push({ line, rowInLine: last.rows - 1, text, host });
  };
  const reader = reading.open();
  let line = 1;
  for (const piece of pieces(bytes)) line = reader.read(piece, line, take);
  reader.end(take);
  return found.length === 0 ? [] : asWritten(found, bytes);
}

/** With the texts of their lines. */
function asWritten(found: readonly ForeignLine[], bytes: Uint8Array): ForeignLine[] {
  const wanted = new Set(found.map(({ line }) => line));
  const texts = new Map<number, string>();
  let line = 1;
  for (const piece of pieces(bytes))
    for (const text of splitLines(piece)) {
      if (wanted.has(line) && text.length <= LONGEST_SHOWN) texts.set(line, text);
      line++;
    }
  return found.map((one) => ({ ...one, text: texts.get(one.line) ?? one.text }));
}

/** Whole lines, so many at a time that they are a text of usual size. */
function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LF, Math.min(bytes.length, start + PIECE));
    const stop = end === -1 ? bytes.length : end + 1;
    yield bytes.subarray(start, stop);
    start = stop;
  }
}

function hasAny(bytes: Uint8Array, needles: readonly string[]): boolean {
  const latin = needles.map((needle) => lower(encodeUtf8(needle)));
  for (const piece of pieces(bytes)) {
    const text = lower(piece);
    if (latin.some((needle) => text.includes(needle))) return true;
  }
  return false;
}

/** One character per byte: a cheap way to search in any case. */
function lower(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("latin1").toLowerCase();
}
