import type { Decision } from "../../documents/facts.ts";
import {
  DECISIONS_FILE,
  DECISIONS_TYPE,
  activeDecisions,
  decisionsIn,
  expiredDecisions,
} from "../../config/decisions.ts";
import { RECOMMENDED, type SourceType } from "../../config/fields.ts";
import { ownedHooks } from "../../config/hooks.ts";
import { type Config, type SourceConfig, listsOf } from "../../config/lists.ts";
import {
  FORMAT_NAMES,
  OUTPUT_FORMATS,
  type OutputFormat,
  meantFormat,
} from "../../config/outputs.ts";
import { nodeOfValue } from "../../config/problems.ts";
import { resolversOf } from "../../config/resolvers.ts";
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
import { nameFormats } from "../../formats/formats.ts";
import { foreignFormats } from "../../formats/readers/registry.ts";
import type { Host } from "../../host/host.ts";
import { NOWHERE, outputTarget } from "../../publish/list-file.ts";
import { candidatePaths, isAddress } from "../../sources/limits.ts";
import { type ConfigFile, type ProjectOptions, configFileOf } from "./build-options.ts";

type OutputFlags = Pick<ProjectOptions, "output" | "to" | "copyToRules" | "rulesDir">;

/**
 * Normalizes `-o` and `--to`: `-` for any path to standard output, `/dev/null` for any path to it, and a trailing slash for a folder,
 * which replaces the rules directory. A file whose extension is that of a format is converted to it. Rejects with a `CompilerError`
 * for other special files, and for files that no format has.
 */
export async function withOutputTarget<T extends OutputFlags>(options: T, host: Host): Promise<T> {
  const { output, to } = options;
  if (to !== undefined && !nameFormats.has(to)) {
    const meant = meantFormat(to, OUTPUT_FORMATS);
    throw refuse(
      `--to must be one of ${OUTPUT_FORMATS.join(", ")}`,
      meant === undefined ? "See docs/reference/formats.md" : `Did you mean ${meant}?`,
    );
  }
  if (output === undefined) {
    if (to === undefined) return options;
    throw refuse(
      "--to needs -o",
      `Add -o list${nameFormats.get(to)!.extension}. To publish the format with the list, add \`{ format: ${to} }\` to outputs`,
    );
  }
  if (output === "-") return converted(options, host);
  if (isFolderName(output, host)) return inFolder(output, options, host);
  const target = await outputTarget(host.path.resolve(host.cwd, output), host);
  if (target === "file")
    return converted({ ...options, to: to ?? formatOfFile(output, host) }, host);
  if (target === "folder") return inFolder(`${output}/`, options, host);
  if (target === "stdout") return converted({ ...options, output: "-" }, host);
  if (target === "nowhere") return { ...options, output: NOWHERE, to: undefined };
  throw new CompilerError([
    errorOf("output-failed", `Cannot write ${printable(output)}: not a regular file`, {
      hint: "Use -o with a file or folder, or -o - for standard output",
    }),
  ]);
}

function inFolder<T extends OutputFlags>(folder: string, options: T, host: Host): T {
  const { copyToRules, rulesDir, to } = options;
  const all = { ...options, output: folder, rulesDir: copyToRules ? rulesDir : folder };
  return to === undefined ? all : converted(all, host);
}

function refuse(message: string, hint: string): CompilerError {
  return new CompilerError([errorOf("wrong-usage", message, { hint })]);
}

/** Below it, a converted list is written in memory, on its way to standard output. */
const STREAM_FOLDER = "rules-compiler standard output";

/** The options with the folder of the files of a format. A list in adblock syntax is not converted. Throws a `CompilerError`. */
function converted<T extends OutputFlags>(options: T, host: Pick<Host, "path">): T {
  const { output = "", to } = options;
  if (to === undefined || to === "adblock") return { ...options, to: undefined };
  const format = nameFormats.get(to)!;
  if (options.copyToRules)
    throw refuse(
      `-r copies the list in adblock syntax; -o ${printable(output, 80)} has the format ${to}`,
      `Leave out -r. To publish the format with the list, add \`{ format: ${to} }\` to outputs`,
    );
  if (output !== "-")
    return {
      ...options,
      rulesDir: isFolderName(output, host) ? output : host.path.dirname(output),
    };
  if (format.hasAllowFile === true || format.isDatabase === true) {
    const second = format.isDatabase === true ? "a Lua file" : "one of exceptions";
    throw refuse(
      `${to} has two files, the list and ${second}: -o - is for one`,
      `Use -o list${format.extension}`,
    );
  }
  return { ...options, rulesDir: STREAM_FOLDER };
}

/** Endings of files that are not lists in adblock syntax, and the formats that have such files. */
const FOREIGN_ENDINGS: Readonly<Record<string, readonly string[]>> = {
  zone: ["rpz"],
  db: ["rpz", "cdb"],
  lua: ["cdb"],
  yaml: [],
  yml: [],
  csv: [],
  gz: [],
  zst: [],
  zip: [],
};

/** The format that has the extension of a file; undefined for a list in adblock syntax. Throws a `CompilerError` for others. */
function formatOfFile(file: string, { path }: Pick<Host, "path">): OutputFormat | undefined {
  const found = formatOfName(path.basename(file));
  if (found !== undefined) return found;
  const ending = /\.(?<ending>[^.]+)$/.exec(path.basename(file))?.groups?.["ending"]?.toLowerCase();
  if (ending === undefined || ending === "txt") return undefined;
  const alike = OUTPUT_FORMATS.filter((name) =>
    nameFormats.get(name)!.extension.endsWith(`.${ending}`),
  );
  const formats = alike.length > 0 ? alike : FOREIGN_ENDINGS[ending];
  if (formats === undefined) return undefined;
  const which = formats.length === 0 ? "FORMAT" : formats.join(" or --to ");
  throw refuse(
    `-o ${printable(file, 80)}: .${ending} does not say which format`,
    `Add --to ${which}, or --to adblock for a list in adblock syntax`,
  );
}

