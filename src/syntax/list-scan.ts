import { CR, Class, LF } from "../bytes/ascii.ts";
import { skipBlanks } from "../bytes/blank.ts";
import type { LineScanner } from "../kernel/line-scanner.ts";
import { CHUNK_ROWS, Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { classify, maskOf } from "./classify.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";
import { BLOCK_BYTES, type TextBlock, endsLine } from "./text-block.ts";

/** Lines of a block that share one fate: all of it, or what lies between two directives. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
  /** `Fate.Live` for lines that are rules, otherwise why they are not. */
  readonly fate: Fate;
}

/** A file that is being read. */
export interface FileLines {
  readonly origin: number;
  /** Number of the line that comes next, from 1. */
  nextLine: number;
}

export interface ScanOptions {
  /** `#…` begins a comment even without a blank. */
  readonly hashComments: boolean;
  /** Leave room for the further names of hosts lines, which Compress will need. */
  readonly splitHosts: boolean;
  /** Reads ordinary lines; the others are read one by one. */
  readonly scanner: LineScanner;
}

/**
 * Turns lines into rows: one row for each line of the file, blank ones included, since each must be accounted for. LF,
 * CRLF and a lone CR end a line. Every block becomes a chunk, or several where its lines are many.
 */
export class ListScan {
  private readonly pool: ChunkPool;
  private readonly options: ScanOptions;
  private readonly emit: (chunk: Chunk) => void;
  private block: TextBlock | undefined;
  private rows: Chunk | undefined;
  /** Where in the block the chunk's bytes begin. */
  private base = 0;

  constructor(pool: ChunkPool, options: ScanOptions, emit: (chunk: Chunk) => void) {
    this.pool = pool;
    this.options = options;
    this.emit = emit;
  }

  /** Line by line where the file is trimmed or the kernel gives up, by the kernel everywhere else. */
  read(file: FileLines, block: TextBlock, { start, end, fate }: LineRange): void {
    if (this.block !== block) this.flush();
    this.block = block;
    const wholeLinesEnd = block.isLast ? lastLineOf(block) : block.bytes.length;
    let at = start;
    while (at < end) {
      if (at >= block.listStart && at < wholeLinesEnd) {
        const reached = this.readLines(file, at, Math.min(end, wholeLinesEnd), fate);
        if (reached > at) {
          at = reached;
          continue;
        }
      }
      at = this.readLine(file, block, at, end, fate);
    }
  }

  /** Hands on what was gathered. To be called at the end, and before another file stands in between. */
  flush(): void {
    const { rows } = this;
    this.rows = undefined;
    if (rows === undefined) return;
    const textEnd = rows.length === 0 ? 0 : rows.end[rows.length - 1]!;
    if (rows.length * 2 < rows.capacity || textEnd * 2 < rows.byteCount) rows.shrink();
    this.emit(rows);
  }

  /** A chunk with room for another row; a new one holds lines of the block from `at` on. */
  private roomAt(origin: number, at: number): Chunk {
    const { rows } = this;
    if (rows !== undefined && rows.length < rows.capacity && at < this.base + rows.byteCount)
      return rows;
    return this.newChunk(origin, at, chunkEnd(this.block!.bytes, at));
  }

  /** `least` is the number of rows that are known to be needed. */
  private newChunk(origin: number, at: number, end: number, least = 0): Chunk {
    this.flush();
    const { scanner, splitHosts, hashComments } = this.options;
    const text = this.block!.bytes.subarray(at, end);
    const capacityOf = (bytesAt: number): number => {
      if (least > 0) return Math.min(CHUNK_ROWS, least);
      return Math.min(CHUNK_ROWS, scanner.countLines(bytesAt, text.length, splitHosts) + 4);
    };
    const chunk = this.pool.add(
      new Chunk(this.pool.arena, origin, text, { capacity: capacityOf, hashComments }),
    );
    chunk.position = this.block!.position + at;
    this.base = at;
    this.rows = chunk;
    return chunk;
  }

