import { CR, LF } from "../bytes/ascii.ts";
import { skipBlanks, skipBlanksBack } from "../bytes/blank.ts";

/**
 * Whole lines of a file, one after the other without a gap. A file counts as trimmed, as a whole: what stands before
 * `listStart` in its first blocks and after `listEnd` in its last one is not part of the list.
 */
export interface TextBlock {
  readonly bytes: Uint8Array;
  /** Where it begins in its file, in bytes of decoded text. */
  readonly position: number;
  readonly listStart: number;
  readonly listEnd: number;
  /** No line of the file follows; the last one may lack its end. */
  readonly isLast: boolean;
}

/** How much of a file is worked on at a time: with its columns it stays in the second-level cache. */
export const BLOCK_BYTES: number = 512 * 1024;

/**
 * Cuts a file into blocks as it arrives. A block ends before a line that is not blank, because whether the blanks after
 * a line belong to the list is only known when another line follows.
 */
export class BlockCutter {
  private hasBegun = false;
  private position = 0;

  /**
   * Where a block of these bytes may end: at the start of the last line that is not blank, if that lies behind `from`.
   * Bytes before `from` were searched before. -1 when there is no such place, and more bytes are needed.
   */
  endOf(bytes: Uint8Array, from: number): number {
    const textEnd = skipBlanksBack(bytes, from, bytes.length);
    for (let at = textEnd - 1; at > from; at--) {
      const byte = bytes[at - 1]!;
      if (byte === LF || byte === CR) return at;
    }
    return -1;
  }

  /** The block of these bytes. They end where `endOf` said, or the file does. */
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

/** The blocks of a text that is in memory as a whole. */
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

/** A block up to the start of one of its lines. */
export function partOf(block: TextBlock, end: number): TextBlock {
  const listStart = Math.min(block.listStart, end);
  return { ...block, bytes: block.bytes.subarray(0, end), listStart, listEnd: end };
}

/** Whether a line ends just before `end`: after LF, CRLF or a lone CR. */
export function endsLine(bytes: Uint8Array, end: number): boolean {
  const last = bytes[end - 1];
  return last === LF || (last === CR && bytes[end] !== LF);
}
