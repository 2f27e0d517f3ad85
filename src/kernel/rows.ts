import { CHUNK_ROWS, CHUNK_SHIFT, COLUMN, type Chunk, Flag } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { CONTENTS, type KernelMemory, SCAN, WRITE } from "./kernel.ts";
import { FILTER_BYTES, blocksOf } from "./names.ts";

/** Filters that rule out public suffixes; see src/syntax/public-suffix.ts. */
interface RuleFilters {
  readonly filter: Uint8Array;
  readonly wildcards: Uint8Array;
}

/** Returns the filters. If they are empty, the function that is passed fills them from the rules of the list. */
type SuffixSource = (fill: (rules: Uint8Array, filters: RuleFilters) => void) => RuleFilters;

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

  constructor(kernel: KernelMemory, suffixes: SuffixSource) {
    this.kernel = kernel;
    const { filter, wildcards } = suffixes((rules, filters) => fillFilters(kernel, rules, filters));
    const filterAt = kernel.allocateLasting(filter.length);
    const wildcardsAt = kernel.allocateLasting(wildcards.length);
    kernel.bytes(filterAt, filter.length).set(filter);
    kernel.bytes(wildcardsAt, wildcards.length).set(wildcards);
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

function fillFilters(kernel: KernelMemory, rules: Uint8Array, filters: RuleFilters): void {
  const { filter, wildcards } = filters;
  const sizes = [rules.length, filter.length, wildcards.length];
  const [rulesAt, filterAt, wildcardsAt] = sizes.map((size) => kernel.allocate(size)) as [number, number, number];
  kernel.bytes(rulesAt, rules.length).set(rules);
  kernel.bytes(filterAt, filter.length).set(filter);
  kernel.bytes(wildcardsAt, wildcards.length).set(wildcards);
  kernel.exports.enterSuffixes(rulesAt, rulesAt + rules.length, filterAt, wildcardsAt);
  filter.set(kernel.bytes(filterAt, filter.length));
  wildcards.set(kernel.bytes(wildcardsAt, wildcards.length));
  for (const [index, at] of [rulesAt, filterAt, wildcardsAt].entries()) kernel.free(at, sizes[index]!);
}

/**
 * Finds the rows that a pass must process. Nine rows in ten are ordinary names, which most passes skip. A loop in
 * TypeScript that skips them costs more than processing the others (80 ms of 1.3 s on 2.3 million lines).
 */
export class RowFinder {
  private readonly kernel: KernelMemory;
  private readonly at: number;
  private readonly filters = new Map<HashFilter, number>();

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
    this.at = kernel.allocate(CHUNK_ROWS * 4);
  }

  /** Live rows that are not ordinary names. */
  special(chunk: Chunk): Uint32Array {
    return this.find(chunk, Fate.Kept, Flag.Ordinary);
  }

  /** The same rows, plus spare rows. */
  specialOrSpare(chunk: Chunk): Uint32Array {
    return this.find(chunk, Fate.Spare, Flag.Ordinary);
  }

  live(chunk: Chunk): Uint32Array {
    return this.find(chunk, Fate.Kept, 0);
  }

  /** Live rows whose hash is in the filter; see `HashFilter`. */
  hashed(chunk: Chunk, filter: HashFilter): Uint32Array {
    const { kernel, at } = this;
    // The filter stays in the kernel's memory until the compile ends.
    let filterAt = this.filters.get(filter);
    if (filterAt === undefined) {
      filterAt = kernel.allocate(filter.bits.length);
      kernel.bytes(filterAt, filter.bits.length).set(filter.bits);
      this.filters.set(filter, filterAt);
    }
    const fates = chunk.columnAt(COLUMN.fate);
    const hashes = chunk.columnAt(COLUMN.hostHash);
    const count = kernel.exports.findHashes(chunk.length, fates, hashes, filterAt, at);
    return kernel.words(at, count).slice();
  }

  private find(chunk: Chunk, lastFate: number, without: number): Uint32Array {
    const { kernel, at } = this;
    const { length } = chunk;
    const fates = chunk.columnAt(COLUMN.fate);
    const flags = chunk.columnAt(COLUMN.flags);
    const count = kernel.exports.findRows(length, fates, flags, lastFate, without, at);
    // Copied, because the arena may grow while the caller iterates.
    return kernel.words(at, count).slice();
  }
}

/** A filter for a few hashes: one bit for each value of their lowest 16 bits. */
export class HashFilter {
  readonly bits: Uint8Array = new Uint8Array(8192);

  add(hash: number): void {
    this.bits[(hash & 0xffff) >> 3]! |= 1 << (hash & 7);
  }

