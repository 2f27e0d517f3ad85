import type { Chunk } from "./chunk.ts";
import { Fate, type FateName, fateName, hasCause } from "./fate.ts";
import { Flag } from "./kind.ts";
import { textOf } from "./row-text.ts";
import { type ChunkPool, type RuleTable, rowOf } from "./rule-table.ts";

/** A row as an object: what a line became, and why. */
export interface RowView {
  /** The text in the list, or the last text before the row was dropped. */
  readonly text: string;
  /** Whether it is in the list. */
  readonly isKept: boolean;
  readonly fate: FateName;
  readonly file: string;
  /** Index of the source in the configuration. */
  readonly source: number;
  readonly line: number;
  /** The row that made this one redundant. */
  readonly by?: { readonly text: string; readonly file: string; readonly line: number };
}

/** Every line that was read, in order, as objects created one at a time. For display and plugins: too slow for millions. */
export function* rowsOf(rules: RuleTable): Generator<RowView> {
  for (const chunk of rules.chunks) {
    rules.pool.cache.use(chunk);
    yield* rowsOfChunk(rules.pool, chunk);
    rules.pool.cache.done(chunk);
  }
}

function* rowsOfChunk(pool: ChunkPool, chunk: Chunk): Generator<RowView> {
  const { file, source } = pool.origins[chunk.origin]!;
  for (let row = 0; row < chunk.length; row++) {
    const fate = chunk.fate[row]!;
    if ((chunk.flags[row]! & Flag.Generated) !== 0 || fate === Fate.Spare) continue;
    const view = {
      text: textOf(chunk, row),
      isKept: fate === Fate.Kept,
      fate: fateName(fate),
      file,
      source,
      line: chunk.lineOf(row),
    };
    yield hasCause(fate) ? { ...view, by: placeOf(chunk.by![row]!, pool) } : view;
  }
}

/** The text of a row and where it comes from. */
export function placeOf(id: number, pool: ChunkPool): NonNullable<RowView["by"]> {
  const chunk = pool.chunkOf(id);
  const row = rowOf(id);
  pool.cache.use(chunk);
  try {
    const { file } = pool.origins[chunk.origin]!;
    return { text: textOf(chunk, row), file, line: chunk.lineOf(row) };
  } finally {
    pool.cache.done(chunk);
  }
}
