import { domainToUnicode } from "node:url";
import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { bufferOf } from "../bytes/search.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import type { RecordedFile } from "../record/record-format.ts";
import { Fate, hasCause, isSilent } from "../rules/fate.ts";
import { withParents } from "../syntax/parents.ts";
import { type Span, spansOf } from "./file-spans.ts";
import { foreignLines } from "./foreign-lines.ts";
import { hostsIn } from "./line-names.ts";
import { openRecorded } from "./open-recorded.ts";
import { type FoundText, allLines, linesWithAny } from "./matching-lines.ts";

/** A line of a source that names a name, or one of its parents. */
export interface SourceLine {
  /** Number of its row in the record. */
  readonly row: number;
  readonly text: string;
  /** Whether it names the name itself, not a parent. */
  readonly isOwn: boolean;
}

/** What was found in the files of the sources, and which of them could not be looked at. */
export interface FoundLines {
  /** By name; the name's own lines first. */
  readonly lines: ReadonlyMap<string, readonly SourceLine[]>;
  /** Files that changed since, or of which no copy is kept. */
  readonly unseen: readonly RecordedFile[];
}

/** For up to this many names, files are searched for each; for more, every line is read once. */
const MOST_SEARCHES = 8;

interface Asker {
  readonly name: string;
  readonly isOwn: boolean;
}
/** Who wants to know about a host: names that it is, or is a parent of. */
type Askers = ReadonlyMap<string, readonly Asker[]>;

/** Lines of a file, all or some. */
interface Piece {
  readonly bytes: Uint8Array;
  /** Where its bytes begin in the file. */
  readonly position: number;
  /** Number of its first line. */
  readonly line: number;
  readonly isPlain: boolean;
}

/** Files of which parts are read while those of one are searched. */
const PARTS_AHEAD = 4;

/** More than a line of a list has before its text, or from one text to the end of its line. */
const MARGIN = 512;

/** Looks for lines that name certain names, in the very files that the list was made from. */
export class SourceLines {
  private readonly record: BuildRecord;
  private readonly cacheDir: string | undefined;
  private readonly host: Host;
  /** For whole files, one searched while others are read: new ones cost more in garbage than the search. */
  private readonly buffers: Uint8Array[] = [];
  private readonly framesOf = new Map<number, Frame[]>();

  constructor(record: BuildRecord, cacheDir: string | undefined, host: Host) {
    this.record = record;
    this.cacheDir = cacheDir;
    this.host = host;
    for (const frame of record.frames) {
      // Lines of ours, such as the last empty one, have no number.
      if (frame.firstLine === 0) continue;
      const known = this.framesOf.get(frame.file);
      if (known === undefined) this.framesOf.set(frame.file, [frame]);
      else known.push(frame);
    }
  }

  /** Names are in lower case, and in ASCII; lines may have them in any form. */
  async find(names: readonly string[]): Promise<FoundLines> {
    const askers = askersOf(names);
    const needles = names.length > MOST_SEARCHES ? undefined : needlesOf(names);
    // Letters that are not ASCII, in any case, can only be looked for in text.
    const isForeign = needles?.some((needle) => /[^ -~]/.test(needle)) === true;
    const hosts = new Set(names.flatMap(withParents));
    const hashes = needles && Array.from(hosts, (host) => this.record.hashOf(host));
    const found = new Map<string, SourceLine[]>(names.map((name) => [name, []]));
    const unseen: RecordedFile[] = [];
    const files = [...this.record.header.files.entries()].filter(
      ([index, { isOwn }]) => this.framesOf.has(index) && isOwn !== true,
    );
    const ahead = hashes === undefined ? 1 : PARTS_AHEAD;
    const read = async ([index, file]: readonly [number, RecordedFile], at: number) => {
      // Of another format the record knows where texts of rows are, not lines.
      const isKnown = hashes !== undefined && file.format === undefined;
      const spans = isKnown ? spansOf(this.framesOf.get(index)!, hashes) : undefined;
      return await this.read(file, spans, at % (ahead + 1));
    };
    const reads = files.slice(0, ahead).map(read);
    for (const [at, [index, file]] of files.entries()) {
      const pieces = await reads[at];
      if (at + ahead < files.length) reads.push(read(files[at + ahead]!, at + ahead));
      if (pieces === undefined) unseen.push(file);
      for (const piece of pieces ?? []) {
        const { bytes, isPlain } = piece;
        if (file.format !== undefined) {
          const lines = foreignLines(file.format, bytes, (host) => askers.has(host), needles);
          for (const { line, rowInLine, host, text } of lines) {
            const row = rowsAt(line, this.framesOf.get(index) ?? [])[rowInLine];
            if (row !== undefined) this.enterRow(row, text, askers.get(host) ?? [], found);
          }
          continue;
        }
        const texts =
          needles === undefined || (isForeign && !isPlain)
            ? allLines(bytes)
            : linesWithAny(bytes, needles, isPlain);
        for (const text of texts) this.enter(index, piece, text, askers, found);
      }
    }
    const lines = new Map<string, readonly SourceLine[]>();
    for (const [name, some] of found) lines.set(name, some.toSorted(byOwnThenRow));
    return { lines, unseen };
  }

