import { joinBytes } from "../host/join-bytes.ts";
import { equalBytes } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { buildTime } from "../engine/build-time.ts";
import { NO_FINDINGS } from "../engine/list-findings.ts";
import { ListHeader } from "../engine/list-header.ts";
import { scratchOf } from "../engine/scratch.ts";
import { NameBuffer } from "../formats/name-buffer.ts";
import type { Host } from "../host/host.ts";
import { type OutputPlan, planOutputs } from "../publish/output-plan.ts";
import { lastPatch, patchLines } from "../publish/patches.ts";
import { type KeptBuild, headerOf, keptBuilds, listOf, momentOf } from "../record/kept-builds.ts";
import { askedBy } from "./asked-by.ts";
import type { BuildContext } from "./build-context.ts";
import type { ListOutcome } from "./build-outcome.ts";
import { exitOf } from "./cached-outcome.ts";
import { GUARD_NAMES } from "./guards/names.ts";
import { guardList } from "./guards/registry.ts";
import { ListOutputs } from "./list-outputs.ts";
import { type ListPlan, planList } from "./list-plan.ts";
import { openList } from "./project.ts";
import { publishList } from "./publish-list.ts";
import { playTape } from "./spool-tape.ts";
import { isComplete } from "./state/builds-of.ts";
import { buildMissing, selected } from "./state/kept-build.ts";
import { type KeptDraft, type WholeBuild, wholeBuild } from "./state/kept-draft.ts";
import { readLastPublish } from "./state/last-publish.ts";

/** A build that was published again. */
export interface Rollback extends ListOutcome {
  /** When that build was made. */
  readonly of: string;
}

/**
 * Publishes a kept build of one list again: the list, its formats as they were configured then, and the manifest. Dates and serials
 * are new. Guards only warn. Without an operand, it is the last build with another list. Rejects with a `CompilerError`.
 */
export async function rollback(
  operand: string | undefined,
  context: BuildContext,
): Promise<Rollback> {
  const { options, host, emit } = context;
  const started = host.now().getTime();
  const list = await openList(options, host);
  const plan = planList(list, options, host);
  const [file] = plan.files;
  if (file === undefined)
    throw new CompilerError([
      errorOf("unknown-flag", "rollback needs the file of the list; remove -o -"),
    ]);
  const outputs = new ListOutputs(plan.files, { record: true, isToStdout: false }, host);
  try {
    // Builds can be removed until this run holds the locks.
    await outputs.open();
    const build = await chosen(operand, file.path, host);
    const { whole, of } = await opened(build, file.path, host);
    for (const diagnostic of await objections(plan, whole.draft, host))
      emit({ kind: "diagnostic", diagnostic });
    const done = await publishAgain(plan, { whole, of, outputs }, context);
    const { report } = whole.draft;
    return {
      list: report.name,
      status: done.written.some(({ outcome }) => outcome === "written") ? "published" : "unchanged",
      exit: exitOf(report),
      report,
      diagnostics: [],
      outputs: done.written,
      files: done.names,
      seconds: (host.now().getTime() - started) / 1000,
      isCached: false,
      inputs: [],
      of: momentOf(of),
    };
  } finally {
    await outputs.close();
  }
}

/** The build to publish. */
async function chosen(operand: string | undefined, path: string, host: Host): Promise<KeptBuild> {
  const builds = (await keptBuilds(path, host)).toReversed();
  const build =
    operand === undefined ? await lastOther(builds, path, host) : selected(operand, builds);
  if (build !== undefined) return build;
  throw operand === undefined ? noOther(path, builds) : buildMissing(operand, path, builds);
}

/**
 * The last build with another list than the published one. If that is itself the result of a rollback, the search goes on before
 * the build that it repeats, so that two rollbacks go back two lists.
 */
async function lastOther(
  builds: readonly KeptBuild[],
  path: string,
  host: Host,
): Promise<KeptBuild | undefined> {
  const [newest] = builds;
  if (newest === undefined) return undefined;
  const text = await listOf(newest, host);
  const isPublished =
    text !== undefined && (await host.exists(path)) && equalBytes(text, await host.readFile(path));
  // A list may have been published without a record, or removed.
  if (!isPublished) return builds.find(isComplete);
  const start = (await headerOf(newest, host))?.of ?? newest.stamp;
  const own = builds.find(({ stamp }) => stamp <= start)?.files.list;
  return builds.find(
    (build) =>
      build.stamp < start &&
      isComplete(build) &&
      build.files.list !== own &&
      build.files.list !== newest.files.list,
  );
}

function noOther(path: string, builds: readonly KeptBuild[]): CompilerError {
  const message = `No earlier build of ${printable(path)} with another list is stored`;
  const cause = builds.length === 0 ? "no build is stored" : `${builds.length} are stored`;
  return new CompilerError([
    errorOf("build-missing", message, { cause, hint: "rules-compiler builds lists them" }),
  ]);
}

