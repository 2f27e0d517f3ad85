import { CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { STOP } from "./kernel-layout.ts";
import { PagedLists, type PageStock, type Run } from "./paged-lists.ts";

const MOST_LISTS = 256;

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
