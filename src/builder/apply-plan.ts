import type { CompileReport } from "../documents/facts.ts";
import { createHash } from "node:crypto";
import { ByteBuffer, decodeUtf8, encodeUtf8, lineEnd } from "../bytes/text.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/render.ts";
import { type ListPlace, listCommandLine, printable, reasonOf } from "../diagnostics/text.ts";
import { VERSION } from "../diagnostics/version.ts";
import { scratchOf } from "../engine/compile-options.ts";
import type { Learned } from "../engine/report.ts";
import { type ListChange, type ListState, listChange } from "../explain/list-change.ts";
import type { ListShape } from "../formats/list-model.ts";
import { NameBuffer } from "../formats/names.ts";
import { ifAvailable, outputFailed, readFully, writeWhole } from "../host/files.ts";
import { type Host, HostError } from "../host/host.ts";
import { shadowHost } from "../host/memory-files.ts";
import type { OutputFile } from "../publish/list-file.ts";
import { manifestPaths } from "../publish/manifest.ts";
import { type OutputPlan, planOutputs, plannedFiles } from "../publish/output-plan.ts";
import { BuildRecord, type RecordHeader } from "../record/build-record.ts";
import { headerBytes } from "../record/record-file.ts";
import { digestOfFile } from "../sources/copies.ts";
import { sourcesPath } from "../sources/ledger.ts";
import type { BuildContext, ListOutcome } from "./build.ts";
import { LOCKFILE, type Lockfile, saveLock } from "./draft/lockfile.ts";
import { type Draft, type PrepareOptions, exitOf, prepare, recordHeader } from "./draft/prepare.ts";
import {
  NameRecorder,
  type SourceRuns,
  replayNames,
  wantsCovered,
} from "./draft/recorded-names.ts";
import { withChangedFiles } from "./inspect-lists.ts";
import { type ListPlan, planCombined, refusePlaces } from "./plan/list-plan.ts";
import { writeCombined } from "./publish/combined-outputs.ts";
import { type PlannedFiles, plannedDigests, plannedFilesOf } from "./publish/planned-files.ts";
import {
  ListOutputs,
  type ListToPublish,
  type PublishedConfig,
  failedList,
  failedOutcome,
  finishPublish,
  noteHistory,
  publishedConfig,
  publishedFact,
  releaseList,
} from "./publish/publish-list.ts";
import type { BuildSession } from "./session.ts";
import { Conditions } from "./state/conditions.ts";
import { publishedState } from "./state/kept-builds.ts";
import { type FoundHold, holdText, readHold } from "./state/list-state.ts";

/**
 * Publishes exactly the bytes of a saved plan, if the published lists have not changed since. Nothing is fetched. Of several lists, one that
 * is refused does not stop the others. Rejects with a `CompilerError`.
 */
export async function applyPlan(path: string, context: BuildContext): Promise<ListOutcome[]> {
  const lists = await readPlans(path, context.host);
  const outcomes: ListOutcome[] = [];
  for (const list of lists) outcomes.push(await applyList(list, context));
  const { plan } = lists[0]!;
  const isPublished = outcomes.some(
    ({ status }) => status === "published" || status === "unchanged",
  );
  if (isPublished) {
    await saveLock(plan.folder, plan.lock, context);
    await writeCombined(plan.combined, context);
  }
  return outcomes;
}

/** What is wrong with a plan says nothing about its list. */
const PLAN_CODES: ReadonlySet<string> = new Set(["list-held", "plan-outdated"]);

async function applyList(list: SavedList, context: BuildContext): Promise<ListOutcome> {
  const { host, signal, emit } = context;
  const started = host.now().getTime();
  const { report, record, files, warnings, place } = list.plan;
  const conditions = new Conditions(files[0]?.path, host);
  const config = host.path.resolve(host.cwd, place.configPath);
  const outputs = new ListOutputs(files, { record: true, isToStdout: false, config }, host);
  let isOpen = false;
  const onOpen = async (): Promise<void> => {
    isOpen = true;
    // Publishing changes what is known without a state.
    await conditions.read();
  };
  const work = { outputs, conditions, onOpen };
  let outcome: ListOutcome;
  try {
    outcome = await applyOpened(list, work, context);
  } catch (error) {
    if (!(error instanceof CompilerError) || signal.aborted) throw error;
    const isOfPlan = error.diagnostics.some(({ code }) => PLAN_CODES.has(code));
    if (!isOpen || isOfPlan) outcome = failedOutcome(report.name, error.exit, error.diagnostics);
    else {
      const draft = { report, record };
      const failed = { list: report.name, files, error, warnings, conditions, draft };
      const done = await failedList(failed, context);
      for (const diagnostic of done.warnings) emit({ kind: "diagnostic", diagnostic });
      outcome = done.outcome;
    }
  } finally {
    await outputs.close();
  }
  return { ...outcome, seconds: (host.now().getTime() - started) / 1000 };
}

