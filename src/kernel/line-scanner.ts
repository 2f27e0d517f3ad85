import { CHUNK_ROWS, COLUMN, type Chunk } from "../rules/chunk.ts";
import type { Crew, TaskResult } from "./crew.ts";
import type { KernelMemory } from "./memory.ts";

/** What tells names that cannot be public suffixes; see src/syntax/public-suffix.ts. */
export interface SuffixTables {
  readonly filter: Uint8Array;
  readonly wildcards: Uint8Array;
}

/** Lines to be read, by where they stand in the chunk's bytes. */
export interface ScanStretch {
  readonly from: number;
  readonly to: number;
  readonly fate: number;
  /** Whether to stop before hosts lines of several names. */
  readonly splits: boolean;
}

/** Where the kernel notes which rows it leaves to the caller, and the masks of their lines. */
interface Notebook {
  readonly masksAt: number;
  readonly unknownAt: number;
}

/** Lines that somebody may be reading. */
export interface LinesAhead {
  readonly place: number;
  readonly notebook: Notebook;
}

/** Reads lines into a chunk's columns by the WebAssembly kernel. One serves a whole compile. */
export class LineScanner {
  private readonly kernel: KernelMemory;
  private readonly own: Notebook;
  /** Notebooks for lines that others read. */
  private readonly spare: Notebook[] = [];
  /** Where the tables of public suffixes are. */
  readonly suffixes: readonly [filter: number, wildcards: number];
  /** Threads that read lines ahead, where there are any. */
  crew: Crew | undefined;
  /** Rows of the last call whose kind the kernel does not know, and the masks of their lines. */
  unknown: Uint32Array = new Uint32Array(0);
  masks: Uint8Array = new Uint8Array(0);

  constructor(kernel: KernelMemory, suffixes: SuffixTables) {
    this.kernel = kernel;
    const filterAt = kernel.allocateLasting(suffixes.filter.length);
    const wildcardsAt = kernel.allocateLasting(suffixes.wildcards.length);
    kernel.bytes(filterAt, suffixes.filter.length).set(suffixes.filter);
    kernel.bytes(wildcardsAt, suffixes.wildcards.length).set(suffixes.wildcards);
    this.suffixes = [filterAt, wildcardsAt];
    kernel.exports.useSuffixes(filterAt, wildcardsAt);
    this.own = this.newNotebook();
  }

  private newNotebook(): Notebook {
    const { kernel } = this;
    return {
      masksAt: kernel.allocateLasting(CHUNK_ROWS),
      unknownAt: kernel.allocateLasting(CHUNK_ROWS * 4),
    };
  }

  /** About the number of rows that these lines will need: line ends, and with `splits` blanks between names. */
  countLines(bytesAt: number, length: number, splits: boolean): number {
    return this.kernel.exports.countLines(bytesAt, bytesAt + length, splits ? 1 : 0);
  }

  /**
   * Appends the lines from `from` on to the chunk, as many as fit, and returns where the next one begins. No progress
   * means that the next line is one that only the caller can read.
   */
  read(chunk: Chunk, stretch: ScanStretch, firstLine: number): number {
    const { exports } = this.kernel;
    const value = exports.scan(...valuesOf(chunk, stretch, this.own));
    const result = {
      value,
      scanEnd: exports.scanEnd.value >>> 0,
      unknownRows: exports.unknownRows.value >>> 0,
      contents: exports.contents.value,
    };
    return this.take(chunk, result, this.own, firstLine);
  }

  /** Has the lines read into the chunk, which is empty, by whoever is free. The crew has room. */
  readAhead(crew: Crew, chunk: Chunk, stretch: ScanStretch): LinesAhead {
    const notebook = this.spare.pop() ?? this.newNotebook();
    return { place: crew.post("scan", valuesOf(chunk, stretch, notebook)), notebook };
  }

  /** The same as `read`, for lines that were read ahead. */
  finish(crew: Crew, chunk: Chunk, { place, notebook }: LinesAhead, firstLine: number): number {
    this.spare.push(notebook);
    return this.take(chunk, crew.finish(place), notebook, firstLine);
  }

  private take(
    chunk: Chunk,
    { value: count, scanEnd, unknownRows, contents }: TaskResult,
    { unknownAt, masksAt }: Notebook,
    firstLine: number,
  ): number {
    const { kernel } = this;
    const base = chunk.length;
    if (count > 0) chunk.beginLines(firstLine);
    const { lines, has } = chunk;
    if (lines !== undefined)
      for (let index = 0; index < count; index++) lines[base + index] = firstLine + index;
    chunk.length += count;
    if ((contents & 1) !== 0) has.comments = true;
    if ((contents & 2) !== 0) has.blanks = true;
    if ((contents & 4) !== 0) has.outerBlanks = true;
    if ((contents & 8) !== 0) has.oddHosts = true;
    if ((contents & 16) !== 0) has.longLines = true;
    this.unknown = kernel.words(unknownAt, unknownRows);
    this.masks = kernel.bytes(masksAt, count);
    return scanEnd - chunk.bytesAt;
  }
}

function valuesOf(
  chunk: Chunk,
  { from, to, fate, splits }: ScanStretch,
  { masksAt, unknownAt }: Notebook,
): number[] {
  const { bytesAt, capacity, length: base } = chunk;
  return [
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
  ];
}
