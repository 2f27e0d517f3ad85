import { Fate, type FateName, fateName, hasCause } from "./fate.ts";
import { Flag } from "./kind.ts";
import { textOf } from "./row-text.ts";
import { type RuleTable, rowOf } from "./rule-table.ts";

/** A row as an object: what a line became, and why. */
export interface RowView {
  /** The text as it stands in the list, or stood when it was dropped. */
  readonly text: string;
  readonly isLive: boolean;
  readonly fate: FateName;
  readonly file: string;
  /** Index of the source in the configuration. */
  readonly source: number;
  readonly line: number;
  /** The row that made this one redundant. */
  readonly by?: { readonly text: string; readonly file: string; readonly line: number };
}

/** Every line that was read, in order, as objects. Made one at a time; for people and plugins, not for loops over millions. */
export function* rowsOf(rules: RuleTable): Generator<RowView> {
  const { pool } = rules;
  for (const chunk of rules.chunks) {
    const { file, source } = pool.origins[chunk.origin]!;
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      if ((chunk.flags[row]! & Flag.Generated) !== 0 || fate === Fate.Spare) continue;
      const view = {
        text: textOf(chunk, row),
        isLive: fate === Fate.Live,
        fate: fateName(fate),
        file,
        source,
        line: chunk.line[row]!,
      };
      if (!hasCause(fate)) {
        yield view;
        continue;
      }
      const id = chunk.by[row]!;
      const other = pool.chunkOf(id);
      const at = rowOf(id);
      yield {
        ...view,
        by: {
          text: textOf(other, at),
          file: pool.origins[other.origin]!.file,
          line: other.line[at]!,
        },
      };
    }
  }
}