/** What a list of a plan is published with. */
interface ApplyWork {
  readonly outputs: ListOutputs;
  readonly conditions: Conditions;
  /** Called as soon as this run holds the locks. */
  readonly onOpen: () => Promise<void>;
}

async function applyOpened(
  { plan, bytes }: SavedList,
  { outputs, conditions, onOpen }: ApplyWork,
  context: BuildContext,
): Promise<ListOutcome> {
  const { options, host, emit } = context;
  const { accept } = options;
  const { config, folder, record, report, files } = plan;
  const rulesDir = shownFolder(plan.rulesDir, host);
  const outputPlans = planOutputs(config, { folder: rulesDir, host });
  await refusePlan(plan, outputPlans, context);
  // Covered names are saved only if a format needs them.
  const nameBuffer = new NameBuffer(() => scratchOf(host), false);
  try {
    const about = sourcesFileOf(plan);
    const manifest = [...manifestPaths(config, rulesDir, host), ...(about ? [about.path] : [])];
    const named = { config, files, outputs: outputPlans, manifest };
    await outputs.open(() => finishPublish(named, context));
    await onOpen();
    // This check is safe only now, while this run holds the locks.
    await refuseIfHeld(plan, host);
    await refuseIfOutdated(plan, bytes.list, host);
    const refused = plan.refused.filter(({ code }) => !accept.includes(code));
    if (refused.length > 0) throw new CompilerError(refused);
    await outputs.openRecords();
    outputs.write(bytes.list);
    outputs.writeRecord(bytes.frames);
    if (outputPlans.length > 0) replayNames(plan.runs, bytes, nameBuffer);
    const publication = {
      config,
      outputPlans,
      nameBuffer: outputPlans.length === 0 ? undefined : nameBuffer,
      shape: plan.shape,
      accept,
      builtAt: new Date(record.builtAt),
      timelessHead: plan.timelessHead,
      tool: VERSION,
      sources: report.sources,
      configFolder: folder,
      rulesDir,
      sourcesFile: about,
      planned: new Map(
        Object.entries(plan.digests).map(([file, sha256]) => [
          host.path.resolve(plan.rulesDir, file),
          sha256,
        ]),
      ),
    };
    const { published, isWritten } = await releaseList(
      {
        files,
        outputs,
        publication,
        draft: { ...plan, config: publishedConfig(config) },
        covered: () => [bytes.covered],
        record: () => record,
        copies: plan.copies,
        fact: publishedFact(report, options),
      },
      context,
    );
    const diagnostics = await conditions.settle(
      { finder: "build", diagnostics: plan.warnings },
      async (change) => await noteHistory(files, change, context),
    );
    for (const diagnostic of diagnostics) emit({ kind: "diagnostic", diagnostic });
    return {
      list: report.name,
      status: isWritten ? "published" : "unchanged",
      exit: exitOf(report),
      ...(plan.isIncomplete && { isIncomplete: true as const }),
      report,
      diagnostics,
      outputs: published.written,
      files: published.names,
      seconds: 0,
      isCached: false,
      inputs: [],
      lastByte: bytes.list.at(-1),
    };
  } finally {
    nameBuffer.close();
  }
}

/** What is published about the sources, beside the list. */
function sourcesFileOf({ about, files }: SavedPlan): ListToPublish["sourcesFile"] {
  const [list] = files;
  if (about === undefined || list === undefined) return undefined;
  return { path: sourcesPath(list.path), text: about };
}

/** A plan is a file that others may have changed. Rejects with a `CompilerError` if it writes where today's options do not permit it. */
async function refusePlan(
  plan: SavedPlan,
  outputPlans: readonly OutputPlan[],
  { options, host }: BuildContext,
): Promise<void> {
  const { files, config, rulesDir, combined, lock, folder } = plan;
  const { path, cwd } = host;
  const about = sourcesFileOf(plan);
  const names = [
    ...files.map((file) => file.path),
    ...outputPlans.flatMap(plannedFiles).map((file) => file.path),
    ...manifestPaths(config, rulesDir, host),
    ...(about ? [about.path] : []),
    ...combined.flatMap((one) => [one.name, ...one.files.map((file) => file.path)]),
  ];
  const wanted = names.map((name) => ({ name, path: path.resolve(cwd, name) }));
  await refusePlaces(wanted, options, host);
  const own = path.dirname(path.resolve(cwd, options.configPath));
  if (lock === undefined || folder === own || options.permit.includes("paths")) return;
  throw new CompilerError([
    errorOf("path-outside", `The plan has ${LOCKFILE} of another folder: ${printable(folder)}`, {
      hint: "Use the same -c as plan, or add --permit paths",
    }),
  ]);
}

