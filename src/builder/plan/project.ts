import { type Config, listsOf } from "../../config/lists.ts";
import { FORMAT_NAMES } from "../../config/outputs.ts";
import { nodeOfValue } from "../../config/problems.ts";
import { loadConfigFile, validateConfig } from "../../config/validate.ts";
import {
  CompilerError,
  type Diagnostic,
  type FileLocation,
  errorOf,
} from "../../diagnostics/render.ts";
import { printable, someOf } from "../../diagnostics/text.ts";
import { allEntryFiles, contextWith, slugOf } from "../../engine/plan.ts";
import { NO_PLUGINS, type Plugins, pluginsOf } from "../../engine/plugins.ts";
import type { Host } from "../../host/host.ts";
import { NOWHERE, outputTarget } from "../../publish/list-file.ts";
import { candidatePaths, isAddress } from "../../sources/limits.ts";
import { type ConfigFile, type ProjectOptions, configFileOf } from "./build-options.ts";

type OutputFlags = Pick<ProjectOptions, "output" | "copyToRules" | "rulesDir">;

/**
 * Normalizes `-o`: `-` for any path to standard output, `/dev/null` for any path to it, and a trailing slash for a folder, which
 * replaces the rules directory. Rejects with a `CompilerError` for other special files.
 */
export async function withOutputTarget<T extends OutputFlags>(options: T, host: Host): Promise<T> {
  const { output } = options;
  if (output === undefined || output === "-") return options;
  if (isFolderName(output, host)) return inFolder(output, options);
  const target = await outputTarget(host.path.resolve(host.cwd, output), host);
  if (target === "file") return options;
  if (target === "folder") return inFolder(`${output}/`, options);
  if (target === "stdout") return { ...options, output: "-" };
  if (target === "nowhere") return { ...options, output: NOWHERE };
  throw new CompilerError([
    errorOf("output-failed", `Cannot write ${printable(output)}: not a regular file`, {
      hint: "Use -o with a file or folder, or -o - for standard output",
    }),
  ]);
}

function inFolder<T extends OutputFlags>(folder: string, options: T): T {
  const { copyToRules, rulesDir } = options;
  return { ...options, output: folder, rulesDir: copyToRules ? rulesDir : folder };
}

/** Whether only the list is written: to the file of `-o`, or to standard output. */
export function isListAlone(
  { output, copyToRules }: OutputFlags,
  host: Pick<Host, "path">,
): boolean {
  return output !== undefined && !copyToRules && !isFolderName(output, host);
}

export function isFolderName(output: string, host: Pick<Host, "path">): boolean {
  return output.endsWith("/") || output.endsWith(host.path.sep);
}

/** The local files that a list is made from: the configuration, its sources and its files of entries. */
export function inputPaths({ project, config }: ListConfig, host: Host): Set<string> {
  const { folder } = project;
  const own = configPath(project, host);
  const all = [...config.sources, ...allEntryFiles(config)].map(({ source }) => source);
  const local = all.filter((one) => !isAddress(one));
  return new Set([
    ...(own === undefined ? [] : [own]),
    ...local.flatMap((one) => candidatePaths(one, folder, host)),
  ]);
}

/** A valid configuration. */
export interface Project {
  /** The content of its file, with all its lists. */
  readonly config: Config;
  /** The base of its relative paths. */
  readonly folder: string;
  /** Its file name; empty if it does not come from a file. */
  readonly file: string;
  readonly plugins: Plugins;
  readonly warnings: readonly Diagnostic[];
  /** Where its file names a file to write. */
  readonly locate?: (file: string) => FileLocation | undefined;
}

/** Absolute path of the file of a configuration; undefined if it does not come from a file. */
export function configPath({ folder, file }: Project, { cwd, path }: Host): string | undefined {
  return file === "" ? undefined : path.resolve(cwd, folder, file);
}

/** A list of a configuration. */
export interface ListConfig {
  readonly project: Project;
  /** The configuration of this list only. */
  readonly config: Config;
  readonly plugins: Plugins;
  /** Names of the lists that it must cover. */
  readonly covers: readonly string[];
}

