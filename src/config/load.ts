import { decodeUtf8 } from "../bytes/utf8.ts";
import {
  CompilerError,
  type Diagnostic,
  type FileLocation,
  errorOf,
} from "../diagnostics/diagnostic.ts";
import { maskCredentials, printable } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError } from "../host/host.ts";
import { type ConfigNode, ConfigSyntaxError } from "./config-node.ts";
import type { Config } from "./config.ts";
import { type ValidationContext, validateConfig } from "./validate.ts";

const MAX_CONFIG_BYTES = 1024 * 1024;

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path of the file; relative paths in the configuration start from its folder. */
  readonly path: string;
  readonly warnings: readonly Diagnostic[];
  /** Where the configuration names this file to write; undefined if it does not. */
  readonly locate: (file: string) => FileLocation | undefined;
}

/** Reads and checks a configuration file. Rejects with a `CompilerError` that holds every problem. */
export async function loadConfigFile(
  path: string,
  host: Host,
  context: ValidationContext,
  /** Called with the plugin modules before validation; returns what they add to the context. */
  onPlugins?: (files: readonly string[], path: string) => Promise<Partial<ValidationContext>>,
): Promise<LoadedConfig> {
  const absolute = host.path.resolve(host.cwd, path);
  const text = await readConfig(absolute, path, host);
  const locate = locationFinder(printable(path), text);
  const root = await parse(text, path, host.path.extname(path).toLowerCase(), locate);
  const files = pluginFiles(root);
  const more = files.length === 0 ? {} : await onPlugins?.(files, absolute);
  const { config, diagnostics } = validateConfig(root, { ...context, ...more, locate });
  if (config === undefined) throw new CompilerError(diagnostics);
  return {
    config,
    path: absolute,
    warnings: diagnostics,
    locate: (file) => {
      const node = fileNode(root, file);
      return node && locate(node.offset);
    },
  };
}

/** Rejects with a `CompilerError` if a file in YAML or JSON has an error of syntax. */
export async function checkSyntax(path: string, host: Host): Promise<void> {
  const text = await readConfig(host.path.resolve(host.cwd, path), path, host);
  const extension = host.path.extname(path).toLowerCase();
  await parse(text, path, extension, locationFinder(printable(path), text));
}

/** The value of a field for a file to write. */
function fileNode(node: ConfigNode, file: string): ConfigNode | undefined {
  if (node.kind === "scalar") return undefined;
  const parts =
    node.kind === "array" ? node.items.map((item) => ({ key: "", node: item })) : node.entries;
  for (const part of parts) {
    const { key, node: value } = part;
    if (key === "file" && value.kind === "scalar" && value.value === file) return value;
    const found = fileNode(value, file);
    if (found !== undefined) return found;
  }
  return undefined;
}

function pluginFiles(root: ConfigNode): string[] {
  if (root.kind !== "object") return [];
  const node = root.entries.find(({ key }) => key === "plugins")?.node;
  const items = node?.kind === "array" ? node.items : [];
  return items.flatMap((item) =>
    item.kind === "scalar" && typeof item.value === "string" ? [item.value] : [],
  );
}

async function readConfig(absolute: string, path: string, host: Host): Promise<string> {
  const shown = printable(path);
  let bytes: Uint8Array;
  try {
    bytes = await host.readFile(absolute);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const isMissing = error.code === "ENOENT" || error.code === "ENOTDIR";
    const diagnostic = isMissing
      ? errorOf("config-not-found", `Configuration file not found: ${shown}`)
      : errorOf("config-unreadable", `Failed to parse configuration: cannot read ${shown}`, {
          cause: reasonOf(error.code, error.message),
        });
    throw new CompilerError([diagnostic]);
  }
  if (bytes.length > MAX_CONFIG_BYTES)
    throw new CompilerError([
      errorOf("config-unreadable", `Failed to parse configuration: ${shown} is larger than 1 MiB`),
    ]);
  return decodeUtf8(bytes);
}

/** The extension selects the format, and the parser is loaded only when it is needed. */
async function parse(
  text: string,
  path: string,
  extension: string,
  locate: (offset: number) => FileLocation,
): Promise<ConfigNode> {
  try {
    if (extension === ".json" || extension === ".jsonc")
      return (await import("./json.ts")).parseJson(text, extension === ".jsonc");
    if (isYaml(extension)) return (await import("./yaml.ts")).parseYaml(text);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    const start = extension === ".json" ? "Invalid JSON" : "Failed to parse configuration";
    throw new CompilerError([
      errorOf("config-syntax", `${start}: ${printable(error.message)}`, {
        ...(isYaml(extension) ? { hint: error.hint ?? YAML_HINT } : {}),
        at: locate(error.offset),
      }),
    ]);
  }
  const message = `Invalid configuration: ${printable(path)} does not end in .json, .jsonc, .yaml or .yml`;
  throw new CompilerError([errorOf("config-extension", message)]);
}

function isYaml(extension: string): boolean {
  return extension === ".yaml" || extension === ".yml";
}

const YAML_HINT = "Quote an entry that begins with |, *, @, &, ! or [; keys must be unique";

/** Line, column and text of an offset. */
function locationFinder(file: string, text: string): (offset: number) => FileLocation {
  const hasSecret = /\bsecret["']?\s*:\s*true\b/.test(text);
  return (offset) => {
    const before = text.slice(0, offset);
    const line = before.split("\n").length;
    const lineStart = before.lastIndexOf("\n") + 1;
    const lineEnd = text.indexOf("\n", lineStart);
    const frame = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd).replace(/\r$/, "");
    const column = offset - lineStart + 1;
    // A line this long is not worth showing.
    if (frame.length > 400) return { file, line, column };
    return { file, line, column, frame: maskCredentials(frame, hasSecret) };
  };
}
