import { CR, Class, LF } from "../bytes/ascii.ts";
import { skipBlanks } from "../bytes/blank.ts";
import type { LineScanner } from "../kernel/line-scanner.ts";
import { CHUNK_ROWS, Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { classify, maskOf } from "./classify.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";
import type { TextBlock } from "./text-block.ts";

/** Lines of a block that share one fate: all of it, or what lies between two directives. */
export interface Stretch {
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
  /** Reads ordinary lines faster; without it every line is read one by one, with the same result. */
  readonly scanner?: LineScanner | undefined;
}

/**
 * Turns lines into rows: one row for each line of the file, blank ones included, since each must be accounted for. LF,
 * CRLF and a lone CR end a line. Rows are gathered here and handed on as chunks, each of one block.
 */
export class ListScan {
  private readonly options: ScanOptions;
  private readonly emit: (chunk: Chunk) => void;
  private readonly rows: Chunk;

  constructor(options: ScanOptions, emit: (chunk: Chunk) => void) {
    this.options = options;
    this.emit = emit;
    this.rows = new Chunk(0, new Uint8Array(0), CHUNK_ROWS, options.hashComments);
  }

  /** Line by line where the file is trimmed or the kernel gives up, by the kernel everywhere else. */
  read(file: FileLines, block: TextBlock, { start, end, fate }: Stretch): void {
    const { scanner } = this.options;
    const { rows } = this;
    if (rows.bytes !== block.bytes || rows.origin !== file.origin) {
      this.flush();
      rows.bytes = block.bytes;
      rows.origin = file.origin;
    }
    const wholeLinesEnd = block.isLast ? lastLineOf(block) : block.bytes.length;
    let at = start;
    while (at < end) {
      if (at >= block.listStart && at < wholeLinesEnd && scanner !== undefined) {
        const reached = this.readLines(scanner, file, at, Math.min(end, wholeLinesEnd), fate);
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
    if (this.rows.length > 0) this.emit(this.rows.takeRows());
  }

  private readLines(
    scanner: LineScanner,
    file: FileLines,
    from: number,
    to: number,
    fate: Fate,
  ): number {
    const { rows, options } = this;
    if (rows.length === rows.capacity) this.flush();
    const base = rows.length;
    const reached = scanner.read(rows, from, to, file.nextLine, fate, options.splitHosts);
    file.nextLine += rows.length - base;
    const { unknown, masks } = scanner;
    for (const index of unknown) classify(rows, base + index, masks[index]!);
    return reached;
  }

  /** Reads one line, whatever it is, and returns where the next begins. */
  private readLine(
    file: FileLines,
    { bytes, listStart, listEnd }: TextBlock,
    from: number,
    end: number,
    fate: Fate,
  ): number {
    const { rows } = this;
    let at = from;
    while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++;
    const next =
      at < end && bytes[at] === CR && at + 1 < end && bytes[at + 1] === LF ? at + 2 : at + 1;
    const lineStart = Math.min(Math.max(from, listStart), at);
    const lineEnd = Math.max(Math.min(at, listEnd), lineStart);
    if (rows.length === rows.capacity) this.flush();
    const row = rows.push(lineStart, lineEnd, file.nextLine++);
    rows.fate[row] = lineStart === lineEnd ? Fate.Blank : fate;
    if (lineStart === lineEnd) return next;
    const mask = maskOf(bytes, lineStart, lineEnd);
    classify(rows, row, mask);
    if (this.options.splitHosts && hasSeveralNames(rows, row, mask)) this.addSpareRows(file);
    return next;
  }

  /** One spare row for each further name of the hosts line that was just classified. Compress fills them. */
  private addSpareRows({ nextLine }: FileLines): void {
    const { rows } = this;
    const { bytes } = rows;
    const first = { nameStart: hostsLine.nameStart, nameEnd: hostsLine.nameEnd };
    let left = 0;
    while (nextName(bytes)) left++;
    Object.assign(hostsLine, first);
    while (nextName(bytes)) {
      if (rows.length === rows.capacity) {
        const chunk = rows.takeRows();
        chunk.spareBeyond = left;
        this.emit(chunk);
      }
      const spare = rows.push(hostsLine.nameStart, hostsLine.nameEnd, nextLine - 1);
      rows.fate[spare] = Fate.Spare;
      rows.flags[spare] = Flag.Continued;
      left--;
    }
  }
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
