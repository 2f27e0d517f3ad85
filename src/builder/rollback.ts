import { outputFailed } from "../host/files.ts";
import { GUARD_NAMES } from "../diagnostics/codes.ts";
import { changedRules } from "../explain/list-change.ts";
import { encodeUtf8, equalBytes } from "../bytes/text.ts";
import { DECISIONS_FILE } from "../config/decisions.ts";
import { CompilerError, type Diagnostic, errorOf, warningOf } from "../diagnostics/render.ts";
import { countText, printable } from "../diagnostics/text.ts";
import { scratchOf } from "../engine/compile-options.ts";
import { buildTime } from "../engine/compile.ts";
import { NO_FINDINGS } from "../engine/report.ts";
import { ListHeader } from "../engine/output-stage.ts";
import { NameBuffer } from "../formats/names.ts";
import { type Host, ReadOnce, joinBytes } from "../host/host.ts";
import { type OutputFile, OutputLock } from "../publish/list-file.ts";
import { type OutputContext, type OutputPlan, planOutputs } from "../publish/output-plan.ts";
import { lastPatch, patchLines } from "../publish/patches.ts";
import {
  type KeptBuild,
  headerOf,
  keptBuilds,
  listOf,
  timestampOf,
} from "../record/record-file.ts";
import { collectCopies } from "../sources/copies.ts";
import { isAddress } from "../sources/limits.ts";
import { buildList, endLists } from "./build-lists.ts";
import {
  type BuildContext,
  type BuildOutcome,
  type ListOutcome,
  askedBy,
  statusOf,
} from "./build.ts";
import { exitOf } from "./draft/prepare.ts";
import { replayNames } from "./draft/recorded-names.ts";
import { otherPlace } from "./foreign-list.ts";
import { guardList } from "./guards/registry.ts";
import {
  type ListPlan,
  noteListAlone,
  planCombined,
  planList,
  planLists,
  refusePlaces,
  wantedFiles,
} from "./plan/list-plan.ts";
import { type Project, openList, openProject } from "./plan/project.ts";
import { writeCombined } from "./publish/combined-outputs.ts";
import {
  ListOutputs,
  type Published,
  type PublishedConfig,
  filesOf,
  finishPublish,
  noteHistory,
  releaseList,
} from "./publish/publish-list.ts";
import { BuildSession } from "./session.ts";
import {
  type KeptDraft,
  type WholeBuild,
  buildMissing,
  isComplete,
  selected,
  wholeBuild,
} from "./state/kept-builds.ts";
import {
  type FoundHold,
  type Hold,
  forgetSince,
  readHold,
  readLastPublish,
  removeHold,
  writeHold,
} from "./state/list-state.ts";

export interface KeptBuildChoice {
  /** The build: `@1`, `@2026-11-14`. The last one with other rules by default. */
  readonly build?: string | undefined;
  /** Whether the list stays at this build until the hold ends. A list that is held already stays held. */
  readonly hold?: boolean;
}

/** A build that was published again. */
interface Rollback extends ListOutcome {
  /** When that build was made. */
  readonly of: string;
  readonly isHeld: boolean;
}

/**
 * Publishes a kept build of one list again: the list, its formats as they were then in the files of today, and the manifest. Dates and serials
 * are new. Guards only warn. Rejects with a `CompilerError`.
 */
export async function rollback(
  { build: operand, hold }: KeptBuildChoice,
  context: BuildContext,
): Promise<Rollback> {
  const { host, emit } = context;
  const started = host.now().getTime();
  const { plan, file } = await selectedList(context);
  const outputs = new ListOutputs(plan.files, { record: true, isToStdout: false }, host);
  try {
    // Builds can be removed until this run holds the locks.
    await outputs.open(() => finishPublish({ ...plan, config: plan.list.config }, context));
    await outputs.openRecords();
    const { whole, of } = await chosenBuild(operand, file.path, host);
    for (const diagnostic of await objections(plan, whole.draft, host))
      emit({ kind: "diagnostic", diagnostic });
    const isHeld = hold === true || (await readHold(file.path, host)) !== undefined;
    const done = await publishAgain(plan, { whole, of, outputs, isHeld }, context);
    await writeCombined(planCombined(plan.list.project, context.options, host), context);
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
      of: timestampOf(of),
      isHeld,
    };
  } finally {
    await outputs.close();
  }
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

interface Again extends ChosenBuild {
  readonly outputs: ListOutputs;
  readonly isHeld: boolean;
}

