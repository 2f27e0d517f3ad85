import { type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { Host } from "../host/host.ts";
import type { OutputFile } from "../publish/output-file.ts";
import type { HistoryEntry } from "../record/history-entry.ts";
import { HistoryLog } from "../record/history-log.ts";
import { digestOfFile } from "../sources/source-store.ts";

export type { HistoryEntry } from "../record/history-entry.ts";

/** The history of a list. */
export interface ListHistory {
  readonly entries: readonly HistoryEntry[];
  /** Errors if it was changed; warnings if a stopped run left it open. */
  readonly problems: readonly Diagnostic[];
}

/** Reads and checks the history of a list. Rejects with a `HostError` if it cannot be read. */
export async function listHistory({ name, path }: OutputFile, host: Host): Promise<ListHistory> {
  const { entries, problems, isUnfinished, to } = await new HistoryLog(path, host).check();
  const file = printable(name);
  const found = someOf(problems.map((problem) => printable(problem, 200)));
  const changed =
    problems.length === 0
      ? []
      : [errorOf("history-changed", `The history of ${file} was changed: ${found}`)];
  const open = isUnfinished
    ? [warningOf("history-open", `A run was stopped while it wrote the history of ${file}`)]
    : [];
  const isOther = to !== undefined && to !== (await digestOfFile(path, host));
  const other = isOther
    ? [warningOf("history-open", `${file} is not the list that the history names last`)]
    : [];
  return { entries, problems: [...changed, ...open, ...other] };
}
