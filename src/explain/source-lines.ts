import { Buffer } from "node:buffer";
import { domainToUnicode } from "node:url";
import { LF, bufferOf, countLineFeeds, encodeUtf8, lineEnd } from "../bytes/text.ts";
import { foreignFormats } from "../formats/readers/registry.ts";
import { splitLines } from "../formats/readers/rpz-lines.ts";
import { readFully } from "../host/files.ts";
import type { Host, OpenFile } from "../host/host.ts";
import { BLOCK_ROWS, mayHaveAny } from "../kernel/names.ts";
import { namesIn } from "../meaning/line.ts";
import { Block, type BuildRecord, type Frame, type RecordedFile } from "../record/build-record.ts";
import { Fate, hasCause, isSilent } from "../rules/fate.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { HEAD_BYTES, isUnpackedFirst, readRecorded, recordedText } from "./recorded-rows.ts";

/** A line of a source that contains a name, or one of its parents. */
interface SourceLine {
  /** Its row in the record. */
  readonly row: number;
  readonly text: string;
  /** Whether it contains the name itself, not only a parent. */
  readonly isDirect: boolean;
}

/** The lines that were found, and the files that could not be searched. */
interface FoundLines {
  /** By name; lines with the name itself come before those with a parent. */
  readonly lines: ReadonlyMap<string, readonly SourceLine[]>;
  /** Files that have changed, or that are not cached. */
  readonly unseen: readonly RecordedFile[];
}

/** Up to this many names are searched for individually; for more, every line is read once. */
const MOST_SEARCHES = 8;

interface Query {
  readonly name: string;
  readonly isDirect: boolean;
}
/** The queries by host: a host answers for itself, and for the names below it. */
type Queries = ReadonlyMap<string, readonly Query[]>;
type LinesByName = Map<string, SourceLine[]>;

/** What lines are searched for. */
interface LineSearch {
  readonly isWanted: (host: string) => boolean;
  /** Only lines with such a row are read. */
  readonly isRow?: (row: number) => boolean;
  /** Texts, one of which every wanted line contains, and the hashes of all wanted names; without them, every line is read. */
  readonly needles?: readonly string[] | undefined;
  readonly hashes?: readonly number[] | undefined;
  readonly isUnicode?: boolean;
}

/** The bytes of a file, or of a part of it. */
interface LoadedSpan {
  readonly bytes: Uint8Array;
  /** Position of the bytes in the file. */
  readonly position: number;
  /** The number of the first line. */
  readonly line: number;
  readonly isPlain: boolean;
}

/** The number of files that are read ahead while one is searched. */
const PARTS_AHEAD = 4;

/** Larger than the distance from a text to the start or the end of its line. */
const MARGIN = 512;

/** Finds the lines with certain names in the files that the list was built from. */
export class SourceLines {
  private readonly record: BuildRecord;
  private readonly cacheDir: string | undefined;
  private readonly host: Host;
  /** Reused for whole files: garbage collection of new buffers costs more than the search. */
  private readonly buffers: Uint8Array[] = [];
  private readonly framesOf: ReadonlyMap<number, readonly Frame[]>;

  constructor(record: BuildRecord, cacheDir: string | undefined, host: Host) {
    this.record = record;
    this.cacheDir = cacheDir;
    this.host = host;
    // Generated lines, such as the last empty one, have no number.
    const numbered = record.frames.filter(({ firstLine }) => firstLine > 0);
    this.framesOf = Map.groupBy(numbered, ({ file }) => file);
  }

