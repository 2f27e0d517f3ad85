import { VALIDATION_CONTEXT, contextWith } from "../engine/validation-context.ts";
import { nodeOfValue } from "../config/config-node.ts";
import type { Config } from "../config/fields.ts";
import { FORMAT_NAMES } from "../config/output-fields.ts";
import { loadConfigFile } from "../config/load.ts";
import { listsOf } from "../config/lists.ts";
import { loadPlugins } from "../build/load-plugins.ts";
import { NO_PLUGINS, type Plugins } from "../engine/plugins.ts";
import { slugOf } from "../engine/slug.ts";
import { validateConfig } from "../config/validate.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { allNames, someOf } from "../diagnostics/some-of.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./flags/options.ts";
import type { Talk } from "./output/talk.ts";

export interface ConfigInPlace {
  readonly config: Config;
  /** The configuration as it stands in its file, with all lists that it makes. */
  readonly whole: Config;
  /** Where its relative paths start. */
  readonly folder: string;
  /** The name of its file. */
  readonly name: string;
  /** What modules of the user's own bring. */
  readonly plugins: Plugins;
  /** What was said about it. */
  readonly warnings: readonly Diagnostic[];
}

/** One of the lists of a configuration. */
export interface ListInPlace extends ConfigInPlace {
  /** Names of lists that it must cover. */
  readonly covers: readonly string[];
}

/** The one list that was asked for. Warnings are said on the way. */
export async function configOf(options: Options, host: Host, talk: Talk): Promise<ListInPlace> {
  const [first, ...others] = await listsInPlace(options, host, talk);
  if (others.length === 0) return first!;
  const names = [first!, ...others].map(({ config }) => config.name);
  const message = `The configuration makes ${names.length} lists: ${someOf(names)}`;
  throw new CompilerError([errorOf("several-lists", message, allNames(names))]);
}

/** The lists that were asked for: those of a configuration that `--filter` wants, or the one that `-i` stands for. */
export async function listsInPlace(
  options: Options,
  host: Host,
  talk: Talk,
): Promise<readonly ListInPlace[]> {
  const configured = await wholeConfig(options, host, talk);
  const lists = listsOf(configured.config).map((one) => ({ ...configured, ...one }));
  const wanted = options.args.values.get("filter") ?? [];
  if (wanted.length === 0) return lists;
  const names = lists.map(({ config }) => config.name);
  for (const one of wanted)
    if (!names.some((name) => isCalled(name, one)))
      throw new CompilerError([
        errorOf("unknown-list", `--filter wants ${printable(one, 60)}, and no list is called so`, {
          hint: `There are: ${someOf(names)}`,
          ...allNames(names),
        }),
      ]);
  return lists.filter(({ config }) => wanted.some((one) => isCalled(config.name, one)));
}

/** By its name or the name of its file; a `*` stands for anything. */
function isCalled(name: string, wanted: string): boolean {
  const parts = wanted
    .toLowerCase()
    .split("*")
    .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "u");
  return pattern.test(name.toLowerCase()) || pattern.test(slugOf(name));
}

async function wholeConfig(options: Options, host: Host, talk: Talk): Promise<ConfigInPlace> {
  if (options.inputs.length > 0) return quickConfig(options, host);
  talk.debug(`configuration: ${printable(host.path.resolve(host.cwd, options.configPath))}`);
  let plugins = NO_PLUGINS;
  const { config, path, warnings } = await loadConfigFile(
    options.configPath,
    host,
    VALIDATION_CONTEXT,
    async (files, of) => {
      plugins = await loadPlugins(
        files,
        host.path.dirname(of),
        options.args.switches.has("plugins"),
        host,
      );
      return contextWith(plugins);
    },
  );
  for (const warning of warnings) talk.diagnostic(warning);
  return {
    config,
    whole: config,
    folder: host.path.dirname(path),
    name: host.path.basename(path),
    plugins,
    warnings,
  };
}

function quickConfig({ inputs, inputType }: Options, host: Host): ConfigInPlace {
  const value = {
    name: "Blocklist",
    sources: inputs.map((source) => ({ source, type: inputType ?? FORMAT_NAMES[0] })),
    transformations: [
      "RemoveComments",
      "Deduplicate",
      "Compress",
      "Validate",
      "TrimLines",
      "InsertFinalNewLine",
    ],
  };
  const { config, diagnostics } = validateConfig(nodeOfValue(value), VALIDATION_CONTEXT);
  if (config === undefined) throw new CompilerError(diagnostics);
  const plugins = NO_PLUGINS;
  return { config, whole: config, folder: host.cwd, name: "", plugins, warnings: [] };
}
