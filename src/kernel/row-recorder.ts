import { CHUNK_ROWS, CHUNK_SHIFT, COLUMN, type Chunk } from "../rules/chunk.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { FILTER_BYTES, blocksOf } from "./name-filter.ts";

/** Bytes of the longest difference of two row numbers. */
const LONGEST_VARINT = 5;

/** What names there are in the blocks of a chunk, as far as its rows are ordinary. */
export interface BlockNames {
  /** A filter for each block, one behind the other. */
  readonly filters: Uint8Array;
  /** Rows that are not ordinary, and are not in the filters, or were rewritten. */
  readonly others: Uint32Array;
}

/** Makes what a build record keeps of the columns of a chunk. What it returns holds until it is asked again. */
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

  /** A byte a row: which of `Other` it is. */
  others(chunk: Chunk): Uint8Array {
    const { kernel, rowsAt } = this;
    const flags = chunk.columnAt(COLUMN.flags);
    kernel.exports.writeOthers(chunk.length, flags, chunk.columnAt(COLUMN.kind), rowsAt);
    return kernel.bytes(rowsAt, chunk.length);
  }

  /**
   * For each row that another made redundant the number of that row, as `record-format.ts` has it. By the kernel half of the time
   * that a loop here takes (16 ms instead of 33 on 2.3 million lines).
   */
  causes(chunk: Chunk, by: Uint32Array): Uint8Array {
    const { kernel, causesAt } = this;
    const fates = chunk.columnAt(COLUMN.fate);
    const first = chunk.id << CHUNK_SHIFT;
    const end = kernel.exports.writeCauses(chunk.length, fates, by.byteOffset, first, causesAt);
    return kernel.bytes(causesAt, end - causesAt);
  }
}
