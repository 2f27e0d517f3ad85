import type { Chunk } from "../rules/chunk.ts";
import { CHUNK_ROWS } from "../rules/chunk.ts";
import { type KernelMemory, startKernel } from "./memory.ts";

/** Bytes that are read at a time: a block of text with what was left of the one before. */
const BLOCK = 520 * 1024;

/** Reads lines into a chunk's columns by the WebAssembly kernel. One serves a whole compile. */
export class LineScanner {
  private readonly kernel: KernelMemory = startKernel();
  private readonly block: number;
  private readonly rows = Math.min(CHUNK_ROWS, BLOCK);
  private readonly columns: Record<
    | "start"
    | "end"
    | "hostStart"
    | "hostEnd"
    | "hash"
    | "kind"
    | "flags"
    | "fate"
    | "part"
    | "mask"
    | "unknown",
    number
  >;
  /** The part of a file that lies in the block. */
  private bytes: Uint8Array | undefined;
  private from = 0;
  private end = 0;
  private limit = 0;
  /** Rows of the last call whose kind the kernel does not know, and the masks of their lines. */
  unknown: Uint32Array = new Uint32Array(0);
  masks: Uint8Array = new Uint8Array(0);

  constructor() {
    const { kernel, rows } = this;
    this.block = kernel.allocate(BLOCK + 16);
    this.columns = {
      start: kernel.allocate(rows * 4),
      end: kernel.allocate(rows * 4),
      hostStart: kernel.allocate(rows * 4),
      hostEnd: kernel.allocate(rows * 4),
      hash: kernel.allocate(rows * 4),
      kind: kernel.allocate(rows),
      flags: kernel.allocate(rows * 2),
      fate: kernel.allocate(rows),
      part: kernel.allocate(rows),
      mask: kernel.allocate(rows),
      unknown: kernel.allocate(rows * 4),
    };
  }

  /**
   * Appends the lines from `from` on to the chunk, as many as fit, and returns where the next one begins. No progress means
   * that the next line is longer than a block or one that only the caller can read.
   */
  read(
    chunk: Chunk,
    from: number,
    to: number,
    firstLine: number,
    fate: number,
    splits: boolean,
  ): number {
    const { kernel, columns, block } = this;
    const { bytes } = chunk;
    // After a line that the caller had to read, the rest of the block is still here.
    const isHere = this.bytes === bytes && this.limit === to && from >= this.from && from < this.end;
    if (!isHere) {
      this.bytes = bytes;
      this.limit = to;
      this.from = from;
      this.end = Math.min(to, from + BLOCK);
      kernel.bytes(block, this.end - from).set(bytes.subarray(from, this.end));
    }
    const shift = block - this.from;
    const base = chunk.length;
    const count = kernel.exports.scan(
      from + shift,
      this.end + shift,
      -shift,
      chunk.capacity - base,
      fate,
      chunk.hashComments ? 1 : 0,
      splits ? 1 : 0,
      columns.start,
      columns.end,
      columns.hostStart,
      columns.hostEnd,
      columns.hash,
      columns.kind,
      columns.flags,
      columns.fate,
      columns.part,
      columns.mask,
      columns.unknown,
    );
    chunk.start.set(kernel.words(columns.start, count), base);
    chunk.end.set(kernel.words(columns.end, count), base);
    chunk.hostStart.set(kernel.words(columns.hostStart, count), base);
    chunk.hostEnd.set(kernel.words(columns.hostEnd, count), base);
    chunk.hostHash.set(kernel.integers(columns.hash, count), base);
    chunk.kind.set(kernel.bytes(columns.kind, count), base);
    chunk.flags.set(kernel.shorts(columns.flags, count), base);
    chunk.fate.set(kernel.bytes(columns.fate, count), base);
    chunk.hostPart.set(kernel.bytes(columns.part, count), base);
    if (count > 0) chunk.beginLines(firstLine);
    const { lines } = chunk;
    if (lines !== undefined)
      for (let index = 0; index < count; index++) lines[base + index] = firstLine + index;
    chunk.length += count;
    const contents = kernel.exports.contents.value;
    if ((contents & 1) !== 0) chunk.has.comments = true;
    if ((contents & 2) !== 0) chunk.has.blanks = true;
    if ((contents & 4) !== 0) chunk.has.outerBlanks = true;
    if ((contents & 8) !== 0) chunk.has.oddHosts = true;
    this.unknown = kernel.words(columns.unknown, kernel.exports.unknownRows.value >>> 0);
    this.masks = kernel.bytes(columns.mask, count);
    return (kernel.exports.scanEnd.value >>> 0) - shift;
  }
}