  /** Names are in lower case and in ASCII; lines may have them in any form. */
  async find(names: readonly string[]): Promise<FoundLines> {
    const queries = queriesOf(names);
    const needles = names.length > MOST_SEARCHES ? undefined : needlesOf(names);
    // Non-ASCII letters can only be compared as text, because of upper and lower case.
    const isUnicode = needles?.some((needle) => /[^ -~]/.test(needle)) === true;
    const hosts = new Set(names.flatMap(withParents));
    const hashes = needles && Array.from(hosts, (host) => this.record.hashOf(host));
    const found: LinesByName = new Map(names.map((name) => [name, []]));
    const isWanted = (host: string): boolean => queries.has(host);
    const unseen = await this.search({ isWanted, needles, hashes, isUnicode }, (row, text, host) =>
      this.enterRow(row, text, queries.get(host) ?? [], found),
    );
    const lines = new Map<string, readonly SourceLine[]>();
    for (const [name, some] of found) lines.set(name, some.toSorted(directFirst));
    return { lines, unseen };
  }

  /** When lines were first seen, by row, for sources that keep rules. */
  async firstSeen(lines: Iterable<SourceLine>): Promise<ReadonlyMap<number, string>> {
    return await firstSeen(lines, this.record, this.cacheDir, this.host);
  }

  /**
   * Visits the lines that have a wanted name and a row of a certain kind. Returns the files that cannot be searched.
   */
  async visit(
    isWanted: (host: string) => boolean,
    isRow: (row: number) => boolean,
    take: (row: number, host: string) => void,
  ): Promise<readonly RecordedFile[]> {
    return await this.search({ isWanted, isRow }, (row, _, host) => {
      if (isRow(row)) take(row, host);
    });
  }