  private readLines(file: FileLines, from: number, to: number, fate: Fate): number {
    const rows = this.roomAt(file.origin, from);
    const { base } = this;
    const count = rows.length;
    const range = {
      from: from - base,
      to: Math.min(to - base, rows.byteCount),
      fate,
      splits: this.options.splitHosts,
    };
    const reached = this.options.scanner.read(rows, range, file.nextLine);
    file.nextLine += rows.length - count;
    this.classifyUnknown(rows, count);
    return reached + base;
  }

  /** Rows that the kernel left to us, counted from `first`. */
  private classifyUnknown(rows: Chunk, first: number): void {
    const { unknown, masks } = this.options.scanner;
    for (const index of unknown) classify(rows, first + index, masks[index]!);
  }

  /** Reads one line, whatever it is, and returns where the next begins. */
  // oxlint-disable-next-line max-params -- numbers, not objects, in a loop over rows
  private readLine(
    file: FileLines,
    { bytes, listStart, listEnd }: TextBlock,
    from: number,
    end: number,
    fate: Fate,
  ): number {
    let at = from;
    while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++;
    const next =
      at < end && bytes[at] === CR && at + 1 < end && bytes[at + 1] === LF ? at + 2 : at + 1;
    const lineStart = Math.min(Math.max(from, listStart), at);
    const lineEnd = Math.max(Math.min(at, listEnd), lineStart);
    const rows = this.roomAt(file.origin, from);
    const row = rows.push(lineStart - this.base, lineEnd - this.base, file.nextLine++);
    rows.fate[row] = lineStart === lineEnd ? Fate.Blank : fate;
    if (lineStart === lineEnd) return next;
    const mask = maskOf(bytes, lineStart, lineEnd);
    classify(rows, row, mask);
    if (this.options.splitHosts && hasSeveralNames(rows, row, mask)) this.addSpareRows(file, rows);
    return next;
  }

  /** One spare row for each further name of the hosts line that was just classified. Compress fills them. */
  private addSpareRows({ origin, nextLine }: FileLines, head: Chunk): void {
    // Another chunk has the line's bytes at other places, so names are counted from the start of the block.
    const { base } = this;
    const first = { nameStart: hostsLine.nameStart, nameEnd: hostsLine.nameEnd };
    let left = 0;
    while (nextName(head.bytes)) left++;
    Object.assign(hostsLine, first);
    for (; nextName(head.bytes); left--) {
      const start = hostsLine.nameStart + base;
      const end = hostsLine.nameEnd + base;
      let rows = this.rows!;
      if (rows.length === rows.capacity) {
        rows.spareBeyond = left;
        const count = Math.min(left, CHUNK_ROWS);
        rows = this.newChunk(origin, start, endOfNames(head, count) + base, count);
      }
      const spare = rows.push(start - this.base, end - this.base, nextLine - 1);
      rows.fate[spare] = Fate.Spare;
      rows.flags[spare] = Flag.Continued;
      rows.has.otherRows = true;
    }
  }
}

/** Where the names of the hosts line end of which so many, from the one at hand on, are to stand in a chunk. */
function endOfNames({ bytes }: Chunk, count: number): number {
  const { nameStart, nameEnd } = hostsLine;
  for (let name = 1; name < count; name++) nextName(bytes);
  const end = hostsLine.nameEnd;
  Object.assign(hostsLine, { nameStart, nameEnd });
  return end;
}

/** A chunk of a block that grew, because its lines are very long or blank, holds no more than others, but whole lines. */
function chunkEnd(bytes: Uint8Array, at: number): number {
  if (bytes.length - at <= BLOCK_BYTES * 2) return bytes.length;
  let end = at + BLOCK_BYTES;
  while (end > at && !endsLine(bytes, end)) end--;
  if (end > at) return end;
  end = at + BLOCK_BYTES;
  while (end < bytes.length && !endsLine(bytes, end)) end++;
  return end;
}

/** Where the last line of the list begins; it may lack its end, and is read apart. */
function lastLineOf({ bytes, listEnd }: TextBlock): number {
  return bytes.lastIndexOf(LF, Math.max(0, listEnd - 1)) + 1;
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
