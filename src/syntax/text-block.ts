import { CR, LF } from "../bytes/ascii.ts";
import { skipBlanks, skipBlanksBack } from "../bytes/blank.ts";

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
