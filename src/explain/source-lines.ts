import { Buffer } from "node:buffer";
import { join } from "node:path";
import { domainToUnicode } from "node:url";
import { LF } from "../bytes/ascii.ts";
import { countLineFeeds } from "../bytes/count-lines.ts";
import { bufferOf } from "../bytes/search.ts";
import { type Host, HostError, type OpenFile } from "../host/host.ts";
import type { BuildRecord, Frame } from "../record/build-record.ts";
import type { RecordedFile } from "../record/record-format.ts";
import { lineReaders } from "../formats/line-readers.ts";
import { Fate, hasCause, isSilent } from "../rules/fate.ts";
import { withParents } from "../syntax/parents.ts";
import { type Span, hashesIn, spansOf } from "./file-spans.ts";
import { hostsIn } from "./line-names.ts";
import { readPart } from "./read-part.ts";

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

/** Who wants to know about a host: names that it is, or is a parent of. */
type Askers = ReadonlyMap<string, readonly { readonly name: string; readonly isOwn: boolean }[]>;

interface FoundText {
  readonly text: string;
  readonly start: number;
}

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
  private readonly cacheFolder: string | undefined;
  private readonly host: Host;
  /** For whole files, one searched while others are read: new ones cost more in garbage than the search. */
  private readonly buffers: Uint8Array[] = [];
  private readonly framesOf = new Map<number, Frame[]>();

  constructor(record: BuildRecord, cacheFolder: string | undefined, host: Host) {
    this.record = record;
    this.cacheFolder = cacheFolder;
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
    const hashes = needles && hashesIn(this.record, new Set(names.flatMap(withParents)));
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
        // Letters that are not ASCII, in any case, can only be looked for in text.
        const isText = !isPlain && needles?.some((needle) => /[^ -~]/.test(needle));
        const texts =
          needles === undefined || isText ? allLines(bytes) : linesWithAny(bytes, needles, isPlain);
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
    const { format } = this.record.header.files[file]!;
    const reader = format === undefined ? undefined : lineReaders.get(format);
    const hosts = hostsIn(reader === undefined ? text : reader(text, "", ""));
    if (!hosts.some((host) => askers.has(host))) return;
    const frames = this.framesOf.get(file) ?? [];
    const { record } = this;
    // Marks are places in the text of rows.
    const line = lineAt(piece, start, format === undefined ? frames : []);
    const rows = rowsAt(line, frames).filter((row) => !isSilent(record.fateOf(row)));
    for (const [index, host] of hosts.entries()) {
      // A hosts line of several names may have a row for each, in their order.
      const row = rows.length === hosts.length ? rows[index] : rows[0];
      if (row === undefined) continue;
      const fate = record.fateOf(row);
      for (const { name, isOwn } of askers.get(host) ?? []) {
        // Of a parent, what was no rule is no matter.
        if (!isOwn && fate !== Fate.Live && !hasCause(fate)) continue;
        const lines = found.get(name)!;
        if (!lines.some((known) => known.row === row)) lines.push({ row, text, isOwn });
      }
    }
  }

  private async read(
    { path, stamp, sha256 }: RecordedFile,
    spans: readonly Span[] | undefined,
    buffer: number,
  ): Promise<Piece[] | undefined> {
    const { cacheFolder } = this;
    if (path === undefined && (sha256 === undefined || cacheFolder === undefined)) return undefined;
    let file: OpenFile | undefined;
    try {
      file = await this.host.openFile(path ?? join(cacheFolder!, "objects", sha256!));
      if (path !== undefined && file.stamp.text !== stamp) return undefined;
      const pieces = spans && (await readSpans(file, spans));
      if (pieces !== undefined) return pieces;
      if (file.size > (this.buffers[buffer]?.length ?? 0))
        this.buffers[buffer] = new Uint8Array(file.size);
      const bytes = await readPart(file, 0, file.size, this.buffers[buffer]);
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
    const read = bufferOf(await readPart(file, from, to));
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
  const known = { at: 0, line };
  const offer = (place: number, number: number): void => {
    const at = place - position;
    if (at > start || at < known.at) return;
    known.at = at;
    known.line = number;
  };
  for (const { position: place, firstLine, lines, marks } of frames) {
    if (place > position + start) continue;
    if (place === 0 || bytes[place - position - 1] === LF) offer(place, firstLine);
    const mark = marks.findLast((one) => one.position <= position + start);
    if (mark !== undefined) offer(mark.position, lines?.[mark.row] ?? firstLine + mark.row);
  }
  return known.line + countLineFeeds(bytes, known.at, start);
}

function* allLines(bytes: Uint8Array): Generator<FoundText> {
  const buffer = bufferOf(bytes);
  for (let start = 0; start < buffer.length;) {
    const end = buffer.indexOf(LF, start);
    const stop = end === -1 ? buffer.length : end;
    yield { text: textAt(buffer, start, stop), start };
    start = stop + 1;
  }
}

/** Lines in which one of a few texts stands; in any case, unless they are known to have small letters only. */
function* linesWithAny(
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
      const end = buffer.indexOf(LF, at);
      const stop = end === -1 ? buffer.length : end;
      yield { text: textAt(buffer, start, stop), start };
      at = end === -1 ? -1 : find(stop);
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

/** The text has one character a byte, in lower case: positions are those of the bytes. */
function finderInAnyCase(text: string, needle: string): (from: number) => number {
  const wanted = Buffer.from(needle).toString("latin1").toLowerCase();
  return (from) => text.indexOf(wanted, from);
}
