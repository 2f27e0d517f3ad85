import { CR, Class, LF } from "../bytes/ascii.ts";
import { skipBlanks, skipBlanksBack } from "../bytes/blank.ts";
import type { LineScanner } from "../kernel/line-scanner.ts";
import { CHUNK_ROWS, type Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import { classify, maskOf } from "./classify.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";

/** A stretch of a file's lines that share one fate: all of it, or what lies between two directives. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  /** Number of the stretch's first line in the file, from 1. */
  readonly firstLine: number;
  /** `Fate.Live` for lines that are rules, otherwise why they are not. */
  readonly fate: Fate;
}

export interface ScanOptions {
  readonly origin: number;
  /** `#…` begins a comment even without a blank. */
  readonly hashComments: boolean;
  /** Leave room for the further names of hosts lines, which Compress will need. */
  readonly splitHosts: boolean;
  /** Reads ordinary lines faster; without it every line is read one by one, with the same result. */
  readonly scanner?: LineScanner | undefined;
}

/**
 * Turns the lines of a stretch into rows at the end of `rules`: one row for each line of the file, blank ones included,
 * since each must be accounted for. LF, CRLF and a lone CR end a line. The file counts as trimmed: blank lines at its
 * ends and blanks before its first and after its last rule are not part of the list.
 */
export function scan(
  rules: RuleTable,
  bytes: Uint8Array,
  stretch: Stretch,
  options: ScanOptions,
): void {
  new StretchScan(rules, bytes, stretch, options).run();
}

class StretchScan {
  private readonly rules: RuleTable;
  private readonly bytes: Uint8Array;
  private readonly stretch: Stretch;
  private readonly options: ScanOptions;
  private readonly extent: Extent;
  private chunk: Chunk | undefined;
  private line: number;

  constructor(rules: RuleTable, bytes: Uint8Array, stretch: Stretch, options: ScanOptions) {
    this.rules = rules;
    this.bytes = bytes;
    this.stretch = stretch;
    this.options = options;
    this.line = stretch.firstLine;
    this.extent = extentOf(bytes);
  }

  /** Line by line where the file is trimmed or the kernel gives up, by the kernel everywhere else. */
  run(): void {
    const { start, end } = this.stretch;
    const { listStart, lastLine } = this.extent;
    let at = start;
    while (at < end) {
      if (at >= listStart && at < lastLine && this.options.scanner !== undefined) {
        const reached = this.readBlock(this.options.scanner, at, Math.min(end, lastLine));
        if (reached > at) {
          at = reached;
          continue;
        }
      }
      at = this.readLine(at);
    }
  }

  private readBlock(scanner: LineScanner, from: number, to: number): number {
    const { stretch, options } = this;
    const chunk = this.roomAt(from);
    const base = chunk.length;
    const reached = scanner.read(chunk, from, to, this.line, stretch.fate, options.splitHosts);
    this.line += chunk.length - base;
    const { unknown, masks } = scanner;
    for (const index of unknown) classify(chunk, base + index, masks[index]!);
    return reached;
  }

  /** Reads one line, whatever it is, and returns where the next begins. */
  private readLine(from: number): number {
    const { bytes } = this;
    const { listStart, listEnd } = this.extent;
    const { end, fate } = this.stretch;
    let at = from;
    while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++;
    const next =
      at < end && bytes[at] === CR && at + 1 < end && bytes[at + 1] === LF ? at + 2 : at + 1;
    const lineStart = Math.min(Math.max(from, listStart), at);
    const lineEnd = Math.max(Math.min(at, listEnd), lineStart);
    const chunk = this.roomAt(from);
    const row = chunk.push(lineStart, lineEnd, this.line++);
    chunk.fate[row] = lineStart === lineEnd ? Fate.Blank : fate;
    if (lineStart === lineEnd) return next;
    const mask = maskOf(bytes, lineStart, lineEnd);
    classify(chunk, row, mask);
    if (this.options.splitHosts && hasSeveralNames(chunk, row, mask))
      this.chunk = addSpareRows(this.rules, chunk, row, this.options);
    return next;
  }

  /** A chunk that has room for the row at this position. */
  private roomAt(position: number): Chunk {
    const { rules, bytes, options } = this;
    // Stretches of one file share chunks: a file of directives is a row of very short ones.
    this.chunk ??= rules.chunks.at(-1);
    const { chunk } = this;
    if (chunk?.origin === options.origin && chunk.bytes === bytes && chunk.length < chunk.capacity)
      return chunk;
    this.chunk = addChunk(rules, bytes, this.stretch.end - position, options);
    return this.chunk;
  }
}

/** Where a file's list begins and ends, blanks left aside, and where its last line begins. */
interface Extent {
  readonly listStart: number;
  readonly listEnd: number;
  readonly lastLine: number;
}

/** Found once a file: it may fall into thousands of stretches and end in a megabyte of blanks. */
const extents = new WeakMap<Uint8Array, Extent>();

function extentOf(bytes: Uint8Array): Extent {
  let extent = extents.get(bytes);
  if (extent === undefined) {
    const listStart = skipBlanks(bytes, 0, bytes.length);
    const listEnd = skipBlanksBack(bytes, listStart, bytes.length);
    const lastLine = bytes.lastIndexOf(LF, Math.max(0, listEnd - 1)) + 1;
    extent = { listStart, listEnd, lastLine };
    extents.set(bytes, extent);
  }
  return extent;
}

/** Room for the lines that `left` bytes may hold, at eight bytes a line; when that proves too little, another chunk follows. */
function addChunk(rules: RuleTable, bytes: Uint8Array, left: number, options: ScanOptions): Chunk {
  const capacity = Math.min(CHUNK_ROWS, Math.max((left >>> 3) + 4, Math.min(1024, bytes.length)));
  const chunk = rules.pool.addChunk(options.origin, bytes, capacity, options.hashComments);
  rules.chunks.push(chunk);
  return chunk;
}

/** An indented hosts line becomes one when it is trimmed; it needs room too. Leaves `hostsLine` at its first name. */
function hasSeveralNames(chunk: Chunk, row: number, mask: number): boolean {
  if ((chunk.flags[row]! & Flag.SeveralNames) !== 0) return true;
  if (chunk.kind[row] !== Kind.Rule || (mask & (Class.Blank | Class.NonAscii)) === 0) return false;
  const { bytes } = chunk;
  const end = chunk.end[row]!;
  const start = skipBlanks(bytes, chunk.start[row]!, end);
  if (start === chunk.start[row] || !readHostsLine(bytes, start, end)) return false;
  return hostsLine.nameEnd < hostsLine.namesEnd;
}

/** One spare row for each further name of the hosts line that was just classified. Compress fills them. */
function addSpareRows(rules: RuleTable, head: Chunk, row: number, options: ScanOptions): Chunk {
  let chunk = head;
  const { bytes } = head;
  const line = head.line[row]!;
  while (nextName(bytes)) {
    if (chunk.length === chunk.capacity)
      chunk = addChunk(rules, bytes, hostsLine.namesEnd - hostsLine.nameStart, options);
    const spare = chunk.push(hostsLine.nameStart, hostsLine.nameEnd, line);
    chunk.fate[spare] = Fate.Spare;
    chunk.flags[spare] = Flag.Continued;
  }
  return chunk;
}
