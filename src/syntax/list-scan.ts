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

/** Lines of a block that share one fate: the whole block, or the lines between two directives. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
  /** `Fate.Kept` for lines that are rules, otherwise the reason why they are not. */
  readonly fate: Fate;
}

export interface FileLines {
  readonly origin: number;
  /** Number of the next line, from 1. */
  nextLine: number;
}

export interface ScanOptions {
  /** `#…` begins a comment even without a blank after `#`. */
  readonly hashComments: boolean;
  /** Reserve rows for the further names of hosts lines, which Compress needs. */
  readonly splitHosts: boolean;
  /** Reads ordinary lines; `ListScan` reads the others one by one. */
  readonly scanner: LineScanner;
}

/**
 * Converts lines to rows: one row per line of the file, including blank lines, because the report accounts for every line.
 * LF, CRLF and a lone CR end a line. Each block becomes one chunk, or several if it has many lines.
 */
export class ListScan {
  private readonly pool: ChunkPool;
  private readonly options: ScanOptions;
  private readonly emit: (chunk: Chunk) => void;
  private block: TextBlock | undefined;
  private rows: Chunk | undefined;
  /** Where the chunk's bytes begin in the block. */
  private base = 0;

  constructor(pool: ChunkPool, options: ScanOptions, emit: (chunk: Chunk) => void) {
    this.pool = pool;
    this.options = options;
    this.emit = emit;
  }

  /** Uses the kernel, except for trimmed parts of the file and for lines that the kernel cannot read. */
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

  /** Emits the current chunk. Must be called at the end, and before an included file. */
  flush(): void {
    const { rows } = this;
    this.rows = undefined;
    if (rows === undefined) return;
    const textEnd = rows.length === 0 ? 0 : rows.end[rows.length - 1]!;
    if (rows.length * 2 < rows.capacity || textEnd * 2 < rows.byteCount) rows.shrink();
    this.emit(rows);
  }

  /** A chunk with room for another row. A new chunk holds lines of the block from `at` on. */
  private roomAt(origin: number, at: number): Chunk {
    const { rows } = this;
    if (rows !== undefined && rows.length < rows.capacity && at < this.base + rows.byteCount)
      return rows;
    return this.newChunk(origin, at, chunkEnd(this.block!.bytes, at));
  }

  /** `least` is the minimum number of rows, if it is known. */
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

  /** Classifies the rows that the kernel skipped, counted from `first`. */
  private classifyUnknown(rows: Chunk, first: number): void {
    const { unknown, masks } = this.options.scanner;
    for (const index of unknown) classify(rows, first + index, masks[index]!);
  }

  /** Reads any line and returns where the next one begins. */
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

  /** Adds a spare row for each further name of the hosts line that was just classified. Compress fills them. */
  private addSpareRows({ origin, nextLine }: FileLines, head: Chunk): void {
    // Offsets differ between chunks, so names are counted from the start of the block.
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

/** Where the last of `count` names of the hosts line ends, counted from the current one. */
function endOfNames({ bytes }: Chunk, count: number): number {
  const { nameStart, nameEnd } = hostsLine;
  for (let name = 1; name < count; name++) nextName(bytes);
  const end = hostsLine.nameEnd;
  Object.assign(hostsLine, { nameStart, nameEnd });
  return end;
}

/** Very long or blank lines make a block grow. This splits it at line ends into chunks of the usual size. */
function chunkEnd(bytes: Uint8Array, at: number): number {
  if (bytes.length - at <= BLOCK_BYTES * 2) return bytes.length;
  let end = at + BLOCK_BYTES;
  while (end > at && !endsLine(bytes, end)) end--;
  if (end > at) return end;
  end = at + BLOCK_BYTES;
  while (end < bytes.length && !endsLine(bytes, end)) end++;
  return end;
}

/** Where the last line of the list begins. It may lack a line ending, so it is read separately. */
function lastLineOf({ bytes, listEnd }: TextBlock): number {
  return bytes.lastIndexOf(LF, Math.max(0, listEnd - 1)) + 1;
}

/** Also true for an indented hosts line: it becomes one after trimming. Leaves `hostsLine` at its first name. */
function hasSeveralNames(chunk: Chunk, row: number, mask: number): boolean {
  if ((chunk.flags[row]! & Flag.SeveralNames) !== 0) return true;
  if (chunk.kind[row] !== Kind.Rule || (mask & (Class.Blank | Class.NonAscii)) === 0) return false;
  const { bytes } = chunk;
  const end = chunk.end[row]!;
  const start = skipBlanks(bytes, chunk.start[row]!, end);
  if (start === chunk.start[row] || !readHostsLine(bytes, start, end)) return false;
  return hostsLine.nameEnd < hostsLine.namesEnd;
}
