import { hashSlice } from "../bytes/hash.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { rowOf } from "../rules/rule-table.ts";
import { digestOf } from "./long-text-digest.ts";
import type { KernelMemory } from "./kernel-memory.ts";
import { PagedLists, PageStock } from "./paged-lists.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import { tableSlots } from "./table-slots.ts";
import { PartitionResults } from "./partition-results.ts";

/** Flags of a record. Texts with different flags are never equal. */
const IS_NAME = 512;
const IS_DIGEST = 1024;

/** Longer texts are compared by their SHA-256. */
const LONGEST_TEXT = 4096;

/** Finds duplicate lines; the last copy stays. The hash of a text selects its partition. */
export class TextResolver {
  private readonly kernel: KernelMemory;
  private readonly budget: MemoryBudget;
  private readonly stock: PageStock;
  private readonly texts: PagedLists;
  private results: PartitionResults | undefined;
  private readonly copies = new Int32Array(CHUNK_ROWS);
  private chunks = 0;

  constructor(budget: MemoryBudget) {
    this.budget = budget;
    this.kernel = budget.kernel;
    this.stock = new PageStock(this.kernel, budget);
    this.texts = new PagedLists(this.stock, budget.partitions);
  }

  /** Adds a row, in the order of the list: with `isName` by its name, as `||name^`, otherwise by its text. */
  add(chunk: Chunk, row: number, isName: boolean): void {
    this.chunks = Math.max(this.chunks, chunk.id + 1);
    const id = chunk.idOf(row);
    const bytes = chunk.bytesOf(row);
    const start = (isName ? chunk.hostStart : chunk.start)[row]!;
    const end = (isName ? chunk.hostEnd : chunk.end)[row]!;
    const hash = isName ? chunk.hostHash[row]! : hashSlice(bytes, start, end);
    const flags = isName ? IS_NAME : 0;
    // The high bits, because the table uses the low ones.
    const list = (hash >>> 24) & (this.budget.partitions - 1);
    if (end - start <= LONGEST_TEXT) {
      this.texts.append(list, hash, id, flags, bytes, start, end);
      return;
    }
    const digest = digestOf(bytes.subarray(start, end));
    this.texts.append(list, hash, id, flags | IS_DIGEST, digest, 0, digest.length);
  }

  /** Must be called after the last row. */
  resolve(): void {
    const { exports } = this.kernel;
    if (this.chunks === 0) return;
    this.results = new PartitionResults(this.stock, this.chunks);
    const { records, away } = this.texts.largest();
    this.stock.workArea("pages", away);
    this.stock.workArea("table", tableSlots(records) * 8);
    for (let list = 0; list < this.budget.partitions; list++) {
      const runs = this.texts.runsOf(list);
      const count = this.texts.countOf(list);
      if (count === 0) continue;
      const slots = tableSlots(count);
      exports.useTable(this.stock.workArea("table", slots * 8), slots);
      for (const { start, end } of runs) exports.indexTexts(start, end);
      for (const { start, end } of runs) exports.resolveTexts(start, end);
      for (const run of runs) this.results.takeFrom(run);
      this.texts.clear(list);
    }
  }

  /** For each row of the chunk, the id of the copy that stays, or -1. Valid until the next call. */
  copiesOf(chunk: Chunk): Int32Array {
    const { copies } = this;
    copies.fill(-1, 0, chunk.length);
    const runs = this.results?.runsOf(chunk) ?? [];
    // Must come after `runsOf`, which may make the arena grow.
    const { u32 } = this.kernel;
    for (const { start, end } of runs) {
      for (let index = start >>> 2; index < end >>> 2; index += 2) {
        const id = u32[index]!;
        if (id >> CHUNK_SHIFT === chunk.id) copies[rowOf(id)] = u32[index + 1]!;
      }
    }
    return copies;
  }

  close(): void {
    this.stock.close();
  }
}
