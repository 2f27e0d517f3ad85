import { domainToUnicode } from "node:url";
import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { bufferOf } from "../bytes/search.ts";
import type { Host, OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import { namesIn } from "../meaning/line.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import type { RecordedFile } from "../record/record-format.ts";
import { Fate, hasCause, isSilent } from "../rules/fate.ts";
import { withParents } from "../syntax/parents.ts";
import { type Span, spansOf } from "./file-spans.ts";
import { firstSeen } from "./first-seen.ts";
import { foreignLines } from "./foreign-lines.ts";
import { readRecorded } from "./read-recorded.ts";
import { HEAD_BYTES, isUnpackedFirst, recordedText } from "./recorded-text.ts";
import { type FoundText, allLines, linesWithAny } from "./matching-lines.ts";

/** A line of a source that contains a name, or one of its parents. */
export interface SourceLine {
  /** Its row in the record. */
  readonly row: number;
  readonly text: string;
  /** Whether it contains the name itself, not only a parent. */
  readonly isDirect: boolean;
}

/** The lines that were found, and the files that could not be searched. */
export interface FoundLines {
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
type Found = Map<string, SourceLine[]>;

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
    const found: Found = new Map(names.map((name) => [name, []]));
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

  private enterRow(row: number, text: string, queries: readonly Query[], found: Found): void {
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
    const last = to === file.size && end >= to ? read.length : read.indexOf(LF, end - from);
    if (first === 0 && from > 0) return undefined;
    if (last === -1 && to < file.size) return undefined;
    const bytes = read.subarray(first, last === -1 ? read.length : last);
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
