import type { MemoryBudget } from "../kernel/memory-budget.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { ChunkPool } from "../rules/rule-table.ts";

/** Shared by all stages. It decides where data is stored and never affects the output. */
export interface StageContext {
  readonly pool: ChunkPool;
  readonly budget: MemoryBudget;
  readonly finder: RowFinder;
}
