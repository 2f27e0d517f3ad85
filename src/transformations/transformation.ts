import type { RuleTable } from "../rules/rule-table.ts";
import type { Outlook } from "./outlook.ts";

export interface Transformation {
  /** One line, shown by `--help` and in docs/reference/transformations.md. */
  readonly summary: string;
  /** What it does, in a paragraph, for the reference page. */
  readonly details: string;
  /** Works on the columns of the list it is given. Rows are dropped with a reason, never removed. */
  run(rules: RuleTable, outlook: Outlook): void;
}
