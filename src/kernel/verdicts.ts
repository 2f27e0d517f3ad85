import { CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { PagedLists, type PageStock, type Run } from "./paged-lists.ts";

const MOST_LISTS = 256;
const COVERED = 0x8000_0000;
const NOT_WIDENED = 0x7fff_ffff;

export interface VerdictTaker {
  /** Another row, given by its id, makes this one redundant: by having the same name or text, or by covering it. */
  redundant(row: number, by: number, isCovered: boolean): void;
  notWidened?(row: number): void;
}

/** Verdicts on rows, reached partition by partition, handed out chunk by chunk. */
export class Verdicts {
  private readonly stock: PageStock;
  private readonly lists: PagedLists;
  private readonly idShift: number;
  private at = { list: -1, runs: [] as Run[] };

  /** For rows of chunks with ids below `chunks`. Neighbours share a list where there are very many. */
  constructor(stock: PageStock, chunks: number) {
    this.stock = stock;
    let shift = 0;
    while ((chunks - 1) >> shift >= MOST_LISTS) shift++;
    this.idShift = shift + CHUNK_SHIFT;
    this.lists = new PagedLists(stock, ((chunks - 1) >> shift) + 1);
  }

  /** Takes the verdicts that stand in these records. */
  takeFrom({ start, end }: Run): void {
    const { exports } = this.stock.kernel;
    let record = start;
    while (true) {
      record = exports.deliver(record, end, this.lists.cursors, this.idShift) >>> 0;
      if (exports.stop.value === 0) return;
      this.lists.refill(exports.stopList.value, exports.stopSize.value);
    }
  }

  handOut(chunk: Chunk, taker: VerdictTaker): void {
    const list = (chunk.id << CHUNK_SHIFT) >> this.idShift;
    if (list !== this.at.list) this.at = { list, runs: this.lists.runsOf(list) };
    // Now, because it may make views void.
    if (this.at.runs.length > 0) chunk.causes();
    for (const { start, end } of this.at.runs) {
      const { u32 } = this.stock.kernel;
      for (let index = start >>> 2; index < end >>> 2; index += 2) {
        const id = u32[index]!;
        if (id >> CHUNK_SHIFT !== chunk.id) continue;
        const row = id & ((1 << CHUNK_SHIFT) - 1);
        const by = u32[index + 1]!;
        if (by === NOT_WIDENED) taker.notWidened?.(row);
        else taker.redundant(row, by & ~COVERED, by >= COVERED);
      }
    }
  }
}
