import { CHUNK_ROWS, COLUMN, type Chunk } from "../rules/chunk.ts";
import type { KernelMemory } from "./memory.ts";

/** What tells names that cannot be public suffixes; see src/syntax/public-suffix.ts. */
export interface SuffixTables {
  readonly filter: Uint8Array;
  readonly wildcards: Uint8Array;
}

/** Reads lines into a chunk's columns by the WebAssembly kernel. One serves a whole compile. */
export class LineScanner {
  private readonly kernel: KernelMemory;
  private readonly masksAt: number;
  private readonly unknownAt: number;
  /** Rows of the last call whose kind the kernel does not know, and the masks of their lines. */
  unknown: Uint32Array = new Uint32Array(0);
  masks: Uint8Array = new Uint8Array(0);

  constructor(kernel: KernelMemory, suffixes: SuffixTables) {
    this.kernel = kernel;
    const filterAt = kernel.allocate(suffixes.filter.length);
    const wildcardsAt = kernel.allocate(suffixes.wildcards.length);
    kernel.bytes(filterAt, suffixes.filter.length).set(suffixes.filter);
    kernel.bytes(wildcardsAt, suffixes.wildcards.length).set(suffixes.wildcards);
    kernel.exports.useSuffixes(filterAt, wildcardsAt);
    this.masksAt = kernel.allocate(CHUNK_ROWS);
    this.unknownAt = kernel.allocate(CHUNK_ROWS * 4);
  }

  /** About the number of rows that these lines will need: line ends, and with `splits` blanks between names. */
  countLines(bytesAt: number, length: number, splits: boolean): number {
    return this.kernel.exports.countLines(bytesAt, bytesAt + length, splits ? 1 : 0);
  }

  /**
   * Appends the lines from `from` on to the chunk, as many as fit, and returns where the next one begins. No progress
   * means that the next line is one that only the caller can read.
   */
  read(
    chunk: Chunk,
    from: number,
    to: number,
    firstLine: number,
    fate: number,
    splits: boolean,
  ): number {
    const { kernel, masksAt, unknownAt } = this;
    const { bytesAt, capacity, length: base } = chunk;
    const count = kernel.exports.scan(
      from + bytesAt,
      to + bytesAt,
      -bytesAt,
      capacity - base,
      fate,
      chunk.hashComments ? 1 : 0,
      splits ? 1 : 0,
      chunk.columnAt(COLUMN.start) + base * 4,
      chunk.columnAt(COLUMN.end) + base * 4,
      chunk.columnAt(COLUMN.hostStart) + base * 4,
      chunk.columnAt(COLUMN.hostEnd) + base * 4,
      chunk.columnAt(COLUMN.hostHash) + base * 4,
      chunk.columnAt(COLUMN.kind) + base,
      chunk.columnAt(COLUMN.flags) + base * 2,
      chunk.columnAt(COLUMN.fate) + base,
      chunk.columnAt(COLUMN.hostPart) + base,
      masksAt,
      unknownAt,
    );
    if (count > 0) chunk.beginLines(firstLine);
    const { lines, has } = chunk;
    if (lines !== undefined)
      for (let index = 0; index < count; index++) lines[base + index] = firstLine + index;
    chunk.length += count;
    const contents = kernel.exports.contents.value;
    if ((contents & 1) !== 0) has.comments = true;
    if ((contents & 2) !== 0) has.blanks = true;
    if ((contents & 4) !== 0) has.outerBlanks = true;
    if ((contents & 8) !== 0) has.oddHosts = true;
    if ((contents & 16) !== 0) has.longLines = true;
    this.unknown = kernel.words(unknownAt, kernel.exports.unknownRows.value >>> 0);
    this.masks = kernel.bytes(masksAt, count);
    return (kernel.exports.scanEnd.value >>> 0) - bytesAt;
  }
}
