import { type AfterContext, afterPublish, withQuestion } from "../after/registry.ts";
import { planChanges } from "../builder/apply-plan.ts";
import {
  type BuildEvent,
  type BuildOutcome,
  type ListOutcome,
  build as runBuild,
} from "../builder/build.ts";
import { type OutputInMemory, compileInMemory } from "../builder/compile-in-memory.ts";
import {
  type DecisionRequest,
  type DecisionResult,
  decide as writeDecisions,
} from "../builder/decide.ts";
import { type PublishedList, openBuild as openList } from "../builder/open-build.ts";
import type { BuildOptions } from "../builder/plan/build-options.ts";
import { planLists } from "../builder/plan/list-plan.ts";
import { openProject, withOutputTarget } from "../builder/plan/project.ts";
import {
  WatchedBuild,
  endHold,
  holdPublished,
  rollback as publishKept,
} from "../builder/rollback.ts";
import { isTextLost } from "../builder/publish/publish-list.ts";
import { BuildSession } from "../builder/session.ts";
import { holdFacts } from "../builder/state/list-state.ts";
import type { Config, WrittenConfig } from "../config/lists.ts";
import type { GuardName } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/render.ts";
import type { CompileReport, HoldFacts, Explanation, Proof } from "../documents/facts.ts";
import type { ProgressEvent } from "../engine/compile-options.ts";
import { type Plugin, type Plugins, pluginsOf } from "../engine/plugins.ts";
import type { ListChange } from "../explain/list-change.ts";
import { type Host, type Permit, ReadOnce } from "../host/host.ts";
import { withMemoryFiles } from "../host/memory-files.ts";
import { nodeHost } from "../host/node.ts";
import { type AliveRequest, type AliveResult, askAlive } from "../resolvers/alive.ts";
import { proveResolvers } from "../resolvers/prove.ts";
import { type RowView, rowsOf } from "../rules/rule-table.ts";

/** What `build` and `plan` are asked for. Every field but `config` has a default. */
export interface BuildRequest {
  /** The path of a configuration file, or the configuration itself. Paths in the latter start from the working directory. */
  readonly config: string | WrittenConfig;
  /** Local files that need not exist, by path. Relative paths start from the working directory. */
  readonly files?: MemoryFiles;
  /** Names of the lists to build; `*` matches any text. All lists by default. */
  readonly lists?: readonly string[];
  /** A file for the list alone, in the format of its extension, or a folder (with a slash at the end) for everything. The rules directory by default. */
  readonly output?: string;
  /** Where lists and further formats go. `./rules` by default. */
  readonly rulesDir?: string;
  /** Where copies of sources are kept; `false` keeps none. The user's cache folder by default. */
  readonly cacheDir?: string | false;
  /** Make no requests; use cached copies of any age. */
  readonly offline?: boolean;
  /** Behave as HostlistCompiler does: trust every source and accept empty ones. */
  readonly compat?: boolean;
  /** Guards to overrule this time. */
  readonly accept?: readonly GuardName[];
  /** `"frozen"` builds from exactly the files in `rules.lock`; `{ update }` updates one source in it, or all with `"*"`. */
  readonly lock?: "frozen" | { readonly update: string };
  /** Memory limit in bytes; the rest goes to temporary files. Half of the machine's memory by default. */
  readonly memory?: number;
  /** Whether to keep a record of the build, from which `openBuild` answers. `true` by default. */
  readonly record?: boolean;
  /** Your transformations and formats, instead of the modules that the configuration names. */
  readonly plugins?: readonly Plugin[];
  /**
   * What the configuration may do: run its hooks and ask its resolvers (`hooks`), run the modules that it names (`plugins`), write
   * outside the rules directory (`paths`).
   */
  readonly permit?: readonly Permit[];
  /** How long a resolver may take to load a list, in milliseconds; 30,000 by default. */
  readonly waitMs?: number;
  /** Stops the build. Files that are being replaced are whole, old or new. */
  readonly signal?: AbortSignal;
  /** Receives the events of the build. */
  readonly onEvent?: (event: BuildEvent) => void;
}