/** The lists that the options select: those of a configuration, or the one made from `inputs`. Rejects with a `CompilerError`. */
export async function openProject(
  options: ProjectOptions,
  host: Host,
): Promise<{ readonly project: Project; readonly lists: readonly ListConfig[] }> {
  const file = configFileOf(options, host);
  const project = await file.opened(async () => await readProject(options, file, host));
  const { plugins } = project;
  const lists = listsOf(project.config).map((one) => ({ ...one, project, plugins }));
  return { project, lists: filtered(lists, options.filter) };
}

/** The single list that the options select. */
export async function openList(options: ProjectOptions, host: Host): Promise<ListConfig> {
  const { lists } = await openProject(options, host);
  if (lists.length === 1) return lists[0]!;
  const names = lists.map(({ config }) => config.name);
  const message = `The configuration has ${names.length} lists: ${someOf(names)}`;
  throw new CompilerError([errorOf("several-lists", message, { all: names })]);
}

function filtered(lists: readonly ListConfig[], filter: readonly string[]): readonly ListConfig[] {
  if (filter.length === 0) return lists;
  const names = lists.map(({ config }) => config.name);
  for (const one of filter)
    if (!names.some((name) => isCalled(name, one)))
      throw new CompilerError([
        errorOf("unknown-list", `No list matches --filter ${printable(one, 60)}`, {
          hint: `Lists: ${someOf(names)}`,
          all: names,
        }),
      ]);
  return lists.filter(({ config }) => filter.some((one) => isCalled(config.name, one)));
}

/** Matches the name of a list or of its file. `*` matches any text. */
function isCalled(name: string, wanted: string): boolean {
  const parts = wanted
    .toLowerCase()
    .split("*")
    .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "u");
  return pattern.test(name.toLowerCase()) || pattern.test(slugOf(name));
}

async function readProject(
  options: ProjectOptions,
  file: ConfigFile,
  host: Host,
): Promise<Project> {
  if (options.inputs.length > 0) return quickProject(options, host);
  const { plugins: given } = options;
  const mayRun = options.permit.includes("plugins");
  let plugins = given ?? NO_PLUGINS;
  if (options.config !== undefined) return projectOf(options.config, plugins, host);
  const { config, path, warnings, locate } = await loadConfigFile(
    file,
    host,
    contextWith(plugins),
    async (files, of) => {
      if (given === undefined)
        plugins = await loadPlugins(files, host.path.dirname(of), mayRun, host);
      return contextWith(plugins);
    },
  );
  return {
    config,
    folder: host.path.dirname(path),
    file: host.path.basename(path),
    plugins,
    warnings,
    locate,
  };
}

/** Validates a value like a configuration file in the working directory. Throws a `CompilerError`. */
export function projectOf(value: unknown, plugins: Plugins, { cwd }: Host): Project {
  const { config, diagnostics } = validateConfig(nodeOfValue(value), contextWith(plugins));
  if (config === undefined) throw new CompilerError(diagnostics);
  return { config, folder: cwd, file: "", plugins, warnings: diagnostics };
}

/** What a list without a configuration goes through. */
const QUICK_TRANSFORMATIONS =
  "RemoveComments Deduplicate Compress Validate TrimLines InsertFinalNewLine";

function quickProject({ inputs, inputType }: ProjectOptions, host: Host): Project {
  const value = {
    name: "Blocklist",
    sources: inputs.map((source) => ({ source, type: inputType ?? FORMAT_NAMES[0] })),
    transformations: QUICK_TRANSFORMATIONS.split(" "),
  };
  return { ...projectOf(value, NO_PLUGINS, host), warnings: [] };
}

/** Loads the modules that a configuration names, if the options allow it. Rejects with a `CompilerError`. */
export async function loadPlugins(
  files: readonly string[],
  folder: string,
  isAllowed: boolean,
  host: Host,
): Promise<Plugins> {
  if (!isAllowed || host.importModule === undefined)
    throw new CompilerError([
      errorOf("plugins-off", `The configuration has plugins: ${someOf(files)}`),
    ]);
  const modules: { file: string; module: unknown }[] = [];
  for (const file of files) {
    try {
      modules.push({ file, module: await host.importModule(host.path.resolve(folder, file)) });
    } catch (error) {
      const cause = printable(error instanceof Error ? error.message : String(error), 300);
      throw new CompilerError([
        errorOf("plugin-bad", `${printable(file)} cannot be loaded`, { cause }),
      ]);
    }
  }
  return pluginsOf(modules);
}