async function refuseIfHeld({ files, report, place }: SavedPlan, host: Host): Promise<void> {
  for (const { path } of files) {
    const hold = await readHold(path, host);
    if (hold !== undefined)
      throw new CompilerError([
        errorOf("list-held", holdText(report.name, hold), {
          hint: `End the hold with ${listCommandLine("hold --end", report.name, place)}`,
        }),
      ]);
  }
}

async function refuseIfOutdated({ files }: SavedPlan, list: Uint8Array, host: Host): Promise<void> {
  for (const { name, path, was } of files) {
    const now = await digestAt(path, host);
    if (now === was) continue;
    const isDone = now === createHash("sha256").update(list).digest("hex");
    throw new CompilerError([
      isDone
        ? errorOf("plan-outdated", `${printable(name)} is already the list of this plan`, {
            hint: "There is nothing to apply; run plan again for newer changes",
          })
        : errorOf("plan-outdated", `${printable(name)} has changed since the plan was saved`),
    ]);
  }
}

/** Relative to the current folder if it is inside, as in the messages of `compile`. */
function shownFolder(folder: string, { path, cwd }: Pick<Host, "path" | "cwd">): string {
  const relative = path.relative(cwd, folder);
  const isInside = !path.isAbsolute(relative) && relative.split(path.sep)[0] !== "..";
  return isInside ? relative : folder;
}

/** Everything that `apply` needs to publish what `plan` showed. */
interface SavedPlan {
  readonly report: CompileReport;
  readonly refused: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** Where the list goes, and the SHA-256 of the previous file; null if there was none. */
  readonly files: readonly (OutputFile & { readonly was: string | null })[];
  readonly record: RecordHeader;
  /** The settings that affect publishing. */
  readonly config: PublishedConfig;
  /** The folder of the additional files. */
  readonly rulesDir: string;
  readonly shape: ListShape;
  /** The list's header without its dates. */
  readonly timelessHead: string;
  /** The sources of the rules. */
  readonly runs: SourceRuns;
  /** What is published about the sources. */
  readonly about?: string | undefined;
  /** The lock to write, and its folder. */
  readonly lock?: Lockfile | undefined;
  readonly folder: string;
  /** For the guards of the next build. */
  readonly learned?: Learned | undefined;
  /** SHA-256 of the copies that it was compiled from. */
  readonly copies: readonly string[];
  /** Whether it is the first list, and lacks sources or files of names. */
  readonly isIncomplete: boolean;
  /** The files over several lists. */
  readonly combined: ReturnType<typeof planCombined>;
  /** The options that find the list again, as they were given. */
  readonly place: ListPlace;
  /** SHA-256 of the list and of each file in another format, by its path relative to `rulesDir`; compressed copies follow from them. */
  readonly digests: Readonly<Record<string, string>>;
}

/** A list of a saved plan. */
interface SavedList {
  readonly plan: SavedPlan;
  readonly bytes: SavedBytes;
}

interface SavedBytes {
  readonly list: Uint8Array;
  /** Names in sources that the list covers by their parents. */
  readonly covered: Uint8Array;
  /** Frames of the build record. */
  readonly frames: Uint8Array;
}

interface Head extends SavedPlan {
  readonly plan: 1;
  readonly tool: string;
  readonly listBytes: number;
  readonly coveredBytes: number;
  readonly framesBytes: number;
}

/** Writes for each list a line of JSON, then the list, the covered names and the frames. */
async function writePlans(path: string, lists: readonly SavedList[], host: Host): Promise<void> {
  await refuseOther(path, host);
  try {
    await writeWhole(host.path.resolve(host.cwd, path), host, (file) => {
      for (const { plan, bytes } of lists) {
        const { list, covered, frames } = bytes;
        const head: Head = {
          plan: 1,
          tool: VERSION,
          listBytes: list.length,
          coveredBytes: covered.length,
          framesBytes: frames.length,
          ...plan,
        };
        file.write(encodeUtf8(`${JSON.stringify(head)}\n`));
        for (const piece of [list, covered, frames]) file.write(piece);
      }
    });
  } catch (error) {
    throw outputFailed(`Cannot write ${printable(path)}`, error);
  }
}