/**
 * Contents by path: text, bytes, or a function that returns one of them. Functions are called once in each build, before anything is
 * read.
 */
export type MemoryFiles = Readonly<
  Record<string, FileContent | (() => FileContent | Promise<FileContent>)>
>;

/** The content of a file. */
export type FileContent = string | Uint8Array;

/** How a build ended, and what resolvers answered. */
export interface BuildResult extends BuildOutcome {
  /** Of the resolvers that were asked, with `permit: ["hooks"]`. */
  readonly proofs: readonly Proof[];
  /** Whether each of them answers from the list, and everything that follows a publish was done. */
  readonly isProved: boolean;
}

/**
 * Builds the lists of a configuration and publishes them, exactly as the command does: with guards, lock, cache, further
 * formats, several lists and, if they are permitted, hooks. Rejects with a `CompilerError` if the configuration is invalid. The
 * outcome of each list contains its problems. A build that was aborted is `interrupted`: some lists may be published.
 */
export async function build(request: BuildRequest): Promise<BuildResult> {
  const run = await contextOf(request);
  return await followed(await runBuild(withQuestion(run)), run);
}

/** What to decide about names. */
export interface DecideRequest extends BuildRequest, DecisionRequest {
  readonly config: string;
}

/**
 * Decides about names, as the commands `allow` and `block` do: writes the decisions beside the configuration, and builds its lists again from the texts
 * of the last publish. Rejects with a `CompilerError`.
 */
export async function decide(request: DecideRequest): Promise<DecisionResult> {
  const {
    isProved: _isProved,
    built: _built,
    ...result
  } = await decideIn(request, await contextOf(request));
  return result;
}

/** Decisions, and what a command needs for its exit code. */
interface DecidedIn extends DecisionResult {
  readonly isProved: boolean;
  /** Without lists that stay as they are, because a text is lost: the next build applies the decisions. */
  readonly built: readonly ListOutcome[];
}

/** The same for a command, with its host. */
export async function decideIn(request: DecisionRequest, run: AfterContext): Promise<DecidedIn> {
  const result = await writeDecisions(request, withQuestion(run));
  const lists = result.outcome?.lists ?? [];
  const built = lists.filter((one) => !isTextLost(one));
  if (result.outcome === undefined || built.length === 0)
    return { ...result, isProved: true, built };
  const { outcome, isProved } = await afterPublish({ ...result.outcome, lists: built }, run);
  const last = new Map(outcome.lists.map((one) => [one.list, one]));
  const all = lists.map((one) => last.get(one.list) ?? one);
  return { ...result, outcome: { ...outcome, lists: all }, isProved, built: outcome.lists };
}

/** Which kept build to publish again. */
export interface RollbackRequest extends Pick<
  BuildRequest,
  | "config"
  | "files"
  | "lists"
  | "output"
  | "rulesDir"
  | "cacheDir"
  | "compat"
  | "plugins"
  | "permit"
  | "signal"
  | "onEvent"
> {
  /** `@1`, `@2026-11-14`, as the command names it; by default the last one with other rules. */
  readonly build?: string;
}

/**
 * Publishes a kept build of one list again, as the command does. Rejects with a `CompilerError`, for example if no such build is
 * kept.
 */
export async function rollback(request: RollbackRequest): Promise<BuildResult> {
  const { waitMs: _, ...run } = await contextOf(request);
  return await unlessAborted(request, async () => await again(request.build, false, run));
}

/** How long to hold a list. */
export interface HoldRequest extends RollbackRequest {
  /** Ends the hold instead. */
  readonly end?: boolean;
}