  private async search(
    { isWanted, isRow, needles, hashes, isUnicode }: LineSearch,
    take: (row: number, text: string, host: string) => void,
  ): Promise<readonly RecordedFile[]> {
    const unseen: RecordedFile[] = [];
    const files = [...this.record.header.files.entries()].filter(([index, { isOwn }]) => {
      const frames = isOwn === true ? undefined : this.framesOf.get(index);
      return frames !== undefined && (isRow === undefined || frames.some((one) => has(one, isRow)));
    });
    const ahead = hashes === undefined ? 1 : PARTS_AHEAD;
    const read = async ([index, file]: readonly [number, RecordedFile], at: number) => {
      // For other formats, the record has no positions in the file.
      const isAsWritten = file.format === undefined && file.feed === undefined;
      const isKnown = hashes !== undefined && isAsWritten;
      const spans = isKnown ? spansOf(this.framesOf.get(index)!, hashes) : undefined;
      return await this.read(file, spans, at % (ahead + 1));
    };
    const reads = files.slice(0, ahead).map(read);
    for (const [at, [index, file]] of files.entries()) {
      const spans = await reads[at];
      if (at + ahead < files.length) reads.push(read(files[at + ahead]!, at + ahead));
      if (spans === undefined) unseen.push(file);
      const frames = this.framesOf.get(index) ?? [];
      for (const span of spans ?? []) {
        const { bytes, isPlain } = span;
        if (file.format !== undefined) {
          const lines = foreignLines(file.format, bytes, isWanted, needles);
          for (const { line, rowInLine, host, text } of lines) {
            const row = rowsAt(line, frames)[rowInLine];
            if (row !== undefined && isWanted(host)) take(row, text, host);
          }
          continue;
        }
        const isListed = needles !== undefined && (isUnicode !== true || isPlain);
        const texts: Iterable<FoundText & { readonly line?: number }> = isListed
          ? linesWithAny(bytes, needles, isPlain)
          : allLines(bytes, isRow && marksOf(frames, isRow));
        for (const { text, start, line: counted } of texts) {
          const named = namesIn(text);
          if (!named.some(isWanted)) continue;
          const line = span.position === 0 && counted ? counted : lineAt(span, start, frames);
          const rows = this.rulesAt(line, frames);
          for (const [position, host] of named.entries()) {
            // A hosts line with several names may have a row for each, in their order.
            const row = rows.length === named.length ? rows[position] : rows[0];
            const shown = file.feed === undefined ? text : text.replace(/ #[a-z]$/, "");
            if (row !== undefined && isWanted(host)) take(row, shown, host);
          }
        }
      }
    }
    return unseen;
  }

  private rulesAt(line: number, frames: readonly Frame[]): number[] {
    return rowsAt(line, frames).filter((row) => !isSilent(this.record.fateOf(row)));
  }

  private enterRow(row: number, text: string, queries: readonly Query[], found: LinesByName): void {
    const fate = this.record.fateOf(row);
    if (isSilent(fate)) return;
    for (const { name, isDirect } of queries) {
      // A rejected line for a parent does not affect the name.
      if (!isDirect && fate !== Fate.Kept && !hasCause(fate)) continue;
      const lines = found.get(name)!;
      if (!lines.some((known) => known.row === row)) lines.push({ row, text, isDirect });
    }
  }

  private async read(
    recorded: RecordedFile,
    spans: readonly Span[] | undefined,
    buffer: number,
  ): Promise<LoadedSpan[] | undefined> {
    return await readRecorded(recorded, this.cacheDir, this.host, async (file) => {
      const head = await readFully(file, new Uint8Array(Math.min(HEAD_BYTES, file.size)), 0);
      const isAsWritten = !isUnpackedFirst(recorded, head);
      const loaded = isAsWritten ? spans && (await readSpans(file, spans)) : undefined;
      if (loaded !== undefined) return loaded;
      if (file.size > (this.buffers[buffer]?.length ?? 0))
        this.buffers[buffer] = new Uint8Array(file.size);
      const bytes = await readFully(file, this.buffers[buffer]!.subarray(0, file.size), 0);
      const text = await recordedText(recorded, bytes, this.record.header.builtAt, this.host);
      if (text === undefined) return undefined;
      return [{ bytes: text, position: 0, line: 1, isPlain: false }];
    });
  }
}

/** Undefined if a line does not begin and end within the margin. */
async function readSpans(
  file: OpenFile,
  spans: readonly Span[],
): Promise<LoadedSpan[] | undefined> {
  const loaded: LoadedSpan[] = [];
  for (const { start, end, line, isPlain } of spans) {
    const from = Math.max(0, start - MARGIN);
    const to = Math.min(file.size, end + MARGIN);
    const target = new Uint8Array(Math.max(0, to - from));
    const read = bufferOf(await readFully(file, target, from));
    const first = from === 0 && start === 0 ? 0 : read.lastIndexOf(LF, start - from - 1) + 1;
    const last = to === file.size && end >= to ? read.length : lineEnd(read, end - from);
    if (first === 0 && from > 0) return undefined;
    if (last === read.length && to < file.size) return undefined;
    const bytes = read.subarray(first, last);
    loaded.push({ bytes, position: from + first, line, isPlain });
  }
  return loaded;
}

function directFirst(a: SourceLine, b: SourceLine): number {
  return Number(b.isDirect) - Number(a.isDirect) || a.row - b.row;
}

function queriesOf(names: readonly string[]): Queries {
  const queries = names.flatMap((name) =>
    withParents(name).map((host) => ({ host, name, isDirect: host === name })),
  );
  return Map.groupBy(queries, ({ host }) => host);
}

/** The last two labels occur in every line with one of the names, or with a parent of at least two labels. */
function needlesOf(names: readonly string[]): string[] {
  const tails = names.map((name) => name.split(".").slice(-2).join("."));
  // A rule for a top-level domain contains only that label.
  const tops = names.map((name) => `||${name.split(".").at(-1)}^`);
  return [...new Set([...tails, ...tails.map((tail) => domainToUnicode(tail) || tail), ...tops])];
}

/** The rows of a line. */
function rowsAt(line: number, frames: readonly Frame[]): number[] {
  const rows: number[] = [];
  for (const { base, length, firstLine, lines } of frames) {
    if (lines === undefined) {
      if (line >= firstLine && line < firstLine + length) rows.push(base + line - firstLine);
    } else for (let at = firstAt(line, lines); lines[at] === line; at++) rows.push(base + at);
  }
  return rows;
}

function has({ base, length }: Frame, isRow: (row: number) => boolean): boolean {
  for (let row = base; row < base + length; row++) if (isRow(row)) return true;
  return false;
}

function lineOf({ base, firstLine, lines }: Frame, row: number): number {
  return lines?.[row - base] ?? firstLine + row - base;
}

/** Marks the numbers of the lines with certain rows. */
function marksOf(frames: readonly Frame[], isRow: (row: number) => boolean): Uint8Array {
  const last = frames.map((frame) => lineOf(frame, frame.base + frame.length - 1));
  const marks = new Uint8Array(Math.max(0, ...last) + 1);
  for (const frame of frames)
    for (let row = frame.base; row < frame.base + frame.length; row++)
      if (isRow(row)) marks[lineOf(frame, row)] = 1;
  return marks;
}

/** Binary search: the first index with this line or a later one. */
function firstAt(line: number, lines: Uint32Array): number {
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]! < line) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number of the line at a position, counted from the nearest preceding position in the record. */
function lineAt(
  { bytes, position, line }: LoadedSpan,
  start: number,
  frames: readonly Frame[],
): number {
  let known = { at: 0, line };
  for (const { position: frameStart, firstLine, lines, marks } of frames) {
    const mark = marks.findLast((one) => one.position <= position + start);
    const isLineStart = frameStart === 0 || bytes[frameStart - position - 1] === LF;
    const at = (mark?.position ?? (isLineStart ? frameStart : Infinity)) - position;
    if (at > start || at < known.at) continue;
    const row = mark?.row ?? 0;
    known = { at, line: row === 0 ? firstLine : (lines?.[row] ?? firstLine + row) };
  }
  return known.line + countLineFeeds(bytes, known.at, start);
}

