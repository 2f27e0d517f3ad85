import { isValidUtf8, repairUtf8 } from "../bytes/utf8.ts";
import type { OpenFile } from "../host/host.ts";
import { BLOCK_BYTES, BlockCutter, type TextBlock } from "../syntax/text-block.ts";
import { refuseNul } from "./decode.ts";

/** Space in front of a read for the rest of the previous block. */
const HEAD_ROOM = 8192;

/**
 * The text of a plain file, checked and returned block by block. The next block is read while the current one is
 * processed.
 */
export class FileBlocks {
  private readonly file: OpenFile;
  private readonly label: string;
  private readonly blockBytes: number;
  private position = 0;
  private readonly buffers: Uint8Array[];
  readonly cutter: BlockCutter = new BlockCutter();
  /** Whether bytes that are not UTF-8 were replaced. */
  isRepaired = false;
  bytesRead = 0;

  /** `buffers` is a pool of free buffers. */
  constructor(
    file: OpenFile,
    label: string,
    buffers: Uint8Array[],
    blockBytes: number = BLOCK_BYTES,
  ) {
    this.buffers = buffers;
    this.file = file;
    this.label = label;
    this.blockBytes = blockBytes;
  }

  /** `first` is the part of the file that has been read already. */
  async *blocks(first: Uint8Array): AsyncGenerator<TextBlock> {
    let text = first;
    let searched = 0;
    this.position = first.length;
    let current: Uint8Array | undefined;
    let reading = this.readMore(0);
    while (true) {
      const end = this.cutter.endOf(text, searched);
      if (end !== -1) {
        yield this.check(text.subarray(0, end), false);
        text = text.subarray(end);
        searched = 0;
      } else searched = text.length;
      const more = await reading;
      if (more.count === 0) {
        this.buffers.push(more.buffer);
        break;
      }
      const { length } = text;
      text = joined(text, more);
      if (current !== undefined) this.buffers.push(current);
      current = more.buffer;
      // Double the size while no line ends, so that a long line is not copied again and again.
      reading = this.readMore(length);
    }
    yield this.check(text, true);
    if (current !== undefined) this.buffers.push(current);
  }

  private readMore(atLeast: number): Promise<{ buffer: Uint8Array; count: number }> {
    const reading = this.fill(atLeast);
    // If the list is abandoned, this promise is never awaited: its rejection must not be unhandled.
    reading.catch(() => {});
    return reading;
  }

  private async fill(atLeast: number): Promise<{ buffer: Uint8Array; count: number }> {
    const left = this.file.size - this.position;
    // The file may have grown since it was opened; only an empty read marks the end.
    const wanted = left > 0 ? Math.min(left, Math.max(this.blockBytes, atLeast)) : 4096;
    // Two buffers alternate: one is processed while the other is filled.
    let buffer = this.buffers.pop();
    if (buffer === undefined || buffer.length < HEAD_ROOM + wanted)
      buffer = new Uint8Array(HEAD_ROOM + Math.max(wanted, this.blockBytes));
    const count = await this.file.read(buffer.subarray(HEAD_ROOM, HEAD_ROOM + wanted));
    this.position += count;
    return { buffer, count };
  }

  private check(bytes: Uint8Array, isLast: boolean): TextBlock {
    refuseNul(bytes, this.label);
    let text = bytes;
    if (!isValidUtf8(bytes)) {
      text = repairUtf8(bytes);
      this.isRepaired = true;
    }
    this.bytesRead += text.length;
    return this.cutter.blockOf(text, isLast);
  }
}

/** The rest of a block, followed by the bytes read after it. */
function joined(
  rest: Uint8Array,
  { buffer, count }: { buffer: Uint8Array; count: number },
): Uint8Array {
  if (rest.length <= HEAD_ROOM) {
    const start = HEAD_ROOM - rest.length;
    buffer.set(rest, start);
    return buffer.subarray(start, HEAD_ROOM + count);
  }
  const text = new Uint8Array(rest.length + count);
  text.set(rest);
  text.set(buffer.subarray(HEAD_ROOM, HEAD_ROOM + count), rest.length);
  return text;
}
