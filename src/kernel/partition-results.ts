import { CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { CURSOR, STOP } from "./kernel-layout.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { PagedLists, type PageStock, type Run } from "./paged-lists.ts";

const MOST_LISTS = 256;
/** Puts the results for all rows into one list. */
const ONE_LIST = 31;

/** Results for rows, computed per partition and applied per chunk. */
export class PartitionResults {
  private readonly stock: PageStock;
  private readonly lists: PagedLists;
  private readonly idShift: number;
  private readonly count: number;
  private at = { list: -1, runs: [] as Run[] };

  /** Holds results for chunks with ids below `chunks`. If there are very many, neighbouring chunks share a list. */
  constructor(stock: PageStock, chunks: number) {
    this.stock = stock;
    let shift = 0;
    while ((chunks - 1) >> shift >= MOST_LISTS) shift++;
    this.idShift = shift + CHUNK_SHIFT;
    this.count = chunks;
    this.lists = new PagedLists(stock, ((chunks - 1) >> shift) + 1);
  }

  /** Collects the results that these records contain. */
  takeFrom({ start, end }: Run): void {
    const { exports } = this.stock.kernel;
    let record = start;
    while (true) {
      record = exports.deliver(record, end, this.lists.cursors, this.idShift) >>> 0;
      if (exports.stop.value === STOP.End) return;
      this.lists.refill(exports.stopList.value, exports.stopSize.value);
    }
  }

  /** Takes results, as pairs, that `pairsOf` returned. */
  takePairs(pairs: Uint32Array): void {
    const { kernel } = this.stock;
    const bytes = pairs.byteLength;
    const area = kernel.allocate(bytes);
    kernel.words(area, pairs.length).set(pairs);
    let pair = area;
    while (true) {
      pair = kernel.exports.passOn(pair, area + bytes, this.lists.cursors, this.idShift) >>> 0;
      if (kernel.exports.stop.value === STOP.End) break;
      this.lists.refill(kernel.exports.stopList.value, kernel.exports.stopSize.value);
    }
    kernel.free(area, bytes);
  }

  /**
   * Runs that contain the results for the chunk's rows, and possibly others: pairs of the row's id and the id of the row
   * that makes it redundant, with the marks that `deliver` set (see kernel/kernel.ts).
   */
  runsOf(chunk: Chunk): readonly Run[] {
    if (chunk.id >= this.count) return [];
    const list = (chunk.id << CHUNK_SHIFT) >> this.idShift;
    if (list !== this.at.list) this.at = { list, runs: this.lists.runsOf(list) };
    return this.at.runs;
  }
}

/** The results that these records contain, as pairs of the row's id and that of its cause. */
export function pairsOf(runs: readonly Run[], kernel: KernelMemory): Uint32Array {
  const { exports } = kernel;
  const most = runs.reduce((sum, { start, end }) => sum + end - start, 0);
  // A record is longer than a pair.
  const area = kernel.allocate(CURSOR.Bytes + most);
  const cursor = kernel.words(area, CURSOR.Bytes / 4);
  const first = area + CURSOR.Bytes;
  cursor[CURSOR.Next / 4] = first;
  cursor[CURSOR.End / 4] = first + most;
  for (const { start, end } of runs) exports.deliver(start, end, area, ONE_LIST);
  const pairs = kernel.words(first, (cursor[CURSOR.Next / 4]! - first) / 4).slice();
  kernel.free(area, CURSOR.Bytes + most);
  return pairs;
}
