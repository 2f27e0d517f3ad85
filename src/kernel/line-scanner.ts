import { CHUNK_ROWS, type Chunk } from "../rules/chunk.ts";
import { CONTENTS, SCAN } from "./kernel-layout.ts";
import type { KernelMemory } from "./kernel-memory.ts";

/** Filters that rule out public suffixes; see src/syntax/public-suffix.ts. */
export interface SuffixTables {
  readonly filter: Uint8Array;
  readonly wildcards: Uint8Array;
}

/** The lines to read, as offsets in the chunk's bytes. */
export interface ScanRange {
  readonly from: number;
  readonly to: number;
  readonly fate: number;
  /** Whether to stop before hosts lines with several names. */
  readonly splits: boolean;
}

/** Reads lines into a chunk's columns with the WebAssembly kernel. One scanner serves a whole compile. */
export class LineScanner {
  private readonly kernel: KernelMemory;
  /** Addresses where the kernel writes the rows that it leaves to the caller, and the masks of their lines. */
  private readonly unknownAt: number;
  private readonly masksAt: number;
  /** Rows of the last call that the kernel could not classify, and the masks of their lines. */
  unknown: Uint32Array = new Uint32Array(0);
  masks: Uint8Array = new Uint8Array(0);

  constructor(kernel: KernelMemory, suffixes: SuffixTables) {
    this.kernel = kernel;
    const filterAt = kernel.allocateLasting(suffixes.filter.length);
    const wildcardsAt = kernel.allocateLasting(suffixes.wildcards.length);
    kernel.bytes(filterAt, suffixes.filter.length).set(suffixes.filter);
    kernel.bytes(wildcardsAt, suffixes.wildcards.length).set(suffixes.wildcards);
    kernel.exports.useSuffixes(filterAt, wildcardsAt);
    this.masksAt = kernel.allocateLasting(CHUNK_ROWS);
    this.unknownAt = kernel.allocateLasting(CHUNK_ROWS * 4);
  }

  /** Estimates the number of rows for these lines: counts line ends, and with `splits` also blanks between names. */
  countLines(bytesAt: number, length: number, splits: boolean): number {
    return this.kernel.exports.countLines(bytesAt, bytesAt + length, splits ? 1 : 0);
  }

  /**
   * Appends as many lines as fit, starting at `from`, and returns where the next line begins. If it returns `from`, only
   * the caller can read the next line.
   */
  read(chunk: Chunk, range: ScanRange, firstLine: number): number {
    const { kernel } = this;
    const { exports } = kernel;
    const base = chunk.length;
    const count = exports.scan(this.describe(chunk, range));
    if (count > 0) chunk.beginLines(firstLine);
    const { lines, has } = chunk;
    if (lines !== undefined)
      for (let index = 0; index < count; index++) lines[base + index] = firstLine + index;
    chunk.length += count;
    const contents = exports.contents.value;
    if ((contents & CONTENTS.Comments) !== 0) has.comments = true;
    if ((contents & CONTENTS.Blanks) !== 0) has.blanks = true;
    if ((contents & CONTENTS.OuterBlanks) !== 0) has.outerBlanks = true;
    if ((contents & CONTENTS.SpecialHosts) !== 0) has.specialHosts = true;
    if ((contents & CONTENTS.LongLines) !== 0) has.longLines = true;
    this.unknown = kernel.words(this.unknownAt, exports.unknownRows.value >>> 0);
    this.masks = kernel.bytes(this.masksAt, count);
    return (exports.scanEnd.value >>> 0) - chunk.bytesAt;
  }

  private describe(chunk: Chunk, { from, to, fate, splits }: ScanRange): number {
    const { bytesAt } = chunk;
    return this.kernel.describe(SCAN, {
      bytes: bytesAt,
      columns: chunk.columnsAt,
      capacity: chunk.capacity,
      firstRow: chunk.length,
      from: from + bytesAt,
      to: to + bytesAt,
      liveFate: fate,
      hashComments: Number(chunk.hashComments),
      splits: Number(splits),
      masks: this.masksAt,
      unknown: this.unknownAt,
    });
  }
}