/** A list that was held, or whose hold ended. */
export interface HoldResult extends Partial<HoldFacts> {
  readonly list: string;
  readonly isHeld: boolean;
}

/**
 * Keeps one list at a build until the hold ends: at the published one, or at `build`, which is published again. With `end`, ends the
 * hold. Rejects with a `CompilerError`.
 */
export async function hold(request: HoldRequest): Promise<HoldResult> {
  const { waitMs: _, ...run } = await contextOf(request);
  const { build: which, end = false } = request;
  return await unlessAborted(request, async () => {
    if (end) return { list: (await endHold(run)).list, isHeld: false };
    let held = await holdPublished(run, which);
    if (held === undefined) {
      await again(which, true, run);
      held = (await holdPublished(run))!;
    }
    return { list: held.list, isHeld: true, ...holdFacts(held.hold) };
  });
}

/** Asks the resolvers of a configuration whether they answer from the published lists. Rejects with a `CompilerError` if it names no resolver. */
export async function prove(request: BuildRequest): Promise<Proof[]> {
  const { options, host, waitMs } = await contextOf(request);
  const { signal } = request;
  return await unlessAborted(request, () => proveResolvers(options, host, { waitMs, signal }));
}

/** @internal Asks whether the names of published lists exist. */
export async function aliveIn(
  request: AliveRequest,
  options: BuildOptions,
  host: Host,
): Promise<AliveResult> {
  return await askAlive(request, options, host);
}

async function again(
  which: string | undefined,
  mustHold: boolean,
  run: AfterContext,
): Promise<BuildResult> {
  const kept = await publishKept({ build: which, hold: mustHold }, run);
  const { of: _of, isHeld: _isHeld, ...list } = kept;
  run.emit({ kind: "list-done", outcome: list, lists: 1 });
  const { status, seconds } = list;
  return await followed({ status, lists: [list], seconds }, run);
}

async function followed(outcome: BuildOutcome, run: AfterContext): Promise<BuildResult> {
  const { outcome: last, proofs, isProved } = await afterPublish(outcome, run);
  return { ...last, proofs, isProved };
}