  private enter(
    file: number,
    piece: Piece,
    { text, start }: FoundText,
    askers: Askers,
    found: Map<string, SourceLine[]>,
  ): void {
    const hosts = hostsIn(text);
    if (!hosts.some((host) => askers.has(host))) return;
    const frames = this.framesOf.get(file) ?? [];
    const line = lineAt(piece, start, frames);
    const rows = rowsAt(line, frames).filter((row) => !isSilent(this.record.fateOf(row)));
    for (const [index, host] of hosts.entries()) {
      // A hosts line of several names may have a row for each, in their order.
      const row = rows.length === hosts.length ? rows[index] : rows[0];
      if (row !== undefined) this.enterRow(row, text, askers.get(host) ?? [], found);
    }
  }

  private enterRow(
    row: number,
    text: string,
    askers: readonly Asker[],
    found: Map<string, SourceLine[]>,
  ): void {
    const fate = this.record.fateOf(row);
    if (isSilent(fate)) return;
    for (const { name, isOwn } of askers) {
      // A parent that had no rule does not count.
      if (!isOwn && fate !== Fate.Live && !hasCause(fate)) continue;
      const lines = found.get(name)!;
      if (!lines.some((known) => known.row === row)) lines.push({ row, text, isOwn });
    }
  }

  private async read(
    recorded: RecordedFile,
    spans: readonly Span[] | undefined,
    buffer: number,
  ): Promise<Piece[] | undefined> {
    let file: OpenFile | undefined;
    try {
      file = await openRecorded(recorded, this.cacheDir, this.host);
      if (file === undefined) return undefined;
      const pieces = spans && (await readSpans(file, spans));
      if (pieces !== undefined) return pieces;
      if (file.size > (this.buffers[buffer]?.length ?? 0))
        this.buffers[buffer] = new Uint8Array(file.size);
      const bytes = await readFully(file, this.buffers[buffer]!.subarray(0, file.size), 0);
      return [{ bytes, position: 0, line: 1, isPlain: false }];
    } catch (error) {
      if (error instanceof HostError) return undefined;
      throw error;
    } finally {
      await file?.close();
    }
  }
}

/** Undefined when where lines begin and end is not in sight. */
async function readSpans(file: OpenFile, spans: readonly Span[]): Promise<Piece[] | undefined> {
  const pieces: Piece[] = [];
  for (const { start, end, line, isPlain } of spans) {
    const from = Math.max(0, start - MARGIN);
    const to = Math.min(file.size, end + MARGIN);
    const room = new Uint8Array(Math.max(0, to - from));
    const read = bufferOf(await readFully(file, room, from));
    const first = from === 0 && start === 0 ? 0 : read.lastIndexOf(LF, start - from - 1) + 1;
    const last = to === file.size && end >= to ? read.length : read.indexOf(LF, end - from);
    if (first === 0 && from > 0) return undefined;
    if (last === -1 && to < file.size) return undefined;
    const bytes = read.subarray(first, last === -1 ? read.length : last);
    pieces.push({ bytes, position: from + first, line, isPlain });
  }
  return pieces;
}

function byOwnThenRow(a: SourceLine, b: SourceLine): number {
  return Number(b.isOwn) - Number(a.isOwn) || a.row - b.row;
}

function askersOf(names: readonly string[]): Askers {
  const askers = new Map<string, { name: string; isOwn: boolean }[]>();
  for (const name of names)
    for (const parent of withParents(name))
      for (const form of new Set([parent, domainToUnicode(parent) || parent])) {
        const known = askers.get(form);
        const asker = { name, isOwn: parent === name };
        if (known === undefined) askers.set(form, [asker]);
        else known.push(asker);
      }
  return askers;
}

/** What stands in every line that names one of these or a parent of two labels: the last two labels. */
function needlesOf(names: readonly string[]): string[] {
  const tails = names.map((name) => name.split(".").slice(-2).join("."));
  // A rule for a top-level name has nothing but that name.
  const tops = names.map((name) => `||${name.split(".").at(-1)}^`);
  return [...new Set([...tails, ...tails.map((tail) => domainToUnicode(tail) || tail), ...tops])];
}

/** Rows that were read from a line. */
function rowsAt(line: number, frames: readonly Frame[]): number[] {
  const rows: number[] = [];
  for (const { base, length, firstLine, lines } of frames) {
    if (lines === undefined) {
      if (line >= firstLine && line < firstLine + length) rows.push(base + line - firstLine);
    } else
      for (let at = lines.indexOf(line); at !== -1 && lines[at] === line; at++)
        rows.push(base + at);
  }
  return rows;
}

/** The number of the line that begins at a byte, counted from the nearest place before it that the record knows. */
function lineAt({ bytes, position, line }: Piece, start: number, frames: readonly Frame[]): number {
  let known = { at: 0, line };
  for (const { position: place, firstLine, lines, marks } of frames) {
    const mark = marks.findLast((one) => one.position <= position + start);
    const isLineStart = place === 0 || bytes[place - position - 1] === LF;
    const at = (mark?.position ?? (isLineStart ? place : Infinity)) - position;
    if (at > start || at < known.at) continue;
    const row = mark?.row ?? 0;
    known = { at, line: row === 0 ? firstLine : (lines?.[row] ?? firstLine + row) };
  }
  return known.line + countLineFeeds(bytes, known.at, start);
}
