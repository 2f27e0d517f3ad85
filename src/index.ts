import { planChanges } from "./builder/apply-plan.ts";
import {
  type BuildContext,
  type BuildEvent,
  type BuildOutcome,
  build as runBuild,
} from "./builder/build.ts";
import type { GuardName } from "./builder/guards/names.ts";
import {
  type PublishedList,
  compileInMemory,
  openBuild as openList,
} from "./builder/open-build.ts";
import type { BuildOptions } from "./builder/plan/build-options.ts";
import { planLists } from "./builder/plan/list-plan.ts";
import { openProject, withOutputTarget } from "./builder/plan/project.ts";
import { BuildSession } from "./builder/session.ts";
import { type HoldFacts, holdFacts } from "./builder/state/list-state.ts";
import type { Config } from "./config/lists.ts";
import type { Diagnostic } from "./diagnostics/render.ts";
import type { ProgressEvent } from "./engine/compile-options.ts";
import { type Plugin, type Plugins, pluginsOf } from "./engine/plugins.ts";
import type { CompileReport } from "./engine/report.ts";
import type { ListChange } from "./explain/list-change.ts";
import type { Host } from "./host/host.ts";
import { withFile } from "./host/memory-files.ts";
import { nodeHost } from "./host/node.ts";
import { type RowView, rowsOf } from "./rules/rule-table.ts";

export type { BuildEvent } from "./builder/build.ts";
export type { BuildOutcome, BuildStatus, ListOutcome } from "./builder/build.ts";
export type { GuardName } from "./builder/guards/names.ts";
export type { WrittenOutput } from "./builder/publish/publish-list.ts";
export type { ZoneUpdates } from "./publish/zone-updates.ts";
export type { HoldFacts } from "./builder/state/list-state.ts";
export type { PublishedList } from "./builder/open-build.ts";
export type { Config, OutputConfig, SourceConfig } from "./config/lists.ts";
export type { SourceType } from "./config/fields.ts";
export type { FeedName } from "./config/sources.ts";
export type { FormatName, OutputFormat } from "./config/outputs.ts";
export type { Exit } from "./diagnostics/codes.ts";
export { CompilerError, type Diagnostic, type FileLocation } from "./diagnostics/render.ts";
export type { Plugin, PluginFormat, PluginTransformation } from "./engine/plugins.ts";
export type { ProgressEvent } from "./engine/compile-options.ts";
export type { AlarmLine, CompileReport, SourceReport } from "./engine/report.ts";
export type { LineOfFate } from "./explain/glossary.ts";
export type { FileChange, ListChange } from "./explain/list-change.ts";
export type { ClientTraffic } from "./explain/traffic.ts";
export type { SourceTraffic, TrafficStats } from "./explain/traffic.ts";
export type { TrafficFile } from "./traffic/traffic-reader.ts";
export type { Change, ChangedName } from "./explain/effective-diff.ts";
export type { Since } from "./explain/why.ts";
export type { ListStats, SourceStats } from "./explain/glossary.ts";
export type { Explanation, LineFate, LineLocation, RuleInList } from "./explain/why.ts";
export type { Loss, LossReason } from "./formats/special-rule.ts";
export type { FormatLines, ScopeLines } from "./formats/name-format.ts";
export type { Verdict } from "./meaning/verdict.ts";
export type { WriteOutcome } from "./publish/list-file.ts";
export type { OutputFile } from "./publish/list-file.ts";
export type { FateName } from "./rules/fate.ts";
export type { RowView } from "./rules/rule-table.ts";
export type { SourceState } from "./sources/acquire.ts";
export type { InputFile } from "./sources/source-list.ts";
export type { TransformationName } from "./config/transformation-name.ts";

/** What `build` and `plan` are asked for. Every field but `config` has a default. */
export interface BuildRequest {
  /** The path of a configuration file, or the configuration itself. Paths in the latter start from the working directory. */
  readonly config: string | Config;
  /** Names of the lists to build; `*` matches any text. All lists by default. */
  readonly lists?: readonly string[];
  /** A file for the list alone, or a folder (with a slash at the end) for everything. The rules directory by default. */
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
  /** What the configuration may do: run the modules that it names (`plugins`), write outside the rules directory (`paths`). */
  readonly permit?: readonly ("plugins" | "paths")[];
  /** Stops the build. Files that are being replaced are whole, old or new. */
  readonly signal?: AbortSignal;
  /** Receives the events of the build. */
  readonly onEvent?: (event: BuildEvent) => void;
}

/**
 * Builds the lists of a configuration and publishes them, exactly as the command does: with guards, lock, cache, further
 * formats and several lists. Rejects with a `CompilerError` if the configuration is invalid. The outcome of each list
 * contains its problems.
 */
export async function build(request: BuildRequest): Promise<BuildOutcome> {
  return await runBuild(await contextOf(request, nodeHost()));
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
  const context = await contextOf(request, nodeHost());
  const { options, host } = context;
  const { lists } = await openProject(options, host);
  const session = new BuildSession(await planLists(lists, options, host), context);
  const planned: PlannedList[] = [];
  try {
    for await (const { file, run, change, hold } of planChanges(session)) {
      const { compiled, violations } = run;
      const warnings = [...compiled.diagnostics, ...run.warnings, ...run.coverWarnings];
      const { report } = compiled;
      const { bytes } = run.state;
      const held = hold && { held: holdFacts(hold) };
      const list = report.name;
      planned.push({ list, file, report, violations, warnings, change, bytes, ...held });
    }
  } finally {
    session.close();
  }
  return planned;
}

/** How to compile in memory. */
export interface CompileOptions {
  /** The list to compile, of a configuration that has `lists`. */
  readonly list?: string;
  /** Where relative paths start; the working directory by default. */
  readonly folder?: string;
  /** Local files that need not exist, by path: their text or bytes. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Your transformations and formats. */
  readonly plugins?: readonly Plugin[];
  /** Where copies of sources are kept; none by default. */
  readonly cacheDir?: string;
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
  /** Every line of every source with its fate, made one at a time. */
  lines(): Generator<RowView>;
  /** Gives back temporary files. `lines` cannot be used afterwards. */
  close(): void;
}

/** Compiles one list in memory. Writes nothing and asks no guards. Rejects with a `CompilerError`. */
export async function compile(
  config: Config,
  options: CompileOptions = {},
): Promise<CompileResult> {
  const { files = {}, folder, plugins, ...rest } = options;
  let host = nodeHost();
  const start = host.path.resolve(host.cwd, folder ?? "");
  for (const [path, content] of Object.entries(files)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    host = withFile(host, host.path.resolve(start, path), bytes);
  }
  const engineOptions = { ...rest, configFolder: start, plugins: given(plugins) };
  const { rules, ...result } = await compileInMemory(config, engineOptions, host);
  const { bytes, report, diagnostics } = result;
  const close = (): void => result.close();
  return { bytes, report, diagnostics, lines: () => rowsOf(rules), close };
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
  const { options, host } = await contextOf({ ...request, config: path }, nodeHost());
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

async function contextOf(request: BuildRequest, host: Host): Promise<BuildContext> {
  const { config, lock, signal, onEvent } = request;
  const options: BuildOptions = {
    configPath: typeof config === "string" ? config : "",
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
