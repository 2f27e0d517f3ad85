import type { MemoryBudget } from "../kernel/memory-budget.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { ChunkPool } from "../rules/rule-table.ts";

/** What every stage works with. It decides where data is, never what comes out. */
export interface StageContext {
  readonly pool: ChunkPool;
  readonly budget: MemoryBudget;
  readonly finder: RowFinder;
}