/** The parts of a build, and the stamp of the build that was compiled: a build may repeat another. */
async function opened(
  build: KeptBuild,
  path: string,
  host: Host,
): Promise<{ readonly whole: WholeBuild; readonly of: string }> {
  const whole = await wholeBuild(build, host);
  if (whole !== undefined) return { whole, of: whole.header.of ?? build.stamp };
  const cause = isComplete(build)
    ? "its files are damaged"
    : "an earlier version kept it, or a run was stopped meanwhile";
  const name = momentOf(build.stamp);
  throw new CompilerError([
    errorOf("build-missing", `Cannot publish the build of ${name} of ${printable(path)} again`, {
      cause,
      hint: "Select another one; rules-compiler builds lists them",
    }),
  ]);
}

/** What the guards say about the size of the list. */
async function objections(
  plan: ListPlan,
  { report }: KeptDraft,
  host: Host,
): Promise<Diagnostic[]> {
  const last = await readLastPublish(plan.files[0]!.path, host);
  const found = guardList({ report, findings: NO_FINDINGS, limits: plan.guards, last }, []);
  return found.map(asWarning);
}

function asWarning(found: Diagnostic): Diagnostic {
  const { hint: _hint, ...known } = found;
  return { ...known, severity: "warning", hint: "rollback publishes it anyway" };
}

interface Again {
  readonly whole: WholeBuild;
  readonly of: string;
  readonly outputs: ListOutputs;
}

async function publishAgain(
  plan: ListPlan,
  { whole, of, outputs }: Again,
  { options, host, signal, emit }: BuildContext,
): ReturnType<typeof publishList> {
  const { draft, header, frames } = whole;
  const { config, report, shape } = draft;
  const { project, plugins } = plan.list;
  const { rulesDir } = options;
  const paths = plan.files.map(({ path }) => path);
  const artifacts = planOutputs(config, { folder: rulesDir, host, taken: paths, plugins });
  for (const diagnostic of leftAlone(plan, artifacts)) emit({ kind: "diagnostic", diagnostic });
  const builtAt = buildTime(host);
  const dated = await withNewDates(whole, paths, builtAt, host);
  const spool = new NameBuffer(() => scratchOf(host), false);
  try {
    outputs.write(dated.list);
    outputs.writeRecord(frames);
    if (artifacts.length > 0) playTape(draft.runs, whole, spool);
    signal.throwIfAborted();
    emit({ kind: "publishing", list: report.name });
    const publication = {
      config,
      artifacts,
      spool: artifacts.length === 0 ? undefined : spool,
      shape,
      // A rollback is a decision against what the guards would say.
      accept: [...GUARD_NAMES, "limit-too-small", "format-loss"],
      builtAt,
      timelessHead: dated.timelessHead,
      tool: header.tool,
      sources: report.sources.map(({ label }) => label),
      configFolder: project.folder,
      rulesDir,
    };
    const published = await publishList(outputs, publication, host);
    emit({ kind: "published", list: report.name, file: plan.files[0] });
    for (const found of published.overruled)
      emit({ kind: "diagnostic", diagnostic: asWarning(found) });
    await outputs.remember(
      { ...draft, timelessHead: dated.timelessHead },
      { ...header, builtAt: builtAt.toISOString(), by: askedBy(options, host), of },
      () => [whole.covered],
    );
    return published;
  } finally {
    spool.close();
  }
}

/** Warns of outputs that the build does not have. */
function leftAlone(plan: ListPlan, artifacts: readonly OutputPlan[]): Diagnostic[] {
  const paths = new Set(artifacts.map(({ path }) => path));
  return plan.outputs
    .filter(({ path }) => !paths.has(path))
    .map(({ name }) =>
      warningOf(
        "not-rolled-back",
        `${printable(name)} is not part of that build and stays as it is`,
      ),
    );
}

/** The list with a header of today. Its size stays the same, because the record refers to rules by their offset. */
async function withNewDates(
  { draft, header, list }: WholeBuild,
  paths: readonly string[],
  builtAt: Date,
  host: Host,
): Promise<{ readonly list: Uint8Array; readonly timelessHead: string }> {
  const { config, report, timelessHead } = draft;
  const last = config.patches === undefined ? 0 : await lastPatch(paths, host);
  const head = new ListHeader(config, builtAt, patchLines(config, builtAt, last), header.tool);
  const bytes = encodeUtf8(head.lines(report.rules).join("\n"));
  const size = encodeUtf8(timelessHead).length;
  if (bytes.length !== size) return { list, timelessHead };
  const rest = list.subarray(size);
  return {
    list: joinBytes([bytes, rest], list.length),
    timelessHead: head.timeless(report.rules),
  };
}