async function publishAgain(
  plan: ListPlan,
  { whole, of, outputs, isHeld }: Again,
  context: BuildContext,
): Promise<Published> {
  const { options, host, emit } = context;
  const { draft, header, frames } = whole;
  const { report, shape } = draft;
  const { project, plugins } = plan.list;
  const { rulesDir } = options;
  const paths = plan.files.map(({ path }) => path);
  const where = { folder: rulesDir, host, taken: paths, plugins };
  const config = configuredNow(draft.config, plan, where);
  const outputPlans = planOutputs(config, where);
  for (const diagnostic of leftAlone(plan, outputPlans)) emit({ kind: "diagnostic", diagnostic });
  const builtAt = buildTime(host);
  const dated = await withNewDates(whole, paths, builtAt, host);
  const nameBuffer = new NameBuffer(() => scratchOf(host), false);
  try {
    outputs.write(dated.list);
    outputs.writeRecord(frames);
    if (outputPlans.length > 0) replayNames(draft.runs, whole, nameBuffer);
    const publication = {
      config,
      outputPlans,
      nameBuffer: outputPlans.length === 0 ? undefined : nameBuffer,
      shape,
      // A rollback is a decision against what the guards would say.
      accept: [...GUARD_NAMES, "limit-too-small", "format-loss"],
      builtAt,
      timelessHead: dated.timelessHead,
      tool: header.tool,
      sources: report.sources,
      configFolder: project.folder,
      rulesDir,
      sourcesFile:
        plan.sourcesFile === undefined || draft.about === undefined
          ? undefined
          : { path: plan.sourcesFile, text: draft.about },
    };
    const fact = { rules: report.rules, of: timestampOf(of) };
    const onPublished = async (published: Published): Promise<void> => {
      // Now, because a scheduled run would undo the rollback if this run were killed.
      if (isHeld) await holdAt(plan, { of: fact.of, report, ...filesOf(published) }, context);
      // Before the memory of this build is kept.
      for (const { path } of plan.files) await forgetSince(path, Date.parse(fact.of), host);
    };
    const { published } = await releaseList(
      {
        files: plan.files,
        outputs,
        publication,
        draft: { ...draft, config, timelessHead: dated.timelessHead },
        covered: () => [whole.covered],
        record: () => ({ ...header, builtAt: builtAt.toISOString(), of }),
        copies: header.files.flatMap(({ sha256 }) => sha256 ?? []),
        fact: { event: "rolled-back", ...fact },
        onPublished,
      },
      context,
    );
    if (isHeld) await noteHistory(plan.files, { event: "held", ...fact }, context);
    for (const found of published.overruled)
      emit({ kind: "diagnostic", diagnostic: asWarning(found) });
    return published;
  } finally {
    nameBuffer.close();
  }
}

/**
 * The settings of a kept build, with the files, URLs and programs of today's configuration: what is stored may have been
 * changed by others.
 */
function configuredNow(
  then: PublishedConfig,
  { list, outputs: today }: ListPlan,
  where: OutputContext,
): PublishedConfig {
  const { manifest, notice, patches } = list.config;
  const outputs = (then.outputs ?? []).flatMap((output) => {
    const { updates: _updates, pack: _pack, ...own } = output;
    const [planned] = planOutputs({ name: then.name, outputs: [own] }, where);
    const now = today.find(({ path }) => path === planned?.path);
    if (now === undefined) return [];
    const { updates, packings, formatName } = now;
    const isZone = updates !== undefined && formatName === own.format;
    return [{ ...own, pack: packings, ...(isZone && { updates }) }];
  });
  const { manifest: _manifest, notice: _notice, patches: _patches, ...settings } = then;
  return {
    ...settings,
    outputs,
    ...(manifest !== undefined && { manifest }),
    ...(notice !== undefined && { notice }),
    ...(patches !== undefined && { patches }),
  };
}

