import { CHUNK_ROWS, CHUNK_SHIFT, COLUMN, type Chunk } from "../rules/chunk.ts";
import { hasCause } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { KernelMemory } from "./memory.ts";
import { FILTER_BYTES, addName, blockOf, blocksOf } from "./name-filter.ts";

/** Bytes of the longest difference of two row numbers. */
const LONGEST_VARINT = 5;

/** What a build record says of a row beside its fate. */
export const Other = { Generated: 1, Continued: 2, NoRule: 4 } as const;

/** What names there are in the blocks of a chunk, as far as its rows are ordinary. */
export interface BlockNames {
  /** A filter for each block, one behind the other. */
  readonly filters: Uint8Array;
  /** Rows that are not ordinary, and are not in the filters, or were rewritten. */
  readonly others: Uint32Array;
}

/** Makes what a build record keeps of the columns of a chunk. What it returns holds until it is asked again. */
export class RowRecorder {
  private readonly kernel: KernelMemory | undefined;
  private readonly rowsAt: number = 0;
  private readonly filtersAt: number = 0;
  private readonly causesAt: number = 0;

  constructor(kernel: KernelMemory | undefined) {
    this.kernel = kernel;
    if (kernel === undefined) return;
    this.rowsAt = kernel.allocate(CHUNK_ROWS * 4);
    this.filtersAt = kernel.allocate(blocksOf(CHUNK_ROWS) * FILTER_BYTES);
    this.causesAt = kernel.allocate(CHUNK_ROWS * LONGEST_VARINT);
  }

  names(chunk: Chunk): BlockNames {
    const { kernel, rowsAt, filtersAt } = this;
    if (kernel === undefined) return namesByScript(chunk);
    const flags = chunk.columnAt(COLUMN.flags);
    const hashes = chunk.columnAt(COLUMN.hostHash);
    const count = kernel.exports.enterNames(chunk.length, flags, hashes, filtersAt, rowsAt);
    const filters = kernel.bytes(filtersAt, blocksOf(chunk.length) * FILTER_BYTES);
    return { filters, others: kernel.words(rowsAt, count) };
  }

  /** A byte a row: which of `Other` it is. */
  others(chunk: Chunk): Uint8Array {
    const { kernel, rowsAt } = this;
    if (kernel === undefined) return othersByScript(chunk);
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
    if (kernel === undefined) return causesByScript(chunk, by);
    const fates = chunk.columnAt(COLUMN.fate);
    const first = chunk.id << CHUNK_SHIFT;
    const end = kernel.exports.writeCauses(chunk.length, fates, by.byteOffset, first, causesAt);
    return kernel.bytes(causesAt, end - causesAt);
  }
}

function namesByScript({ length, flags, hostHash }: Chunk): BlockNames {
  const filters = new Uint8Array(blocksOf(length) * FILTER_BYTES);
  const others: number[] = [];
  for (let row = 0; row < length; row++) {
    const isOrdinary = (flags[row]! & Flag.Ordinary) !== 0;
    if (!isOrdinary || (flags[row]! & Flag.Rewritten) !== 0) others.push(row);
    if (isOrdinary) addName(filters, blockOf(row) * FILTER_BYTES, hostHash[row]!);
  }
  return { filters, others: Uint32Array.from(others) };
}

function othersByScript({ flags, kind, length }: Chunk): Uint8Array {
  const others = new Uint8Array(length);
  for (let row = 0; row < length; row++)
    others[row] =
      ((flags[row]! & Flag.Generated) === 0 ? 0 : Other.Generated) |
      ((flags[row]! & Flag.Continued) === 0 ? 0 : Other.Continued) |
      (kind[row]! < Kind.Hosts ? Other.NoRule : 0);
  return others;
}

function causesByScript({ id, fate, length }: Chunk, by: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(length * LONGEST_VARINT);
  let at = 0;
  let last = id << CHUNK_SHIFT;
  for (let row = 0; row < length; row++) {
    if (!hasCause(fate[row]!)) continue;
    const step = by[row]! - last;
    last = by[row]!;
    // Row numbers have 31 bits, so the double of a difference has 32, and as a number without sign it still fits.
    let value = ((step << 1) ^ (step >> 31)) >>> 0;
    for (; value > 127; value >>>= 7) bytes[at++] = (value & 127) | 128;
    bytes[at++] = value;
  }
  return bytes.subarray(0, at);
}
