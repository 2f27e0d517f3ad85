import { contextWith } from "../engine/validation-context.ts";
import { nodeOfValue } from "../config/config-node.ts";
import type { Config } from "../config/config.ts";
import { FORMAT_NAMES } from "../config/output-fields.ts";
import { loadConfigFile } from "../config/load.ts";
import { listsOf } from "../config/lists.ts";
import { loadPlugins } from "./load-plugins.ts";
import { NO_PLUGINS, type Plugins } from "../engine/plugins.ts";
import { slugOf } from "../engine/slug.ts";
import { validateConfig } from "../config/validate.ts";
import {
  CompilerError,
  type Diagnostic,
  errorOf,
  type FileLocation,
} from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { Host } from "../host/host.ts";
import type { ProjectOptions } from "./build-options.ts";

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
  const project = await readProject(options, host);
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

async function readProject(options: ProjectOptions, host: Host): Promise<Project> {
  if (options.inputs.length > 0) return quickProject(options, host);
  const { plugins: given } = options;
  const mayRun = options.permit.includes("plugins");
  let plugins = given ?? NO_PLUGINS;
  if (options.config !== undefined) return projectOf(options.config, plugins, host);
  const { config, path, warnings, locate } = await loadConfigFile(
    options.configPath,
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
