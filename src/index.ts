import { ByteBuffer } from "./bytes/byte-buffer.ts";
import { buildTime } from "./engine/build-time.ts";
import { type CompiledList, compileList } from "./engine/compile.ts";
import type { CompileOptions } from "./engine/compile-options.ts";
import { loadPlugins } from "./build/load-plugins.ts";
import { NO_PLUGINS, type Plugins } from "./engine/plugins.ts";
import { contextWith } from "./engine/validation-context.ts";
import { nodeOfValue } from "./config/config-node.ts";
import type { Config } from "./config/fields.ts";
import { listsOf } from "./config/lists.ts";
import { type LoadedConfig, loadConfigFile } from "./config/load.ts";
import { validateConfig } from "./config/validate.ts";
import { CompilerError, errorOf } from "./diagnostics/diagnostic.ts";
import { printable } from "./diagnostics/printable.ts";
import { someOf } from "./diagnostics/some-of.ts";
import type { Host } from "./host/host.ts";
import { nodeHost } from "./host/node.ts";
import { patchLines } from "./publish/patches.ts";
import { collectCopies } from "./sources/collect-copies.ts";

export type { CompiledList } from "./engine/compile.ts";
export type { CompileOptions } from "./engine/compile-options.ts";
export {
  type Plugin,
  type PluginFormat,
  type PluginTransformation,
  type Plugins,
  pluginsOf,
} from "./engine/plugins.ts";
export type { ProgressEvent } from "./engine/progress-event.ts";
export type { CompileReport, SourceReport } from "./engine/report.ts";
export type { Config, SourceConfig, SourceType } from "./config/fields.ts";
export type { LoadedConfig } from "./config/load.ts";
export { CompilerError, type Diagnostic, type Place } from "./diagnostics/diagnostic.ts";
export { type FetchRequest, type FetchResponse, HostError, type Host } from "./host/host.ts";
export { memoryHost, type MemoryHost, type MemoryHostOptions } from "./host/memory.ts";
export { nodeHost } from "./host/node.ts";
export { type FateName } from "./rules/fate.ts";
export { rowsOf, type RowView } from "./rules/row-view.ts";

export interface LoadConfigOptions {
  /** Runs the modules that the configuration names as its plugins, which are programs; or these instead of them. */
  readonly plugins?: true | Plugins;
}

export interface ConfigWithPlugins extends LoadedConfig {
  /** For `compile`, with the configuration. */
  readonly plugins: Plugins;
}

/** Reads a configuration file (.json, .jsonc, .yaml, .yml). Rejects with a `CompilerError` that lists every problem. */
export async function loadConfig(
  path: string,
  host: Host = nodeHost(),
  options: LoadConfigOptions = {},
): Promise<ConfigWithPlugins> {
  const given = options.plugins === true ? undefined : options.plugins;
  let plugins = given ?? NO_PLUGINS;
  const context = contextWith(plugins);
  const loaded = await loadConfigFile(path, host, context, async (files, of) => {
    if (options.plugins === undefined)
      throw pluginsOff(files, "loadConfig(path, host, { plugins })");
    if (given === undefined) plugins = await loadPlugins(files, host.path.dirname(of), true, host);
    return contextWith(plugins);
  });
  return { ...loaded, plugins };
}

export interface CompileResult extends CompiledList {
  /** The list, ready to be written. */
  readonly bytes: Uint8Array;
}

export interface LibraryOptions extends CompileOptions {
  readonly host?: Host;
  /** The name of the list to compile, for a configuration that has `lists`. What it must cover is not looked at. */
  readonly list?: string;
}

/** Compiles a configuration into a list. Nothing is written; `result.bytes` is the file. */
export async function compile(
  config: Config,
  options: LibraryOptions = {},
): Promise<CompileResult> {
  const { host = nodeHost(), list: wanted, ...rest } = options;
  const { plugins: files = [] } = config;
  if (files.length > 0 && options.plugins === undefined)
    throw pluginsOff(files, "compile(config, { plugins })");
  const context = contextWith(options.plugins ?? NO_PLUGINS);
  const validated = validateConfig(nodeOfValue(config), context);
  if (validated.config === undefined) throw new CompilerError(validated.diagnostics);
  const list = new ByteBuffer();
  const chosen = wantedList(validated.config, wanted);
  const builtAt = rest.builtAt ?? buildTime(host);
  const headerLines = patchLines(chosen, builtAt);
  const result = await compileList(
    chosen,
    host,
    (bytes) => void list.append(bytes, 0, bytes.length),
    { ...rest, builtAt, headerLines },
  );
  if (rest.cacheDir !== undefined) await collectCopies(rest.cacheDir, host);
  const diagnostics = [...validated.diagnostics, ...result.diagnostics];
  return { ...result, bytes: list.view(), diagnostics };
}

function pluginsOff(files: readonly string[], call: string): CompilerError {
  const shown = someOf(files);
  const hint = `They are programs; if they are yours, say so: ${call}`;
  return new CompilerError([
    errorOf("plugins-off", `The configuration has plugins: ${shown}`, { hint }),
  ]);
}

/** The one list that is to be compiled. */
function wantedList(config: Config, wanted: string | undefined): Config {
  if (wanted === undefined && config.lists === undefined) return config;
  const lists = listsOf(config).map((one) => one.config);
  const found = lists.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const names = someOf(lists.map(({ name }) => name));
  throw new CompilerError([
    wanted === undefined
      ? errorOf("several-lists", `The configuration makes ${lists.length} lists: ${names}`, {
          hint: "Name one of them: compile(config, { list })",
        })
      : errorOf("unknown-list", `The configuration makes no list ${printable(wanted, 60)}`, {
          hint: `It makes: ${names}`,
        }),
  ]);
}
