import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Exit } from "../diagnostics/exit.ts";
import type { CompileReport } from "../engine/report.ts";
import type { InputFile } from "../sources/source-list.ts";
import type { WrittenOutput } from "./list-outputs.ts";

export type { CompileReport, SourceReport } from "../engine/report.ts";
export type { Loss, LossReason } from "../formats/losses.ts";
export { type SourceState, isDegraded } from "../sources/source-state.ts";

/**
 * How a build ended. `published`: at least one list was written. `unchanged`: no list changed. `held`: a list is held at an earlier
 * build, and no other was written. `refused`: a guard refused a list. `failed`: a list could not be built. The last two take
 * precedence. Lists are independent: others may have been published.
 */
export type BuildStatus = "published" | "unchanged" | "held" | "refused" | "failed" | "interrupted";

/** How a build ended: as a whole, and for each list. */
export interface BuildOutcome {
  readonly status: BuildStatus;
  readonly lists: readonly ListOutcome[];
  /** Files over several lists. */
  readonly combined?: readonly WrittenOutput[];
  readonly seconds: number;
}

/** How the build of one list ended. */
export interface ListOutcome {
  /** The name of the list. */
  readonly list: string;
  readonly status: Exclude<BuildStatus, "interrupted">;
  /** The exit code of a command that builds only this list. */
  readonly exit: Exit;
  /** Whether it is the first list, and lacks sources or files of names: hooks do not run. */
  readonly isIncomplete?: true;
  /** Absent if the list could not be compiled. For a held list, that of the build it is held at. */
  readonly report?: CompileReport;
  /** The errors of a list that was refused or failed; otherwise its warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** The list and its additional formats. */
  readonly outputs: readonly WrittenOutput[];
  /** Names of all published files: the list, its formats, the folder of patches, and the manifest. */
  readonly files: readonly string[];
  readonly seconds: number;
  /** Whether the compile was skipped because nothing has changed since the last build. */
  readonly isCached: boolean;
  /** The local files that were read. */
  readonly inputs: readonly InputFile[];
  /** The last byte written to standard output. */
  readonly lastByte?: number | undefined;
}

export function statusOf(lists: readonly ListOutcome[]): BuildStatus {
  const statuses = new Set<BuildStatus>(lists.map(({ status }) => status));
  const order = ["failed", "refused", "published", "held", "unchanged"] as const;
  return order.find((status) => statuses.has(status)) ?? "unchanged";
}
