import { equalBytes } from "../bytes/search.ts";
import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Host } from "../host/host.ts";
import { outputFailed } from "../publish/output-failed.ts";
import type { OutputFile } from "../publish/output-file.ts";
import { OutputLock } from "../publish/output-lock.ts";
import { keptBuilds, momentOf } from "../record/kept-builds.ts";
import { askedBy } from "./asked-by.ts";
import type { BuildContext } from "./build-context.ts";
import { type ChosenBuild, chosenBuild } from "./chosen-build.ts";
import { planCombined } from "./combined-plan.ts";
import { refusePlaces, wantedFiles } from "./refuse-places.ts";
import { type ListPlan, planList } from "./list-plan.ts";
import { openList } from "./project.ts";
import { noteHistory } from "./note-history.ts";
import type { Published } from "./publish-list.ts";
import { type FoundHold, type Hold, readHold, removeHold, writeHold } from "./state/hold.ts";
import { wholeBuild } from "./state/kept-draft.ts";
import { readLastPublish } from "./state/last-publish.ts";

/** Ends a hold. Returns what the list was held at; undefined if it was not held. Rejects with a `CompilerError`. */
export async function endHold(
  context: BuildContext,
): Promise<{ readonly list: string; readonly hold: FoundHold | undefined }> {
  const { host } = context;
  const { plan, file } = await selectedList(context);
  const list = plan.list.config.name;
  const lock = await OutputLock.take(file.path, host);
  try {
    const hold = await readHold(file.path, host);
    for (const { path } of plan.files) await removeHold(path, host);
    if (hold !== undefined) await noteHistory(plan.files, { event: "hold-ended" }, context);
    return { list, hold };
  } catch (error) {
    throw outputFailed(`Cannot end the hold of ${printable(list)}`, error);
  } finally {
    await lock.release();
  }
}

/**
 * Holds the published list as it is, and writes no other file. Undefined if `build` is named and another list is published.
 * Rejects with a `CompilerError`.
 */
export async function holdPublished(
  context: BuildContext,
  build?: string,
): Promise<{ readonly list: string; readonly hold: Hold } | undefined> {
  const { options, host } = context;
  const { plan, file } = await selectedList(context);
  const list = plan.list.config.name;
  const lock = await OutputLock.take(file.path, host);
  try {
    if (build !== undefined && !(await isPublished(build, file.path, host))) return undefined;
    const old = await readHold(file.path, host);
    if (old !== undefined && old !== "damaged") return { list, hold: old };
    const published = await publishedReport(plan, file, host);
    const names = [...plan.files, ...plan.outputs].map(({ name }) => name);
    const hold: Hold = {
      version: 1,
      at: host.now().toISOString(),
      by: askedBy(options, host),
      ...published,
      written: names.map((name) => ({ file: name })),
      files: names,
    };
    for (const { path } of plan.files) await writeHold(path, hold, host);
    const fact = { event: "held", rules: hold.report.rules, of: hold.of } as const;
    await noteHistory(plan.files, fact, context);
    return { list, hold };
  } catch (error) {
    throw outputFailed(`Cannot hold ${printable(list)}`, error);
  } finally {
    await lock.release();
  }
}

async function isPublished(build: string, path: string, host: Host): Promise<boolean> {
  const { whole } = await chosenBuild(build, path, host);
  return (await host.exists(path)) && equalBytes(whole.list, await host.readFile(path));
}

/** The report of the published list: that of the newest stored build, unless another list was published without a record. */
async function publishedReport(
  { list }: ListPlan,
  { name, path }: OutputFile,
  host: Host,
): Promise<Pick<Hold, "of" | "report">> {
  if (!(await host.exists(path)))
    throw new CompilerError([
      errorOf("not-published", `The list ${printable(list.config.name)} is not published`, {
        cause: `${printable(name)} does not exist`,
      }),
    ]);
  const bytes = await host.readFile(path);
  const newest = (await keptBuilds(path, host)).at(-1);
  const whole = newest && (await wholeBuild(newest, host));
  if (whole !== undefined && equalBytes(whole.list, bytes))
    return { of: momentOf(whole.header.of ?? newest!.stamp), report: whole.draft.report };
  const last = await readLastPublish(path, host);
  const sum = (figure: "lines" | "kept"): number =>
    last?.sources.reduce((total, one) => total + one[figure], 0) ?? 0;
  const changed = (await host.stampOf(path))?.changed ?? host.now().getTime();
  return {
    of: last?.published ?? new Date(changed).toISOString(),
    report: {
      name: list.config.name,
      sources: [],
      lines: sum("lines"),
      kept: sum("kept"),
      rules: last?.rules ?? 0,
      bytes: bytes.length,
      degraded: false,
    },
  };
}

/** The list that the options select, and its first file. */
export async function selectedList({
  options,
  host,
}: BuildContext): Promise<{ readonly plan: ListPlan; readonly file: OutputFile }> {
  const plan = planList(await openList(options, host), options, host);
  const [file] = plan.files;
  const { project } = plan.list;
  const wanted = wantedFiles([plan], planCombined(project, options, host));
  await refusePlaces(wanted, options, host, project.locate);
  if (file !== undefined) return { plan, file };
  throw new CompilerError([
    errorOf("unknown-flag", "rollback and hold need the file of the list; remove -o -"),
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