/** Warns of outputs that the build does not have. */
function leftAlone(plan: ListPlan, outputPlans: readonly OutputPlan[]): Diagnostic[] {
  const paths = new Set(outputPlans.map(({ path }) => path));
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

/** A kept build with its parts, and the stamp of the build that was compiled: a build may repeat another. */
interface ChosenBuild {
  readonly whole: WholeBuild;
  readonly of: string;
}

/** The build of a list to publish again. Without an operand, the last one with other rules. Rejects with a `CompilerError`. */
async function chosenBuild(
  operand: string | undefined,
  path: string,
  host: Host,
): Promise<ChosenBuild> {
  return await opened(await chosen(operand, path, host), path, host);
}

async function chosen(operand: string | undefined, path: string, host: Host): Promise<KeptBuild> {
  const builds = (await keptBuilds(path, host)).toReversed();
  const build =
    operand === undefined ? await lastOther(builds, path, host) : selected(operand, builds);
  if (build !== undefined) return build;
  throw operand === undefined ? noOther(path, builds) : buildMissing(operand, path, builds);
}

/**
 * The last build with other rules than the published list. If that is itself the result of a rollback, the search goes on before
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
  for (const build of builds) {
    const { list } = build.files;
    const isOther = list !== own && list !== newest.files.list;
    if (build.stamp >= start || !isComplete(build) || !isOther) continue;
    const other = await listOf(build, host);
    if (other === undefined || hasOtherRules(text, other)) return build;
  }
  return undefined;
}

/** Whether more than the header differs, which has the version of this program and settings. */
function hasOtherRules(list: Uint8Array, other: Uint8Array): boolean {
  const { added, removed } = changedRules(list, other);
  return added.length > 0 || removed.length > 0;
}

function noOther(path: string, builds: readonly KeptBuild[]): CompilerError {
  const message = `No earlier build of ${printable(path)} with other rules is stored`;
  const cause =
    builds.length === 0 ? "no build is stored" : `${countText(builds.length, "build")} stored`;
  return new CompilerError([
    errorOf("build-missing", message, { cause, hint: "rules-compiler log lists them" }),
  ]);
}

async function opened(build: KeptBuild, path: string, host: Host): Promise<ChosenBuild> {
  const whole = await wholeBuild(build, host);
  if (whole !== undefined) return { whole, of: whole.header.of ?? build.stamp };
  const cause = isComplete(build)
    ? "its files are damaged"
    : "an earlier version kept it, or a run was stopped meanwhile";
  const name = timestampOf(build.stamp);
  throw new CompilerError([
    errorOf("build-missing", `Cannot publish the build of ${name} of ${printable(path)} again`, {
      cause,
      hint: "Select another one; rules-compiler log lists them",
    }),
  ]);
}

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
  const { host } = context;
  const { plan, file } = await selectedList(context);
  const list = plan.list.config.name;
  const lock = await OutputLock.take(file.path, host);
  try {
    if (build !== undefined && !(await isPublishedBuild(build, file.path, host))) return undefined;
    const old = await readHold(file.path, host);
    if (old !== undefined && old !== "damaged") return { list, hold: old };
    const known = await publishedReport(plan, file, host);
    const hold = await holdAt(plan, { ...known, ...(await publishedFiles(plan, host)) }, context);
    const fact = { event: "held", rules: hold.report.rules, of: hold.of } as const;
    await noteHistory(plan.files, fact, context);
    return { list, hold };
  } catch (error) {
    throw outputFailed(`Cannot hold ${printable(list)}`, error);
  } finally {
    await lock.release();
  }
}

/** What the last publish wrote. Without a state of it, or with that of another folder, what the configuration names. */
async function publishedFiles(
  { files, outputs }: ListPlan,
  host: Host,
): Promise<Pick<Hold, "written" | "files">> {
  const [first] = files as [OutputFile];
  const left = (await readLastPublish(first.path, host))?.left;
  if (left?.written.some(({ file }) => file === first.name)) return left;
  const names = [...files, ...outputs].map(({ name }) => name);
  return { written: names.map((name) => ({ file: name })), files: names };
}

async function isPublishedBuild(build: string, path: string, host: Host): Promise<boolean> {
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
    return { of: timestampOf(whole.header.of ?? newest!.stamp), report: whole.draft.report };
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
async function selectedList({
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
    errorOf("wrong-usage", "rollback and hold need the file of the list; remove -o -"),
  ]);
}

/** Holds every file of the list. Rejects with a `CompilerError`. */
async function holdAt(
  { files, list }: ListPlan,
  known: Omit<Hold, "version" | "at" | "by">,
  { options, host }: Pick<BuildContext, "options" | "host">,
): Promise<Hold> {
  const at = host.now().toISOString();
  const hold: Hold = { version: 1, at, by: askedBy(options, host), ...known };
  try {
    for (const { path } of files) await writeHold(path, hold, host);
  } catch (error) {
    throw outputFailed(`Cannot hold ${printable(list.config.name)}`, error);
  }
  return hold;
}

/** Polling interval. File stamps are polled because not every file system reports changes. */
const LOOK_MS = 100;
/** An editor may write a file in several steps. */
const SETTLE_MS = 30;

/** Builds the same lists repeatedly, and rereads only what changed. */
export class WatchedBuild {
  private readonly context: BuildContext;
  private readonly configPath: string;
  /** The configuration and the decisions beside it, which may not exist yet. */
  private readonly settings = new Set<string>();
  private session: BuildSession | undefined;
  private isOpen = false;
  /** Stamps of all files that the lists depend on, from the time they were read. */
  private known: Record<string, string> = {};