/** A part of a file, from the text of one row to the text of another. The first and last line may be incomplete. */
interface Span {
  /** Position of the text of its first row. */
  readonly start: number;
  /** Position of the text of the row after it; infinite at the end of the file. */
  readonly end: number;
  /** Line number of its first row. */
  readonly line: number;
  /** Whether the lines that the name filters do not cover have only lower-case ASCII letters. */
  readonly isPlain: boolean;
}

/** Reading a smaller gap is faster than a second read. */
const SMALLEST_GAP = 65_536;

/** The parts of a file that may contain one of some names, by their hashes. */
function spansOf(frames: readonly Frame[], hashes: readonly number[]): Span[] {
  const spans: Span[] = [];
  const inOrder = frames.toSorted((a, b) => a.position - b.position);
  for (const [index, frame] of inOrder.entries())
    for (const span of spansIn(frame, inOrder[index + 1]?.position ?? Infinity, hashes)) {
      const last = spans.at(-1);
      if (last === undefined || span.start - last.end >= SMALLEST_GAP) spans.push(span);
      else
        spans[spans.length - 1] = {
          ...last,
          end: span.end,
          isPlain: last.isPlain && span.isPlain,
        };
    }
  return spans;
}

function* spansIn(frame: Frame, frameEnd: number, hashes: readonly number[]): Generator<Span> {
  const { marks, position, length, blocks, firstLine, lines } = frame;
  const starts = [{ row: 0, position }, ...marks];
  for (const [index, { row, position: start }] of starts.entries()) {
    const next = starts[index + 1] ?? { row: length, position: frameEnd };
    const [from, to] = [row / BLOCK_ROWS, Math.ceil(next.row / BLOCK_ROWS)];
    const about = blocks.about.subarray(from, to);
    const isWanted =
      about.some((one) => (one & Block.Nameless) !== 0) ||
      mayHaveAny(blocks.filters.slice(from, to), hashes);
    if (!isWanted) continue;
    const line = lines === undefined ? firstLine + row : lines[row]!;
    const isPlain = about.every((one) => (one & Block.OddLetters) === 0);
    yield { start, end: next.position, line, isPlain };
  }
}

