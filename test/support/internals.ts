import {
  type CompiledInMemory,
  type InMemoryOptions,
  compileInMemory,
} from "../../src/builder/compile-in-memory.ts";
import { openProject } from "../../src/builder/plan/project.ts";
import type { Config } from "../../src/config/lists.ts";
import type { Plugins } from "../../src/engine/plugins.ts";
import type { Host, Permit } from "../../src/host/host.ts";
import { nodeHost } from "../../src/host/node.ts";

/** What tests use besides the public library: a host of their own, and everything that a compile knows. */
export type { EngineOptions } from "../../src/engine/compile-options.ts";
export type { CompiledInMemory as CompileResult } from "../../src/builder/compile-in-memory.ts";
export { type Plugins, type Plugin, pluginsOf } from "../../src/engine/plugins.ts";
export type { ProgressEvent } from "../../src/engine/compile-options.ts";
export type { CompileReport, SourceReport } from "../../src/documents/facts.ts";
export type { Config, SourceConfig } from "../../src/config/lists.ts";
export type { SourceType } from "../../src/config/fields.ts";
export { CompilerError, type Diagnostic } from "../../src/diagnostics/render.ts";
export {
  type FetchRequest,
  type FetchResponse,
  HostError,
  type Host,
} from "../../src/host/host.ts";
export type { MemoryHost, MemoryHostOptions } from "./host/in-memory.ts";
export { memoryHost } from "./memory-host.ts";
export { nodeHost } from "../../src/host/node.ts";
export type { FateName } from "../../src/rules/fate.ts";
export { rowsOf, type RowView } from "../../src/rules/rule-table.ts";

/** Compiles in memory on any host. */
export async function compile(
  config: Config,
  { host = nodeHost(), ...options }: InMemoryOptions & { readonly host?: Host } = {},
): Promise<CompiledInMemory> {
  return await compileInMemory(config, options, host);
}

/** Reads a configuration from any host. */
export async function loadConfig(
  configPath: string,
  host: Host = nodeHost(),
  permit: readonly Permit[] = [],
): Promise<{ config: Config; path: string; plugins: Plugins }> {
  const rest = { inputs: [], inputType: undefined, filter: [], output: undefined };
  const options = { ...rest, configPath, permit, copyToRules: false, rulesDir: "./rules" };
  const { project } = await openProject(options, host);
  return { config: project.config, path: configPath, plugins: project.plugins };
}
