import { CHUNK_ROWS, COLUMN, type Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag } from "../rules/kind.ts";
import type { KernelMemory } from "./kernel-memory.ts";

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
