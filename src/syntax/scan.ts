import { CLASS_OF, CR, Class, LF } from "../bytes/ascii.ts";
import { skipBlanks, skipBlanksBack } from "../bytes/blank.ts";
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
  const listStart = skipBlanks(bytes, 0, bytes.length);
  const listEnd = skipBlanksBack(bytes, listStart, bytes.length);
  const { end, fate } = stretch;
  let chunk: Chunk | undefined;
  let line = stretch.firstLine;
  let at = stretch.start;
  while (at < end) {
    let lineStart = at;
    let mask = 0;
    while (at < end) {
      const byte = bytes[at]!;
      if (byte === LF || byte === CR) break;
      mask |= CLASS_OF[byte]!;
      at++;
    }
    let lineEnd = at;
    if (at < end) at += bytes[at] === CR && at + 1 < end && bytes[at + 1] === LF ? 2 : 1;
    if (lineStart < listStart || lineEnd > listEnd) {
      lineStart = Math.min(Math.max(lineStart, listStart), lineEnd);
      lineEnd = Math.max(Math.min(lineEnd, listEnd), lineStart);
      mask = maskOf(bytes, lineStart, lineEnd);
    }
    if (chunk === undefined || chunk.length === chunk.capacity)
      chunk = addChunk(rules, bytes, end - lineStart, options);
    const row = chunk.push(lineStart, lineEnd, line++);
    if (lineStart === lineEnd) {
      chunk.fate[row] = Fate.Blank;
      continue;
    }
    chunk.fate[row] = fate;
    classify(chunk, row, mask);
    if (options.splitHosts && hasSeveralNames(chunk, row, mask))
      chunk = addSpareRows(rules, chunk, row, options);
  }
}

/** Room for the lines that `left` bytes may hold, at eight bytes a line; when that proves too little, another chunk follows. */
function addChunk(rules: RuleTable, bytes: Uint8Array, left: number, options: ScanOptions): Chunk {
  const capacity = Math.min(CHUNK_ROWS, (left >>> 3) + 4);
  const chunk = rules.pool.addChunk(options.origin, bytes, capacity, options.hashComments);
  rules.chunks.push(chunk);
  return chunk;
}

/** An indented hosts line becomes one when it is trimmed; it needs room too. Leaves `hostsLine` at its first name. */
function hasSeveralNames(chunk: Chunk, row: number, mask: number): boolean {
  if ((chunk.flags[row]! & Flag.SeveralNames) !== 0) return true;
  if (chunk.kind[row] !== Kind.Rule || (mask & Class.Blank) === 0) return false;
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
