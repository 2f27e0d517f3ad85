import type { RuleTable } from "../rules/rule-table.ts";
import type { Outlook } from "./outlook.ts";

export interface Transformation {
  /** One line, shown by `--help` and in docs/reference/transformations.md. */
  readonly summary: string;
  /** What it does, in a paragraph, for the reference page. */
  readonly details: string;
  /** Loads a library that only some lists need. Called before `run`, for the lists it will run on. */
  prepare?(rules: readonly RuleTable[]): Promise<void>;
  /** Works on the columns of the list it is given. Rows are dropped with a reason, never removed. */
  run(rules: RuleTable, outlook: Outlook): void;
}