/** When lines of sources that keep rules were first seen, as `2026-01-31T00:00:00.000Z`, by row. */
async function firstSeen(
  lines: Iterable<SourceLine>,
  record: BuildRecord,
  cacheDir: string | undefined,
  host: Host,
): Promise<ReadonlyMap<number, string>> {
  const { sources } = record.header;
  const bySource = Map.groupBy(lines, ({ row }) => record.fileOf(row).source);
  const found = new Map<number, string>();
  for (const [source, some] of bySource) {
    const sha256 = sources[source]?.ledger;
    if (sha256 === undefined) continue;
    await readRecorded({ source, file: "", sha256 }, cacheDir, host, async (file) => {
      const ledger = bufferOf(await readFully(file, new Uint8Array(file.size), 0));
      for (const { row, text } of some) {
        const seconds = found.has(row) ? undefined : secondsOf(text.trim(), ledger);
        if (seconds !== undefined) found.set(row, new Date(seconds * 1000).toISOString());
      }
    });
  }
  return found;
}

/** The first number of the line with this text; the file of `remember`, see `sources/kept-limits.ts`. */
function secondsOf(text: string, ledger: Buffer): number | undefined {
  const needle = encodeUtf8(` ${text}\n`);
  for (let at = ledger.indexOf(needle); at !== -1; at = ledger.indexOf(needle, at + 1)) {
    const start = ledger.lastIndexOf(LF, at) + 1;
    const [first = "", last, ...more] = ledger.toString("latin1", start, at).split(" ");
    if (last !== undefined && more.length === 0) return Number.parseInt(first, 36);
  }
  return undefined;
}

/** A rule from a file of another format, and its location. */
interface ForeignLine {
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
function foreignLines(
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
    const stop = Math.min(bytes.length, lineEnd(bytes, start + BLOCK) + 1);
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

/** A line, and the position of its first byte. */
interface FoundText {
  readonly text: string;
  readonly start: number;
}

/** All lines with their numbers, or those whose number is marked. */
function* allLines(
  bytes: Uint8Array,
  marks?: Uint8Array,
): Generator<FoundText & { readonly line: number }> {
  const buffer = bufferOf(bytes);
  let line = 1;
  for (let start = 0; start < buffer.length; line++) {
    const stop = lineEnd(buffer, start);
    if (marks === undefined || marks[line] === 1)
      yield { text: textAt(buffer, start, stop), start, line };
    start = stop + 1;
  }
}

/** Lines that contain one of a few texts. The search ignores case, unless the bytes are known to be in lower case. */
export function* linesWithAny(
  bytes: Uint8Array,
  needles: readonly string[],
  isPlain: boolean,
): Generator<FoundText> {
  const buffer = bufferOf(bytes);
  const text = isPlain ? undefined : buffer.toString("latin1").toLowerCase();
  for (const needle of needles) {
    const find = text === undefined ? finderOf(buffer, needle) : finderInAnyCase(text, needle);
    for (let at = find(0); at !== -1;) {
      const start = buffer.lastIndexOf(LF, at) + 1;
      const stop = lineEnd(buffer, at);
      yield { text: textAt(buffer, start, stop), start };
      at = stop === buffer.length ? -1 : find(stop);
    }
  }
}

function textAt(buffer: Buffer, start: number, stop: number): string {
  return buffer.toString("utf8", start, stop).replace(/\r$/, "");
}

function finderOf(buffer: Buffer, needle: string): (from: number) => number {
  const wanted = Buffer.from(needle);
  return (from) => buffer.indexOf(wanted, from);
}

/** The text is in lower case and has one character per byte, so that positions are those of the bytes. */
function finderInAnyCase(text: string, needle: string): (from: number) => number {
  const wanted = Buffer.from(needle).toString("latin1").toLowerCase();
  return (from) => text.indexOf(wanted, from);
}
