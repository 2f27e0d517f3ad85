import type { RuleTable } from "../rules/rule-table.ts";

export interface Format {
  /** One line, for `--help` and the reference page. */
  readonly summary: string;
  readonly extension: string;
  /** The file's bytes. `header` is the list's own text above its rules, one string a line. */
  write(rules: RuleTable, header: readonly string[]): Uint8Array;
}
