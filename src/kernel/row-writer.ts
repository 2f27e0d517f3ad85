import { COLUMN, type Chunk } from "../rules/chunk.ts";
import { Flag } from "../rules/kind.ts";
import { WRITE } from "./kernel-layout.ts";
import type { KernelMemory } from "./kernel-memory.ts";

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