  has(hash: number): boolean {
    return (this.bits[(hash & 0xffff) >> 3]! & (1 << (hash & 7))) !== 0;
  }
}

const OUT_BYTES = 256 * 1024;

/** Copies the texts of a chunk's live rows with the kernel. */
export class RowWriter {
  private readonly kernel: KernelMemory;
  private readonly out: number;

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
    this.out = kernel.allocate(OUT_BYTES);
  }

  /**
   * Passes the texts of live rows, starting at `row`, to `take`, each after a line feed. Returns the next row that only
   * the caller can write, because its text was rewritten or is very long, or the number of rows at the end.
   */
  write(chunk: Chunk, row: number, take: (bytes: Uint8Array) => void): number {
    const { kernel, out } = this;
    let next = row;
    while (true) {
      const descriptor = kernel.describe(WRITE, {
        bytes: chunk.bytesAt,
        columns: chunk.columnsAt,
        capacity: chunk.capacity,
        fromRow: next,
        rows: chunk.length,
        out,
        outEnd: out + OUT_BYTES,
      });
      next = kernel.exports.writeRows(descriptor);
      const length = (kernel.exports.writeEnd.value >>> 0) - out;
      if (length > 0) take(kernel.bytes(out, length));
      // The kernel wrote nothing, or cannot write the next row.
      if (length === 0 || next === chunk.length) return next;
      if ((chunk.flags[next]! & Flag.Rewritten) !== 0) return next;
    }
  }

  /** Adds the chunk's fates to the counters. Returns the number of live rules. */
  count(chunk: Chunk, fates: Float64Array): number {
    const { kernel, out } = this;
    const counts = kernel.words(out, 257).fill(0);
    kernel.exports.countFates(chunk.length, chunk.columnAt(COLUMN.fate), chunk.columnAt(COLUMN.kind), out);
    for (let fate = 0; fate < 256; fate++) fates[fate]! += counts[fate]!;
    return counts[256]!;
  }
}

/** Maximum number of bytes of an encoded difference between two row numbers. */
const LONGEST_VARINT = 5;

/** The names in the blocks of a chunk. */
export interface BlockNames {
  /** One filter per block, concatenated, for the ordinary rows. */
  readonly filters: Uint8Array;
  /** Rows that are not in the filters, because they are not ordinary or were rewritten. */
  readonly others: Uint32Array;
}

/** Encodes the columns of a chunk for a build record. Results are valid until the next call. */
export class RowRecorder {
  private readonly kernel: KernelMemory;
  private readonly rowsAt: number;
  private readonly filtersAt: number;
  private readonly causesAt: number;

  constructor(kernel: KernelMemory) {
    this.kernel = kernel;
    this.rowsAt = kernel.allocate(CHUNK_ROWS * 4);
    this.filtersAt = kernel.allocate(blocksOf(CHUNK_ROWS) * FILTER_BYTES);
    this.causesAt = kernel.allocate(CHUNK_ROWS * LONGEST_VARINT);
  }

  names(chunk: Chunk): BlockNames {
    const { kernel, rowsAt, filtersAt } = this;
    const flags = chunk.columnAt(COLUMN.flags);
    const hashes = chunk.columnAt(COLUMN.hostHash);
    const count = kernel.exports.enterNames(chunk.length, flags, hashes, filtersAt, rowsAt);
    const filters = kernel.bytes(filtersAt, blocksOf(chunk.length) * FILTER_BYTES);
    return { filters, others: kernel.words(rowsAt, count) };
  }

  /** One byte per row: its `Other` value. */
  others(chunk: Chunk): Uint8Array {
    const { kernel, rowsAt } = this;
    const flags = chunk.columnAt(COLUMN.flags);
    kernel.exports.writeOthers(chunk.length, flags, chunk.columnAt(COLUMN.kind), rowsAt);
    return kernel.bytes(rowsAt, chunk.length);
  }

  /**
   * The id of the row that made each redundant row redundant, encoded as in `build-record.ts`. The kernel takes half the
   * time of a loop in TypeScript (16 ms instead of 33 on 2.3 million lines).
   */
  causes(chunk: Chunk, by: Uint32Array): Uint8Array {
    const { kernel, causesAt } = this;
    const fates = chunk.columnAt(COLUMN.fate);
    const first = chunk.id << CHUNK_SHIFT;
    const end = kernel.exports.writeCauses(chunk.length, fates, by.byteOffset, first, causesAt);
    return kernel.bytes(causesAt, (end >>> 0) - causesAt);
  }
}
