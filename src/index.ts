import { ByteBuffer } from "./bytes/byte-buffer.ts";
import { type CompiledList, compileList } from "./compile/compile.ts";
import type { CompileOptions } from "./compile/compile-options.ts";
import { VALIDATION_CONTEXT } from "./compile/validation-context.ts";
import { nodeOfValue } from "./config/config-node.ts";
import type { Config } from "./config/fields.ts";
import { type LoadedConfig, loadConfigFile } from "./config/load.ts";
import { validateConfig } from "./config/validate.ts";
import { CompilerError } from "./diagnostics/diagnostic.ts";
import type { Host } from "./host/host.ts";
import { nodeHost } from "./host/node.ts";
import { collectCopies } from "./sources/collect-copies.ts";

export type { CompiledList } from "./compile/compile.ts";
export type { CompileOptions } from "./compile/compile-options.ts";
export {
  type Plugin,
  type PluginFormat,
  type PluginTransformation,
  pluginsOf,
} from "./compile/plugins.ts";
export type { ProgressEvent } from "./compile/progress-event.ts";
export type { CompileReport, SourceReport } from "./compile/report.ts";
export type { Config, SourceConfig, SourceType } from "./config/fields.ts";
export type { LoadedConfig } from "./config/load.ts";
export { CompilerError, type Diagnostic, type Place } from "./diagnostics/diagnostic.ts";
export { type FetchRequest, type FetchResponse, HostError, type Host } from "./host/host.ts";
export { memoryHost, type MemoryHost, type MemoryHostOptions } from "./host/memory.ts";
export { nodeHost } from "./host/node.ts";
export { type FateName } from "./rules/fate.ts";
export { rowsOf, type RowView } from "./rules/row-view.ts";

/** Reads a configuration file (.json, .jsonc, .yaml, .yml). Rejects with a `CompilerError` that lists every problem. */
export function loadConfig(path: string, host: Host = nodeHost()): Promise<LoadedConfig> {
  return loadConfigFile(path, host, VALIDATION_CONTEXT);
}

export interface CompileResult extends CompiledList {
  /** The list, ready to be written. */
  readonly bytes: Uint8Array;
}

/** Compiles a configuration into a list. Nothing is written; `result.bytes` is the file. */
export async function compile(
  config: Config,
  options: CompileOptions & { readonly host?: Host } = {},
): Promise<CompileResult> {
  const { host = nodeHost(), ...rest } = options;
  const validated = validateConfig(nodeOfValue(config), VALIDATION_CONTEXT);
  if (validated.config === undefined) throw new CompilerError(validated.diagnostics);
  const list = new ByteBuffer();
  const result = await compileList(
    validated.config,
    host,
    (bytes) => void list.append(bytes, 0, bytes.length),
    rest,
  );
  if (rest.cacheFolder !== undefined) await collectCopies(rest.cacheFolder, host);
  const diagnostics = [...validated.diagnostics, ...result.diagnostics];
  return { ...result, bytes: list.view(), diagnostics };
}
