import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { ListShape } from "../formats/list-model.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { RuleTable } from "../rules/rule-table.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { StoredFile } from "../sources/source-store.ts";
import type { FreedNamesOf } from "./compile-options.ts";
import type { ListFindings } from "./list-findings.ts";
import type { PlannedSource } from "./plan.ts";
import type { CompileReport } from "./report.ts";

/** What a compile found out that later ones compare with. */
export interface Learned {
  /** Popular names that the replaced list blocks. */
  readonly blocked: readonly string[];
  readonly freed: readonly FreedNamesOf[];
}

/** What is known of a list once it is compiled. */
export interface CompiledList {
  /** Every row that was read, with its fate. */
  readonly rules: RuleTable;
  readonly report: CompileReport;
  /** The labels of sources and files of names that it is made without. */
  readonly leftOut: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** Names that the rules should not block, for the guards. */
  readonly findings: ListFindings;
  /** The local files that were read. */
  readonly inputs: readonly InputFile[];
  /** Digest of all remote content; undefined if it cannot be computed. */
  readonly web: string | undefined;
  /** The files of each remote source, by `storeKeyOf` the source as written in the configuration. */
  readonly files: ReadonlyMap<string, readonly StoredFile[]>;
  /** The sources, in report order. */
  readonly sources: readonly Pick<
    PlannedSource,
    "source" | "shown" | "feed" | "member" | "keyFiles"
  >[];
  /** The time in the list's header. */
  readonly builtAt: Date;
  /** The list's header without the parts that depend on the clock. */
  readonly timelessHead: string;
  /** Properties of the list that other formats need. */
  readonly shape: ListShape;
  /** Popular names, if the configuration has any. */
  readonly ranks: RankedNames | undefined;
  /** For the guards of later lists. */
  readonly learned: Learned;
  /** Deletes temporary files. Rows that did not fit into memory are unavailable afterwards. */
  close(): void;
}
