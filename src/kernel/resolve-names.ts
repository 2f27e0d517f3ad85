import type { RuleTable } from "../rules/rule-table.ts";
import { usesWasm } from "./choice.ts";
import { resolveNamesByScript } from "./names-by-script.ts";
import { resolveNamesByWasm } from "./names-by-wasm.ts";

export interface NameOptions {
  /** What lost modifiers (`Flag.Widened`) covers only what lost some too. */
  readonly separatesWidened: boolean;
  /** Whether a rule will still be there at the end; asked of those that would cover others. */
  survives(rowId: number): boolean;
}

/**
 * Drops, among the live rules of `Kind.Block`, those for a name that an earlier one blocks (`Fate.SameHost`), then those of
 * which a surviving rule blocks a parent domain (`Fate.Covered`, by the widest such rule).
 */
export function resolveNames(rules: RuleTable, options: NameOptions): void {
  if (usesWasm()) resolveNamesByWasm(rules, options);
  else resolveNamesByScript(rules, options);
}
