import {
  BANG,
  CARET,
  COLON,
  CR,
  Class,
  DOLLAR,
  DOT,
  HASH,
  LF,
  PIPE,
  SLASH,
  SPACE,
  TAB,
  skipBlanks,
  skipBlanksBack,
} from "../bytes/text.ts";
import type { LineScanner } from "../kernel/rows.ts";
import { CHUNK_ROWS, Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { classify, maskOf } from "./classify.ts";
import { hostsLine, nextName, readHostsLine } from "./hosts-line.ts";

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

interface ScanOptions {
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

/**
 * Consecutive whole lines of a file. The file is trimmed as a whole: text before `listStart` in its first blocks and after
 * `listEnd` in its last block is not part of the list.
 */
export interface TextBlock {
  readonly bytes: Uint8Array;
  /** Position in the file, in bytes of decoded text. */
  readonly position: number;
  readonly listStart: number;
  readonly listEnd: number;
  /** Whether this is the end of the file. The last line may lack a line ending. */
  readonly isLast: boolean;
}

/** The size of a block. Together with its columns, it fits into the second-level cache. */
export const BLOCK_BYTES: number = 512 * 1024;

/**
 * Splits a file into blocks as it arrives. A block ends before a line that is not blank: the blanks after a line belong to
 * the list only if another line follows.
 */
export class BlockCutter {
  private hasBegun = false;
  private position = 0;

  /**
   * Where a block of these bytes may end: at the start of the last line that is not blank, if it is after `from`. Earlier
   * calls searched the bytes before `from`. Returns -1 if there is no such position and more bytes are needed.
   */
  endOf(bytes: Uint8Array, from: number): number {
    const textEnd = skipBlanksBack(bytes, from, bytes.length);
    for (let at = textEnd - 1; at > from; at--) {
      const byte = bytes[at - 1]!;
      if (byte === LF || byte === CR) return at;
    }
    return -1;
  }

  /** The block of these bytes, which end at the result of `endOf` or at the end of the file. */
  blockOf(bytes: Uint8Array, isLast: boolean): TextBlock {
    const listStart = this.hasBegun ? 0 : skipBlanks(bytes, 0, bytes.length);
    if (listStart < bytes.length) this.hasBegun = true;
    const listEnd = isLast ? skipBlanksBack(bytes, listStart, bytes.length) : bytes.length;
    const { position } = this;
    this.position += bytes.length;
    return { bytes, position, listStart, listEnd, isLast };
  }

  /** Whether the file had any text so far. */
  get hasText(): boolean {
    return this.hasBegun;
  }
}

/** The blocks of a text that is completely in memory. */
export function* blocksOf(
  text: Uint8Array,
  cutter: BlockCutter,
  blockBytes: number = BLOCK_BYTES,
): Generator<TextBlock> {
  let at = 0;
  while (text.length - at > blockBytes) {
    let searched = 0;
    let size = blockBytes;
    let end = cutter.endOf(text.subarray(at, at + size), searched);
    while (end === -1 && at + size < text.length) {
      searched = size;
      size *= 2;
      end = cutter.endOf(text.subarray(at, at + size), searched);
    }
    if (end === -1) break;
    yield cutter.blockOf(text.subarray(at, at + end), false);
    at += end;
  }
  yield cutter.blockOf(text.subarray(at), true);
}

/** Where the last line with text begins. */
export function lastLineStart({ bytes, listEnd }: TextBlock): number {
  let at = listEnd;
  while (at > 0 && bytes[at - 1] !== LF && bytes[at - 1] !== CR) at--;
  return at;
}

/** The part of a block before one of its lines. */
export function partOf(block: TextBlock, end: number): TextBlock {
  const listStart = Math.min(block.listStart, end);
  return { ...block, bytes: block.bytes.subarray(0, end), listStart, listEnd: end };
}

/** Whether a line ends just before `end`: after LF, CRLF or a lone CR. */
export function endsLine(bytes: Uint8Array, end: number): boolean {
  const last = bytes[end - 1];
  return last === LF || (last === CR && bytes[end] !== LF);
}

/**
 * Detects text that must not get from a third-party list into ours: characters that affect terminals, editors and parsers,
 * and comments that control the software of our subscribers.
 */

/** The result of one pass over a line. Nearly all lines then need no second pass and no string. */
export const Sign = {
  /** May contain characters that `hasUnsafeCharacters` detects. */
  Unsafe: 1,
  /** May be metadata: it begins with a comment sign or contains a colon. */
  Metadata: 2,
  /** May have modifiers. */
  Dollar: 4,
  /** A dot before a blank, an anchor or the end, as in `name.`. */
  FinalDot: 8,
  /** Begins or ends with a blank. */
  OuterBlank: 16,
  /** An upper-case letter before any path or selector. */
  Upper: 32,
  /** A note directly behind a name, or the mark of a browser rule. */
  Hash: 64,
} as const;

export function signsOf(bytes: Uint8Array, start: number, end: number): number {
  let signs = 0;
  let at = start;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  if (bytes[at] === BANG || bytes[at] === HASH) signs = Sign.Metadata;
  const last = bytes[end - 1];
  if (at > start || last === SPACE || last === TAB) signs |= Sign.OuterBlank;
  let upper: number = Sign.Upper;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    // Most are lower-case letters.
    if (byte >= 97 && byte <= 122) continue;
    if (byte === COLON) signs |= Sign.Metadata;
    else if (byte === DOLLAR) signs |= Sign.Dollar;
    else if (byte === DOT) {
      const next = at + 1 === end ? SPACE : bytes[at + 1]!;
      if (next <= SPACE || next === CARET || next === PIPE) signs |= Sign.FinalDot;
    } else if (byte === SLASH) {
      if (bytes[at + 1] !== SLASH && bytes[at - 1] !== SLASH) upper = 0;
    } else if (byte === HASH) {
      if (at > start && bytes[at - 1]! > SPACE) signs |= Sign.Hash;
      upper = 0;
    } else if (byte >= 65 && byte <= 90) signs |= upper;
    else if ((byte < SPACE && byte !== TAB) || byte > 126) signs |= Sign.Unsafe | Sign.Metadata;
  }
  return signs;
}

/** Whether it has control characters (C0 except tab, DEL, C1), line separators, direction marks, or a byte order mark. */
export function hasUnsafeCharacters(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < 127) {
      if (byte < 32 && byte !== 9) return true;
      continue;
    }
    const next = bytes[at + 1]!;
    if (byte === 127 || (byte === 0xc2 && next < 0xa0)) return true;
    // U+061C, U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069, U+FEFF.
    if (byte === 0xd8 && next === 0x9c) return true;
    const last = bytes[at + 2]!;
    if (byte === 0xef && next === 0xbb && last === 0xbf) return true;
    if (byte !== 0xe2) continue;
    if (next === 0x80 && (last === 0x8e || last === 0x8f || (last >= 0xa8 && last <= 0xae)))
      return true;
    if (next === 0x81 && last >= 0xa6 && last <= 0xa9) return true;
  }
  return false;
}

/** Directives (`!#include`), hints (`!+ NOT_PLATFORM`), and header fields that list managers read. */
const OBEYED =
  /^![#+]|^[!#][\s!#]*(?:title|expires|homepage|version|checksum|redirect|redirection|last[ -]?modified|time[ -]?updated|diff-\w+)\s*:/i;

/** Updaters search for this anywhere in a line. */
const UPDATE_ADDRESS = /diff-(?:path|expires|name)\s*:/i;

/** Whether a line, comment or not, contains instructions or information for the software that loads the list. */
export function isMetadata(text: string): boolean {
  return OBEYED.test(text.trim()) || UPDATE_ADDRESS.test(text);
}