/** How every saved plan begins. */
const OPENING = '{"plan":';

/** A plan replaces another plan or an empty file, but not a configuration or a list. */
async function refuseOther(path: string, host: Host): Promise<void> {
  const opened = await ifAvailable(() => host.openFile(host.path.resolve(host.cwd, path)));
  if (opened === undefined) return;
  const start = decodeUtf8(await readFully(opened, new Uint8Array(OPENING.length)));
  await opened.close();
  if (start === "" || start === OPENING) return;
  const message = `--save would overwrite ${printable(path)}, which is not a saved plan`;
  throw new CompilerError([errorOf("overwrites-input", message)]);
}

/** The lists of a plan. Rejects with a `CompilerError` if the file cannot be read or is not a plan of this version. */
async function readPlans(path: string, host: Host): Promise<SavedList[]> {
  const bytes = await host.readFile(host.path.resolve(host.cwd, path)).catch((error: unknown) => {
    if (!(error instanceof HostError)) throw error;
    throw unreadable(path, reasonOf(error.code, error.message));
  });
  const lists: SavedList[] = [];
  for (let at = 0; at < bytes.length || at === 0;) {
    const end = lineEnd(bytes, at);
    const head = headIn(decodeUtf8(bytes, at, end < bytes.length ? end : at));
    if (head === undefined) throw unreadable(path, "it is not a plan");
    if (head.tool !== VERSION)
      throw unreadable(path, `version ${printable(head.tool, 20)} saved it`);
    const coveredAt = end + 1 + head.listBytes;
    const framesAt = coveredAt + head.coveredBytes;
    const next = framesAt + head.framesBytes;
    if (next > bytes.length) throw unreadable(path, "it ends too early");
    const list = bytes.subarray(end + 1, coveredAt);
    const covered = bytes.subarray(coveredAt, framesAt);
    lists.push({ plan: head, bytes: { list, covered, frames: bytes.subarray(framesAt, next) } });
    at = next;
  }
  return lists;
}

function unreadable(path: string, cause: string): CompilerError {
  return new CompilerError([
    errorOf("plan-unreadable", `Cannot apply ${printable(path)}`, { cause }),
  ]);
}