/** Rejects with the reason of the signal, an `AbortError` by default, if it is aborted. */
async function unlessAborted<T>(
  { signal }: { readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** Builds that read only what changed since the one before. */
export interface RebuildContext {
  /** Builds and publishes all lists. Problems of the configuration are events, and the status is `failed`. No hook runs. */
  rebuild(): Promise<BuildOutcome>;
  /** Rebuilds now, and whenever the configuration or a local file changes, until the context is disposed or aborted. */
  watch(onBuild?: (outcome: BuildOutcome, changed: readonly string[]) => void): Promise<void>;
  /** Ends `watch` and frees the memory. */
  dispose(): Promise<void>;
  /** The same. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Prepares builds of the same lists, one after the other. Each calls the functions in `files`. */
export async function context(request: BuildRequest): Promise<RebuildContext> {
  const stop = new AbortController();
  const { signal } = request;
  signal?.throwIfAborted();
  signal?.addEventListener("abort", () => stop.abort(signal.reason), { once: true });
  const own = await contextOf({ ...request, signal: stop.signal });
  const watched = new WatchedBuild(own);
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return await turn;
  };
  const dispose = async (): Promise<void> => {
    stop.abort();
    await last;
    watched.close();
  };
  return {
    rebuild: async () =>
      await inTurn(async () => {
        stop.signal.throwIfAborted();
        await own.refresh();
        return await watched.rebuild();
      }),
    watch: async (onBuild) => await inTurn(async () => await watched.watch(onBuild)),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** What a build of one list would do. */
export interface PlannedList {
  /** The name of the list. */
  readonly list: string;
  /** The file that would be written. */
  readonly file: string;
  readonly report: CompileReport;
  /** Why the guards would refuse the list; empty when it would be published. */
  readonly violations: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  /** What would change, in text and in effect. */
  readonly change: ListChange;
  /** The list as it would be published. */
  readonly bytes: Uint8Array;
  /** Present if the list is held: it stays as it is until the hold ends. */
  readonly held?: HoldFacts;
}

/** Builds the lists of a configuration in memory and compares them with those that are published. Publishes nothing. */
export async function plan(request: BuildRequest): Promise<PlannedList[]> {
  return await unlessAborted(request, async () => await planned(await contextOf(request)));
}

async function planned(run: RunContext): Promise<PlannedList[]> {
  const { options, host } = run;
  const { lists } = await openProject(options, host);
  const session = new BuildSession(await planLists(lists, options, host), run);
  const found: PlannedList[] = [];
  try {
    for await (const { file, run: draft, change, hold: isHeld } of planChanges(session)) {
      const { compiled, violations } = draft;
      const warnings = [...compiled.diagnostics, ...draft.warnings, ...draft.coverWarnings];
      const { report } = compiled;
      const { bytes } = draft.state;
      const held = isHeld && { held: holdFacts(isHeld) };
      const list = report.name;
      found.push({ list, file, report, violations, warnings, change, bytes, ...held });
    }
  } finally {
    session.close();
  }
  return found;
}

/** How to compile in memory. */
export interface CompileOptions {
  /** The list to compile, of a configuration that has `lists`. */
  readonly list?: string;
  /** Where relative paths start; the working directory by default. */
  readonly folder?: string;
  /** Local files that need not exist, by path. Relative paths start from `folder`. */
  readonly files?: MemoryFiles;
  /** Your transformations and formats. */
  readonly plugins?: readonly Plugin[];
  /** Where copies of sources are kept; none by default. */
  readonly cacheDir?: string | false;
  /** Make no requests; use cached copies of any age. */
  readonly offline?: boolean;
  /** Behave as HostlistCompiler does: trust every source and accept empty ones. */
  readonly compat?: boolean;
  /** Memory limit in bytes. */
  readonly memory?: number;
  /** Stops the compile. */
  readonly signal?: AbortSignal;
  /** Receives the events of the compile. */
  readonly onProgress?: (event: ProgressEvent) => void;
}

/** A list that was compiled in memory. */
export interface CompileResult {
  /** The list, ready to be written. */
  readonly bytes: Uint8Array;
  readonly report: CompileReport;
  /** Warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** The files of `outputs`, without compressed copies. */
  readonly outputs: readonly OutputInMemory[];
  /** Every line of every source with its fate, made one at a time. */
  lines(): Generator<RowView>;
  /** Whether the list blocks a name for all clients. The first call indexes the list. */
  isBlocked(name: string): boolean;
  /** Whether names are blocked: by which rule, and from which lines of which sources. */
  why(...names: string[]): Promise<Explanation[]>;
  /** Gives back temporary files. `lines` cannot be used afterwards. */
  close(): void;
  /** The same. */
  [Symbol.dispose](): void;
}

/** Compiles one list in memory. Writes nothing and asks no guards. Rejects with a `CompilerError`. */
export async function compile(
  config: WrittenConfig,
  options: CompileOptions = {},
): Promise<CompileResult> {
  return await unlessAborted(options, async () => {
    const { files, folder, plugins, cacheDir, ...rest } = options;
    const real = nodeHost();
    const start = real.path.resolve(real.cwd, folder ?? "");
    const { host } = await withGiven(files, start, real);
    const copies = cacheDir ? { cacheDir: real.path.resolve(real.cwd, cacheDir) } : {};
    const own = { ...rest, ...copies, configFolder: start, plugins: given(plugins) };
    const result = await compileInMemory(config, own, host);
    const { bytes, report, diagnostics, outputs, answers, rules } = result;
    const close = (): void => result.close();
    return {
      bytes,
      report,
      diagnostics,
      outputs,
      lines: () => rowsOf(rules),
      isBlocked: (name) => answers.isBlocked(name),
      why: async (...names) => await answers.why(names),
      close,
      [Symbol.dispose]: close,
    };
  });
}

/** The host with files in memory, and a function that calls their functions again. */
async function withGiven(
  files: MemoryFiles | undefined,
  folder: string,
  host: Host,
): Promise<{ readonly host: Host; readonly refresh: () => Promise<void> }> {
  const contents = new Map<string, Uint8Array>();
  const refresh = async (): Promise<void> => {
    for (const [path, written] of Object.entries(files ?? {})) {
      const content = typeof written === "function" ? await written() : written;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      contents.set(host.path.resolve(folder, path), bytes);
    }
  };
  await refresh();
  return { host: contents.size === 0 ? host : withMemoryFiles(host, contents), refresh };
}

/** A configuration that was read from a file. */
export interface LoadedConfig {
  readonly config: Config;
  /** The folder of the file, where its relative paths start. */
  readonly folder: string;
  readonly warnings: readonly Diagnostic[];
}

/** Reads a configuration file (.json, .jsonc, .yaml, .yml). Rejects with a `CompilerError` that lists every problem. */
export async function loadConfig(
  path: string,
  request: Pick<BuildRequest, "permit" | "plugins"> = {},
): Promise<LoadedConfig> {
  const { options, host } = await contextOf({ ...request, config: path });
  const { project } = await openProject(options, host);
  const { config, folder, warnings } = project;
  return { config, folder, warnings };
}

/** Opens a published list with the record of its build, to ask why a name is blocked, which source contributes what, and what changed. */
export async function openBuild(
  path: string,
  { cacheDir }: Pick<BuildRequest, "cacheDir"> = {},
): Promise<PublishedList> {
  const host = nodeHost();
  const output = { name: path, path: host.path.resolve(host.cwd, path) };
  return await openList(output, cacheDirOf(cacheDir, host), host);
}

/** A build as the parts below see it. */
interface RunContext extends AfterContext {
  readonly waitMs: number;
  /** Reads the files in memory again. */
  readonly refresh: () => Promise<void>;
}

const DEFAULT_WAIT_MS = 30_000;

async function contextOf(request: BuildRequest): Promise<RunContext> {
  const real = nodeHost();
  const { host, refresh } = await withGiven(request.files, real.cwd, real);
  const { config, lock, signal, onEvent } = request;
  const configPath = typeof config === "string" ? config : "";
  const options: BuildOptions = {
    configPath,
    configFile: new ReadOnce(configPath, host),
    config: typeof config === "string" ? undefined : config,
    inputs: [],
    inputType: undefined,
    filter: request.lists ?? [],
    permit: request.permit ?? [],
    plugins: given(request.plugins),
    output: request.output,
    copyToRules: false,
    rulesDir: request.rulesDir ?? "./rules",
    memory: request.memory,
    cacheDir: cacheDirOf(request.cacheDir, host),
    record: request.record ?? true,
    offline: request.offline ?? false,
    frozen: lock === "frozen",
    update: typeof lock === "object" ? lock.update : undefined,
    compat: request.compat ?? false,
    accept: request.accept ?? [],
  };
  return {
    options: await withOutputTarget(options, host),
    host,
    signal: signal ?? new AbortController().signal,
    emit: (event) => onEvent?.(event),
    waitMs: request.waitMs ?? DEFAULT_WAIT_MS,
    refresh,
  };
}

function cacheDirOf(wanted: string | false | undefined, host: Host): string | undefined {
  if (wanted === false) return undefined;
  return wanted === undefined ? host.cacheDir() : host.path.resolve(host.cwd, wanted);
}

function given(plugins: readonly Plugin[] | undefined): Plugins | undefined {
  if (plugins === undefined) return undefined;
  return pluginsOf(
    plugins.map((one, index) => ({ file: `plugins[${index}]`, module: { default: one } })),
  );
}
