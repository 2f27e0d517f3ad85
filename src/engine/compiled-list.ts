import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { StoredFile } from "../sources/source-store.ts";
import type { ListFindings } from "./list-findings.ts";
import type { PlannedSource } from "./plan.ts";
import type { CompileReport } from "./report.ts";

/** What is known of a list once it is compiled. */
export interface CompiledList {
  /** Every row that was read, with its fate. */
  readonly rules: RuleTable;
  readonly report: CompileReport;
  readonly diagnostics: readonly Diagnostic[];
  /** What its rules block that they should not, for the guards. */
  readonly findings: ListFindings;
  /** The local files that were read. */
  readonly inputs: readonly InputFile[];
  /** What tells everything that came from the web from any other state; undefined when nothing can. */
  readonly web: string | undefined;
  /** What each remote source consists of, by the source as the configuration has it. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** The sources, in the order of the report. */
  readonly sources: readonly Pick<PlannedSource, "source" | "shown">[];
  /** The moment in the list's header. */
  readonly builtAt: Date;
  /** The list's header with everything blotted out that the clock decides. */
  readonly timelessHead: string;
  /** What other formats have to know of it. */
  readonly shape: ListShape;
  /** Gives temporary files back. What did not fit into memory cannot be asked about afterwards. */
  close(): void;
}
