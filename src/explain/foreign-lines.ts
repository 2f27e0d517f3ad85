import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { splitLines } from "../formats/readers/line-by-line.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { namesIn } from "../meaning/line.ts";

/** A rule from a file of another format, and its location. */
export interface ForeignLine {
  readonly line: number;
  /** Index among the rows of the line. */
  readonly rowInLine: number;
  readonly text: string;
  readonly host: string;
}

/** Longer lines, such as a document in one line, are not shown. */
const LONGEST_SHOWN = 1000;
const BLOCK = 1024 * 1024;

/**
 * Finds the rules for certain names in a file of another format. It reads the whole file, as the compiler did, because the meaning
 * of a line may depend on the lines before it. Every wanted line contains one of the `needles`.
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
    const host = namesIn(text).find(isWanted);
    if (host !== undefined) found.push({ line, rowInLine: last.rows - 1, text, host });
  };
  const reader = reading.open();
  let line = 1;
  for (const block of lineBlocks(bytes)) line = reader.read(block, line, take);
  reader.end(take);
  return found.length === 0 ? [] : withTexts(found, bytes);
}

/** Adds the original texts of the lines. */
function withTexts(found: readonly ForeignLine[], bytes: Uint8Array): ForeignLine[] {
  const wanted = new Set(found.map(({ line }) => line));
  const texts = new Map<number, string>();
  let line = 1;
  for (const block of lineBlocks(bytes))
    for (const text of splitLines(block)) {
      if (wanted.has(line) && text.length <= LONGEST_SHOWN) texts.set(line, text);
      line++;
    }
  return found.map((one) => ({ ...one, text: texts.get(one.line) ?? one.text }));
}

/** Blocks of complete lines, small enough to become strings. */
function* lineBlocks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LF, Math.min(bytes.length, start + BLOCK));
    const stop = end === -1 ? bytes.length : end + 1;
    yield bytes.subarray(start, stop);
    start = stop;
  }
}

function hasAny(bytes: Uint8Array, needles: readonly string[]): boolean {
  const latin = needles.map((needle) => lower(encodeUtf8(needle)));
  for (const block of lineBlocks(bytes)) {
    const text = lower(block);
    if (latin.some((needle) => text.includes(needle))) return true;
  }
  return false;
}

/** One character per byte: a cheap case-insensitive search. */
function lower(bytes: Uint8Array): string {
  return bufferOf(bytes).toString("latin1").toLowerCase();
}
