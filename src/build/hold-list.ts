import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { outputFailed } from "../publish/output-failed.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { OutputLock } from "../publish/output-lock.ts";
import { momentOf } from "../record/kept-builds.ts";
import { askedBy } from "./asked-by.ts";
import type { BuildContext } from "./build-context.ts";
import type { ChosenBuild } from "./chosen-build.ts";
import { type ListPlan, planList } from "./list-plan.ts";
import { openList } from "./project.ts";
import { noteHistory } from "./note-history.ts";
import type { Published } from "./publish-list.ts";
import { type FoundHold, type Hold, readHold, removeHold, writeHold } from "./state/hold.ts";

/** Ends a hold. Returns what the list was held at; undefined if it was not held. Rejects with a `CompilerError`. */
export async function release(
  context: BuildContext,
): Promise<{ readonly list: string; readonly hold: FoundHold | undefined }> {
  const { host } = context;
  const { plan, file } = await selectedList(context);
  const list = plan.list.config.name;
  const lock = await OutputLock.take(file.path, host);
  try {
    const hold = await readHold(file.path, host);
    for (const { path } of plan.files) await removeHold(path, host);
    if (hold !== undefined) await noteHistory(plan.files, { event: "released" }, context);
    return { list, hold };
  } catch (error) {
    throw outputFailed(`Cannot release ${printable(list)}`, error);
  } finally {
    await lock.release();
  }
}

/** The list that the options select, and its first file. */
export async function selectedList({
  options,
  host,
}: BuildContext): Promise<{ readonly plan: ListPlan; readonly file: OutputFile }> {
  const plan = planList(await openList(options, host), options, host);
  const [file] = plan.files;
  if (file !== undefined) return { plan, file };
  throw new CompilerError([
    errorOf("unknown-flag", "rollback needs the file of the list; remove -o -"),
  ]);
}

/** Holds every file of the list. Rejects with a `CompilerError`. */
export async function holdAt(
  { files }: ListPlan,
  { whole, of, published }: ChosenBuild & { readonly published: Published },
  { options, host }: Pick<BuildContext, "options" | "host">,
): Promise<void> {
  const hold: Hold = {
    version: 1,
    at: host.now().toISOString(),
    by: askedBy(options, host),
    of: momentOf(of),
    report: whole.draft.report,
    written: published.written.map(({ outcome: _outcome, ...one }) => one),
    files: published.names,
  };
  try {
    for (const { path } of files) await writeHold(path, hold, host);
  } catch (error) {
    throw outputFailed(`Cannot hold ${printable(whole.draft.report.name)}`, error);
  }
}