  constructor(context: BuildContext) {
    this.context = context;
    const { host, options } = context;
    // A configuration that does not come from a file does not change.
    this.configPath = options.config ? "" : host.path.resolve(host.cwd, options.configPath);
    this.settings.add(this.configPath);
  }

  /** Number of watched files. */
  get watched(): number {
    const { known, settings } = this;
    return Object.keys(known).filter((path) => known[path] !== "" || !settings.has(path)).length;
  }

  /** The files that changed since they were read. */
  async changed(): Promise<string[]> {
    const now = await this.stampsOf(Object.keys(this.known));
    return Object.keys(this.known).filter((path) => now[path] !== this.known[path]);
  }

  close(): void {
    this.session?.close();
  }

  /** Builds all lists. Reads only what changed since the last build. */
  async rebuild(): Promise<BuildOutcome> {
    return await this.run(this.isOpen ? await this.changed() : [this.configPath]);
  }

  /** Builds, then rebuilds whenever a file changes, until the signal stops it. */
  async watch(
    onBuild?: (outcome: BuildOutcome, changed: readonly string[]) => void | Promise<void>,
    onStart?: (changed: readonly string[]) => void,
  ): Promise<void> {
    const { host, signal } = this.context;
    let changed: readonly string[] = [this.configPath];
    while (!signal.aborted) {
      onStart?.(changed);
      const outcome = await this.run(changed);
      if (outcome.status === "interrupted") return;
      await onBuild?.(outcome, changed);
      do {
        await host.wait(LOOK_MS, signal);
      } while ((await this.changed()).length === 0 && !signal.aborted);
      await host.wait(SETTLE_MS, signal);
      changed = await this.changed();
    }
  }

  /** Builds all lists after these files changed. A list that fails does not stop the others. */
  private async run(changed: readonly string[]): Promise<BuildOutcome> {
    const { options, host, signal, emit } = this.context;
    const started = host.now().getTime();
    const lists: ListOutcome[] = [];
    let status: BuildOutcome["status"] = "interrupted";
    try {
      // Stamp the files before reading them, so that later changes are detected.
      await this.note(changed);
      const isNew = changed.some((path) => this.settings.has(path));
      if (isNew) await this.open();
      this.isOpen = true;
      this.session?.invalidate(changed);
      for (const plan of this.session?.plans ?? []) {
        const outcome = await buildList(plan, this.session!, {});
        for (const { path, stamp } of outcome.inputs) this.known[path] = stamp?.text ?? "";
        lists.push(outcome);
        emit({ kind: "list-done", outcome, lists: this.session!.plans.length });
      }
      const project = this.session?.plans[0]?.list.project;
      if (this.session !== undefined) await endLists(this.session, lists);
      if (project !== undefined)
        await writeCombined(planCombined(project, options, host), this.context);
      // Only then were remote sources fetched.
      if (isNew && options.cacheDir !== undefined) await collectCopies(options.cacheDir, host);
      status = statusOf(lists);
    } catch (error) {
      if (!signal.aborted && !(error instanceof CompilerError)) throw error;
      if (error instanceof CompilerError && !signal.aborted) {
        for (const diagnostic of error.diagnostics) emit({ kind: "diagnostic", diagnostic });
        status = "failed";
      }
    }
    return { status, lists, seconds: (host.now().getTime() - started) / 1000 };
  }

  private async note(paths: readonly string[]): Promise<void> {
    Object.assign(this.known, await this.stampsOf(paths));
  }

  /** The stamp of each file, by path; "" for a missing file. */
  private async stampsOf(paths: readonly string[]): Promise<Record<string, string>> {
    const { host } = this.context;
    const stamps = paths.map(async (path) => [path, (await host.stampOf(path))?.text ?? ""]);
    return Object.fromEntries(await Promise.all(stamps)) as Record<string, string>;
  }

  private async open(): Promise<void> {
    const { options, host, emit } = this.context;
    const { configPath } = options;
    const configFile = new ReadOnce<Project>(configPath, host);
    const { project, lists } = await openProject({ ...options, configFile }, host);
    noteListAlone(lists, this.context);
    const plans = await planLists(lists, options, host);
    for (const diagnostic of await otherPlace(plans, options, host))
      emit({ kind: "diagnostic", diagnostic });
    this.session?.close();
    this.session = new BuildSession(plans, this.context, true);
    this.known = { [this.configPath]: this.known[this.configPath] ?? "" };
    // A source that does not exist yet may be created.
    const local = lists.flatMap(({ config }) =>
      config.sources
        .filter(({ source }) => !isAddress(source))
        .map(({ source }) => host.path.resolve(project.folder, source)),
    );
    const decisions = host.path.join(project.folder, DECISIONS_FILE);
    this.settings.add(decisions);
    await this.note([...local, decisions]);
  }
}