function headIn(text: string): Head | undefined {
  try {
    const head = JSON.parse(text) as Partial<Head> | null;
    const lists = [
      head?.files,
      head?.refused,
      head?.warnings,
      head?.report?.sources,
      head?.runs?.list,
      head?.runs?.covered,
      head?.shape?.protectedNames,
      head?.shape?.expanded?.rules ?? [],
      head?.shape?.popular ?? [],
      head?.combined,
      head?.copies,
    ];
    const isPlan =
      head?.plan === 1 &&
      lists.every(Array.isArray) &&
      [head.listBytes, head.coveredBytes, head.framesBytes].every(
        (size) => Number.isSafeInteger(size) && size! >= 0,
      ) &&
      typeof head.digests === "object" &&
      head.digests !== null &&
      typeof head.record?.builtAt === "string" &&
      typeof head.config?.name === "string" &&
      typeof head.rulesDir === "string" &&
      typeof head.place?.configPath === "string" &&
      typeof (head.place.output ?? "") === "string" &&
      typeof head.timelessHead === "string";
    return isPlan ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

/** SHA-256 of the list at a path; null if it does not exist. */
export async function digestAt(path: string, host: Host): Promise<string | null> {
  return (await host.exists(path)) ? ((await digestOfFile(path, host)) ?? null) : null;
}

/** SHA-256 of the lists that a plan would replace, computed before the dry run; null if there is no list. */
export async function digestsBefore(session: BuildSession): Promise<Map<string, string | null>> {
  const paths = session.plans.flatMap(({ files }) => files.map(({ path }) => path));
  const digests = paths.map(async (path) => [path, await digestAt(path, session.host)] as const);
  return new Map(await Promise.all(digests));
}

/** Saves the results of dry runs, so that `apply` publishes exactly those. */
export async function savePlan(
  path: string,
  runs: readonly DryRun[],
  before: ReadonlyMap<string, string | null>,
  session: BuildSession,
): Promise<void> {
  const { host, options } = session;
  const { configPath, isFound, output, rulesDir } = options;
  const lock = await lockOf(runs);
  const lists: SavedList[] = [];
  for (const { plan, compiled, violations, warnings, header, saved, isIncomplete } of runs) {
    const { sources: _sources, ...config } = plan.list.config;
    const saving = {
      report: compiled.report,
      refused: violations,
      warnings: [...compiled.diagnostics, ...warnings],
      files: plan.files.map((file) => ({ ...file, was: before.get(file.path) ?? null })),
      record: header,
      config,
      rulesDir: host.path.resolve(host.cwd, rulesDir),
      shape: compiled.shape,
      timelessHead: compiled.timelessHead,
      runs: saved.runs,
      about: (await session.sourcesFile(plan, compiled.report))?.text,
      lock,
      folder: plan.list.project.folder,
      learned: compiled.learned,
      copies: [...compiled.files.values()].flat().map(({ sha256 }) => sha256),
      isIncomplete,
      combined: planCombined(plan.list.project, options, host),
      place: { configPath, ...(isFound && { isFound }), output },
      digests: await plannedDigests({ plan, compiled, saved }, rulesDir, host),
    };
    lists.push({ plan: saving, bytes: saved });
  }
  await writePlans(path, lists, host);
}

/** Lists of one configuration share their lock. */
async function lockOf(runs: readonly DryRun[]): Promise<Lockfile | undefined> {
  const locks: Lockfile[] = [];
  for (const { lock, compiled } of runs) {
    const renewed = await lock.renewed(compiled);
    if (renewed !== undefined) locks.push(renewed);
  }
  const [first] = runs;
  const hasOthers = first?.plan.list.project.config.lists !== undefined;
  return hasOthers ? first.lock.joined(locks) : locks[0];
}

/** A draft in memory, with the bytes of its list. */
export interface DryRun extends Draft {
  readonly state: ListState;
  readonly header: RecordHeader;
  /** Everything needed to publish it later. */
  readonly saved: SavedBytes & Pick<ReturnType<NameRecorder["end"]>, "runs">;
}

/** Builds a list in memory without publishing it. Rejects with a `CompilerError`. */
export async function dryRun(
  plan: ListPlan,
  session: BuildSession,
  more: Pick<PrepareOptions, "allowPrivate" | "anyMayFail"> = {},
): Promise<DryRun> {
  const { host } = session;
  const bytes = new ByteBuffer();
  const frames = new ByteBuffer();
  const recorder = new NameRecorder(wantsCovered(plan.outputs), () => scratchOf(host));
  const sink = {
    write: (chunk: Uint8Array): void => void bytes.append(chunk, 0, chunk.length),
    writeRecord: (chunk: Uint8Array): void => void frames.append(chunk, 0, chunk.length),
    names: plan.outputs.length === 0 ? undefined : recorder,
  };
  const started = host.now().getTime();
  const draft = (await prepare(plan, session, sink, more))!;
  const seconds = (host.now().getTime() - started) / 1000;
  const header = recordHeader(plan.list.config, draft.compiled, seconds);
  draft.compiled.close();
  const framesEnd = frames.length;
  const end = headerBytes(header);
  frames.append(end, 0, end.length);
  const list = bytes.view();
  return {
    ...draft,
    state: { bytes: list, record: BuildRecord.read(frames.view()) },
    header,
    saved: { ...recorder.end(), list, frames: frames.view().subarray(0, framesEnd) },
  };
}

const NO_FILES: PlannedFiles = { files: [], violations: [] };

interface PlannedChange {
  readonly file: string;
  /** The published list. */
  readonly old: ListState;
  readonly run: DryRun;
  readonly change: ListChange;
  /** A list that is held stays as it is. */
  readonly hold: FoundHold | undefined;
}

/**
 * Plans the lists of a session in order: the file of each, its draft, and what would change. The files of lists that would be published
 * are written to the shadow. Rejects with a `CompilerError`.
 */
export async function* planChanges(
  session: BuildSession,
  shadow: Host = shadowHost(session.host),
): AsyncGenerator<PlannedChange> {
  for (const plan of session.plans) {
    const [output] = plan.files;
    if (output === undefined)
      throw new CompilerError([
        errorOf("wrong-usage", "plan needs a file to compare with; remove -o -"),
      ]);
    const old = await publishedState(output.path, session.host);
    const hold = await readHold(output.path, session.host);
    const draft = await dryRun(plan, session);
    const rules = await listChange(old, draft.state);
    const isStopped = hold !== undefined || draft.violations.length > 0;
    const { files, violations } = isStopped
      ? NO_FILES
      : await plannedFilesOf(draft, session.options, shadow, session.host);
    const run = { ...draft, violations: [...draft.violations, ...violations] };
    yield { file: output.name, old, run, change: withChangedFiles(rules, files), hold };
  }
}