/** The format with the extension of a file name. `hosts` alone is a name, too. */
function formatOfName(name: string): OutputFormat | undefined {
  return OUTPUT_FORMATS.filter((format) =>
    `.${name}`.toLowerCase().endsWith(nameFormats.get(format)!.extension),
  ).toSorted(
    (a, b) => nameFormats.get(b)!.extension.length - nameFormats.get(a)!.extension.length,
  )[0];
}

/** Whether only the list is written: to the file of `-o`, or to standard output. */
export function isListAlone(
  { output, to, copyToRules }: OutputFlags,
  host: Pick<Host, "path">,
): boolean {
  if (output === undefined || copyToRules) return false;
  return to !== undefined || !isFolderName(output, host);
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
  /** What the user decided about names, in the file beside it. */
  readonly decisions?: readonly Decision[];
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
  /** The decisions that hold in it. Their file is its last source. */
  readonly decisions?: readonly Decision[];
}

/** The lists that the options select: those of a configuration, or the one made from `inputs`. Rejects with a `CompilerError`. */
export async function openProject(
  options: ProjectOptions,
  host: Host,
): Promise<{ readonly project: Project; readonly lists: readonly ListConfig[] }> {
  const file = configFileOf(options, host);
  const project = await file.opened(async () => await readProject(options, file, host));
  const { plugins } = project;
  const now = host.now().getTime();
  const lists = listsOf(project.config).map((one) => decided({ ...one, project, plugins }, now));
  return { project, lists: filtered(lists, options.filter) };
}

/** The list with the decisions that hold in it now. */
function decided(list: ListConfig, now: number): ListConfig {
  const { config, project } = list;
  const decisions = activeDecisions(project.decisions ?? [], now, (of) =>
    isCalled(config.name, of),
  );
  if (decisions.length === 0) return list;
  const file: SourceConfig = {
    name: DECISIONS_TYPE,
    source: DECISIONS_FILE,
    type: DECISIONS_TYPE as SourceType,
    trust: "full",
  };
  return { ...list, config: { ...config, sources: [...config.sources, file] }, decisions };
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
export function isCalled(name: string, wanted: string): boolean {
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
  if (options.inputs.length > 0) {
    await refuseMissingOutput(options, host);
    return quickProject(options, host);
  }
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
  const folder = host.path.dirname(path);
  const decisions = await decisionsIn(folder, host).catch((error: unknown) => {
    if (!(error instanceof CompilerError) || options.onBadDecisions === undefined) throw error;
    options.onBadDecisions(error.diagnostics);
    return [];
  });
  return {
    config,
    folder,
    file: host.path.basename(path),
    decisions,
    plugins,
    warnings: [...warnings, ...expiredDecisions(decisions, host.now().getTime())],
    locate,
  };
}

/** Validates a value like a configuration file in the working directory. Throws a `CompilerError`. */
export function projectOf(value: unknown, plugins: Plugins, { cwd }: Host): Project {
  const { config, diagnostics } = validateConfig(nodeOfValue(value), contextWith(plugins));
  if (config === undefined) throw new CompilerError(diagnostics);
  return { config, folder: cwd, file: "", plugins, warnings: diagnostics };
}

/** What the word `recommended` means, if the list has it instead of names. */
export function presetOf({ config }: Project): readonly string[] | undefined {
  return config.transformations === RECOMMENDED ? RECOMMENDED : undefined;
}

/** The names of all hooks in messages. */
export function hookNames({ config }: Project): string[] {
  return ownedHooks(config.after ?? [], resolversOf(config)).map(({ title }) => title);
}

/** What a list without a configuration goes through. */
const QUICK_TRANSFORMATIONS =
  "RemoveComments Deduplicate Compress Validate TrimLines InsertFinalNewLine";

function quickProject({ inputs, inputType }: ProjectOptions, host: Host): Project {
  const value = {
    name: "Blocklist",
    sources: inputs.map((source) => ({
      source,
      type: inputType ?? typeOfInput(source) ?? FORMAT_NAMES[0],
    })),
    transformations: QUICK_TRANSFORMATIONS.split(" "),
  };
  return { ...projectOf(value, NO_PLUGINS, host), warnings: [] };
}

/** Refuses lists of which the last one looks like the file to write, without `-o`. */
async function refuseMissingOutput({ inputs, output }: ProjectOptions, host: Host): Promise<void> {
  const last = inputs.at(-1)!;
  if ((output ?? "-") !== "-" || inputs.length === 1 || isAddress(last)) return;
  if (formatOfName(host.path.basename(last)) === undefined) return;
  const path = host.path.resolve(host.cwd, last);
  if (await host.exists(path)) return;
  const shown = printable(last, 80);
  throw new CompilerError([
    errorOf("source-not-found", `File not found: ${shown}`, {
      hint: `To write it, add -o ${shown}`,
    }),
  ]);
}

/** The format of a source that has the extension of one with its own reader. Names and hosts lines need none. */
function typeOfInput(source: string): OutputFormat | undefined {
  const name = source.replace(/[?#].*$/s, "").replace(/^.*[/\\]/s, "");
  const format = formatOfName(name);
  return format !== undefined && foreignFormats.has(format) ? format : undefined;
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
