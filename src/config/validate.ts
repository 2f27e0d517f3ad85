import { decodeUtf8 } from "../bytes/text.ts";
import {
  CompilerError,
  type Diagnostic,
  type FileLocation,
  errorOf,
} from "../diagnostics/render.ts";
import {
  durationMs,
  maskCredentials,
  nearest,
  printable,
  reasonOf,
  sizeBytes,
  someOf,
} from "../diagnostics/text.ts";
import { type Host, HostError } from "../host/host.ts";
import {
  type Field,
  GUARD_FIELDS,
  LIST_FIELDS,
  RECOMMENDED,
  RECOMMENDED_WORD,
  SOURCE_FIELDS,
  SOURCE_TYPES,
} from "./fields.ts";
import { hookProblems } from "./hooks.ts";
import {
  type Config,
  type FileConfig,
  type SourceConfig,
  listProblems,
  listsOf,
  minSourcesProblems,
} from "./lists.ts";
import { OUTPUT_FORMATS, answerIn } from "./outputs.ts";
import {
  type ConfigNode,
  ConfigProblems,
  ConfigSyntaxError,
  WITHOUT_QUOTES,
  blockedSourceProblems,
  combinedProblems,
  deviceProblems,
  fitProblems,
  isQuoted,
  listDeviceProblems,
  reportHomepages,
  reportIncomplete,
  sourceProblems,
  textHint,
  unrankedProblems,
} from "./problems.ts";
import { resolverProblems } from "./resolvers.ts";
import { columnOf, isFeed, matchesOf } from "./sources.ts";

/** Names that validation checks against. */
export interface ValidationContext {
  /** Names of transformations, including validators. */
  readonly transformations: readonly string[];
  readonly validators: ReadonlySet<string>;
  /** Formats of plugins. */
  readonly formats?: readonly string[];
  /** Converts an offset into a location; absent for a configuration that is not a file. */
  readonly locate?: (offset: number) => FileLocation;
}

interface Validated {
  /** Absent if there are errors. */
  readonly config?: Config;
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks everything and reports every problem, not only the first. */
export function validateConfig(root: ConfigNode, context: ValidationContext): Validated {
  const check = new ConfigCheck(context);
  const config = check.list(root);
  const { hasErrors, diagnostics } = check.problems;
  return hasErrors || config === undefined ? { diagnostics } : { config, diagnostics };
}

class ConfigCheck {
  readonly problems: ConfigProblems;
  private readonly context: ValidationContext;

  constructor(context: ValidationContext) {
    this.context = context;
    this.problems = new ConfigProblems(context.locate);
  }

  list(root: ConfigNode): Config | undefined {
    if (root.kind !== "object") {
      const message = "the configuration must be an object with `name` and `sources`";
      this.problems.invalid(root.offset, message);
      return undefined;
    }
    const config = this.object(root, LIST_FIELDS, "") as Config;
    if (this.problems.hasErrors) {
      this.validators(root, config);
      return config;
    }
    for (const problem of fieldProblems(config))
      this.problems.invalid(problemNode(root, problem).offset, problem.message, problem.hint);
    if (this.problems.hasErrors) return config;
    const { offset } = root.entries.find(({ key }) => key === "min_sources")?.node ?? root;
    for (const { message, hint } of minSourcesProblems(config))
      this.problems.invalid(offset, message, hint);
    const lists = listsOf(config);
    for (const own of lists) this.validators(root, own.config);
    reportHomepages(root, [config, ...lists.map((one) => one.config)], this.problems);
    return config;
  }

  private validators(root: ConfigNode, config: Config): void {
    reportTwoValidators(root, config, this.context.validators, this.problems);
  }

  private object(
    node: ConfigNode & { kind: "object" },
    fields: Readonly<Record<string, Field>>,
    path: string,
  ): object {
    this.problems.keys(node, fields, path);
    const result: Record<string, unknown> = Object.create(null);
    for (const entry of node.entries)
      if (Object.hasOwn(fields, entry.key))
        result[entry.key] = this.value(entry.node, fields[entry.key]!, path + entry.key);
    return result;
  }

  private value(node: ConfigNode, field: Field, path: string): unknown {
    switch (field.type) {
      case "string":
        return this.string(node, path, field.required === true);
      case "source":
        return this.source(node, path);
      case "strings":
        return this.strings(node, path);
      case "string-or-list":
        return node.kind === "array" ? this.strings(node, path) : this.string(node, path, false);
      case "entries":
        return this.entries(node, path);
      case "transformations":
        return this.transformations(node, path);
      case "source-type":
        return this.choice(node, path, SOURCE_TYPES);
      case "column":
        return columnOf(node, path, this.problems);
      case "matches":
        return matchesOf(node, path, this.problems);
      case "boolean":
        return this.boolean(node, path);
      case "duration":
        return this.duration(node, path);
      case "number":
        return this.number(node, path, field.most);
      case "guards":
        return this.fieldsOf(node, path, GUARD_FIELDS);
      case "sources":
        return this.sources(node, path);
      case "files":
        return this.files(node, path);
      case "size":
        return this.size(node, path);
      case "format":
        return this.choice(node, path, [...OUTPUT_FORMATS, ...(this.context.formats ?? [])]);
      case "answer":
        return answerIn(node, path, this.problems);
      case "choice":
        return this.choice(node, path, Object.keys(field.values!));
      case "choices":
        return this.choices(node, path, Object.keys(field.values!));
      case "object":
        return this.fieldsOf(node, path, field.fields!);
      case "objects":
        return this.objects(node, path, field.fields!, field.plain);
    }
  }

  private string(node: ConfigNode, path: string, isRequired: boolean): string | undefined {
    if (node.kind === "scalar" && typeof node.value === "string") {
      if (node.value !== "" || !isRequired) return node.value;
      const message = `${path} is required`;
      this.problems.error("config-required", node.offset, message, `Give "${path}" a string`);
      return undefined;
    }
    const shown = node.kind === "scalar" ? `, not ${String(node.value)}` : "";
    this.problems.invalid(node.offset, `${path} must be a string${shown}`, textHint(node));
    return undefined;
  }

  private strings(node: ConfigNode, path: string): string[] {
    if (node.kind === "array")
      return node.items.map((item, index) => this.string(item, `${path}[${index}]`, false) ?? "");
    this.problems.invalid(node.offset, `${path} must be a list of strings`, 'Write it as ["…"]');
    return [];
  }

  private transformations(node: ConfigNode, path: string): readonly string[] {
    if (node.kind === "scalar" && node.value === RECOMMENDED_WORD) return RECOMMENDED;
    if (node.kind !== "array") {
      const message = `${path} must be a list of strings, or ${RECOMMENDED_WORD}`;
      this.problems.invalid(node.offset, message, 'Write it as ["…"]');
      return [];
    }
    const names = this.strings(node, path);
    const known = this.context.transformations;
    for (const [index, name] of names.entries()) {
      if (known.includes(name)) continue;
      const item = node.items[index]!;
      if (item.kind !== "scalar" || typeof item.value !== "string") continue;
      const meant = nearest(name, known);
      const hint =
        meant === undefined
          ? `Known names: ${known.join(", ")}`
          : `Names are case-sensitive; did you mean "${meant}"?`;
      this.problems.error(
        "unknown-transformation",
        item.offset,
        `Unknown transformation: ${printable(name, 60)}`,
        hint,
      );
    }
    const validators = [...new Set(names.filter((name) => this.context.validators.has(name)))];
    if (validators.length > 1)
      this.problems.error(
        "several-validators",
        node.offset,
        `Invalid configuration: ${path} has more than one validator: ${validators.join(", ")}`,
        "Keep one of them",
      );
    return names;
  }

  private choice(node: ConfigNode, path: string, values: readonly string[]): string | undefined {
    const value = this.string(node, path, true);
    if (value === undefined || values.includes(value)) return value;
    const meant = nearest(value, values);
    const hint = meant === undefined ? undefined : `Did you mean "${meant}"?`;
    const wanted = values.length === 1 ? values[0] : `one of ${values.join(", ")}`;
    this.problems.invalid(node.offset, `${path} must be ${wanted}`, hint);
    return undefined;
  }

  private boolean(node: ConfigNode, path: string): boolean | undefined {
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    const hint = isQuoted(node, /^(?:true|false)$/) ? WITHOUT_QUOTES : "Write true or false";
    this.problems.invalid(node.offset, `${path} must be true or false`, hint);
    return undefined;
  }

  /** With `most`, it must be an integer up to that. */
  private number(node: ConfigNode, path: string, most?: number): number | undefined {
    const value = node.kind === "scalar" ? node.value : undefined;
    if (typeof value === "number" && value >= 0)
      if (most === undefined || (Number.isInteger(value) && value <= most)) return value;
    const kind = most === undefined ? "a number from 0 on" : `a whole number from 0 to ${most}`;
    const example = `Write a number, such as ${Math.min(most ?? 30, 30)}`;
    const hint = isQuoted(node, /^[\d.]+$/) ? WITHOUT_QUOTES : example;
    this.problems.invalid(node.offset, `${path} must be ${kind}`, hint);
    return undefined;
  }

  private fieldsOf(
    node: ConfigNode,
    path: string,
    fields: Readonly<Record<string, Field>>,
  ): object | undefined {
    if (node.kind === "object") return this.object(node, fields, `${path}.`);
    const [first] = Object.keys(fields);
    this.problems.invalid(node.offset, `${path} must be an object`, `Write { "${first}": … }`);
    return undefined;
  }

  private objects(
    node: ConfigNode,
    path: string,
    fields: Readonly<Record<string, Field>>,
    plain?: string,
  ): object[] {
    if (node.kind !== "array") {
      const [first] = Object.keys(fields);
      this.problems.invalid(node.offset, `${path} must be a list`, `Write [{ "${first}": … }]`);
      return [];
    }
    return node.items.flatMap((item, index) => {
      if (plain !== undefined && item.kind === "scalar")
        return { [plain]: this.string(item, `${path}[${index}]`, true) };
      return this.fieldsOf(item, `${path}[${index}]`, fields) ?? [];
    });
  }

  private choices(node: ConfigNode, path: string, values: readonly string[]): string[] {
    if (node.kind === "array")
      return node.items.flatMap(
        (item, index) => this.choice(item, `${path}[${index}]`, values) ?? [],
      );
    this.problems.invalid(node.offset, `${path} must be a list of some of ${values.join(", ")}`);
    return [];
  }

  private size(node: ConfigNode, path: string): string | undefined {
    const isNumber = node.kind === "scalar" && typeof node.value === "number";
    const value = isNumber ? String(node.value) : this.string(node, path, true);
    if (value === undefined || sizeBytes(value) !== undefined) return value;
    this.problems.invalid(node.offset, `${path} must be a size`, 'Write "20M", "500k" or bytes');
    return undefined;
  }

  private duration(node: ConfigNode, path: string): string | undefined {
    const value = this.string(node, path, true);
    if (value === undefined || durationMs(value) !== undefined) return value;
    this.problems.invalid(
      node.offset,
      `${path} must be a duration`,
      'Write "90s", "30m", "12h" or "7d"',
    );
    return undefined;
  }

  private sources(node: ConfigNode, path: string): SourceConfig[] {
    if (node.kind !== "array") {
      this.problems.invalid(node.offset, `${path} must be a list of sources`);
      return [];
    }
    if (node.items.length === 0)
      this.problems.error(
        "config-required",
        node.offset,
        `${path} is required: the list is empty`,
        "Add at least one source",
      );
    const sources = node.items.map((item, index) => this.sourceObject(item, `${path}[${index}]`));
    reportIncomplete(node.items, path, this.problems);
    return sources;
  }

  private files(node: ConfigNode, path: string): FileConfig[] {
    if (node.kind !== "array") {
      this.problems.invalid(node.offset, `${path} must be a list of files`, 'Write it as ["…"]');
      return [];
    }
    return node.items.map((item, index) => {
      const at = `${path}[${index}]`;
      if (item.kind !== "object") return this.source(item, at) ?? "";
      return this.settings(item, at, fileProblems);
    });
  }

  private source(node: ConfigNode, path: string): string | undefined {
    const value = this.string(node, path, true);
    if (value !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(value) && !URL.canParse(value))
      this.problems.invalid(node.offset, `${path} is not a URL`, "Check its host and port");
    return value;
  }

  private entries(node: ConfigNode, path: string): string[] {
    const entries = this.strings(node, path);
    if (node.kind !== "array") return entries;
    for (const [index, entry] of entries.entries())
      this.problems.checkRegex(entry, node.items[index]!.offset);
    return entries;
  }

  private sourceObject(node: ConfigNode, path: string): SourceConfig {
    if (node.kind === "scalar" && typeof node.value === "string")
      return { source: this.source(node, path) ?? "" };
    if (node.kind !== "object") {
      this.problems.invalid(node.offset, `${path} must be an object`, 'Write { "source": "…" }');
      return { source: "" };
    }
    return this.settings(node, path, blockedSourceProblems);
  }

  private settings(
    node: ConfigNode & { kind: "object" },
    path: string,
    problemsOf: typeof fileProblems,
  ): SourceConfig {
    const source = this.object(node, SOURCE_FIELDS, `${path}.`) as SourceConfig;
    const found = this.problems.hasErrors ? [] : problemsOf(source, path);
    for (const { message, hint } of found) this.problems.invalid(node.offset, message, hint);
    return source;
  }
}

const CHECKS = {
  after: hookProblems,
  lists: (config: Config): Omit<FieldProblem, "key">[] => [
    ...listProblems(config),
    ...listDeviceProblems(config),
  ],
  outputs: deviceProblems,
  combined: combinedProblems,
  resolvers: resolverProblems,
  fit: fitProblems,
  guards: unrankedProblems,
} as const;

/** A problem of a field. */
interface FieldProblem {
  readonly key: string;
  /** The entry of a field with several, and the field of that entry. */
  readonly index?: number;
  readonly field?: string;
  readonly message: string;
  readonly hint?: string;
}

/** Problems of a configuration whose fields have the right types, and the fields that have them. */
function* fieldProblems(config: Config): Generator<FieldProblem> {
  for (const [key, check] of Object.entries(CHECKS))
    for (const problem of check(config)) yield { key, ...problem };
}

/** The part of the configuration that has a problem. */
function problemNode(
  root: ConfigNode & { kind: "object" },
  { key, index, field }: FieldProblem,
): ConfigNode {
  const node = root.entries.find((entry) => entry.key === key)?.node ?? root;
  const item = node.kind === "array" && index !== undefined ? node.items[index] : undefined;
  const own = item?.kind === "object" ? item.entries.find((one) => one.key === field) : undefined;
  return own?.node ?? item ?? node;
}

/** Settings of a source that a file of names has, too: where it is, and how it is read. */
const SETTINGS: ReadonlySet<string> = new Set([
  "source",
  "type",
  "column",
  "delimiter",
  "pointer",
  "where",
  "mirrors",
  "required",
  "max_stale",
  "timeout",
  "member",
  "max_bytes",
  "auth",
  "headers_file",
  "key",
  "allow_private",
  "secret",
]);

/** A file of names as a source. */
export function sourceOf(file: FileConfig): SourceConfig {
  return typeof file === "string" ? { source: file } : file;
}

/** The type of a list of names: as written, or by its address. */
export function nameListType({
  type,
  source,
}: Pick<SourceConfig, "type" | "source">): NonNullable<SourceConfig["type"]> {
  return type ?? (/\.csv\b/i.test(source) ? "tranco" : "domains");
}

/** Problems of a file of names whose fields have the right types. */
function* fileProblems(
  file: SourceConfig,
  at: string,
): Generator<{ readonly message: string; readonly hint: string }> {
  for (const key of Object.keys(file))
    if (!SETTINGS.has(key))
      yield {
        message: `${at}.${key} is only for sources`,
        hint: "Remove it: here, the file is read as a list of names",
      };
  yield* sourceProblems(file, at);
  const { type = "domains" } = file;
  const allowed = ["domains", ...(/\bexpand\./.test(at) ? ["hosts", "adblock"] : [])];
  if (!isFeed(file) && !allowed.includes(type))
    yield {
      message: `${at}.type is ${printable(type)}, which is not a list of names`,
      hint: `Use tranco, csv with column, ${allowed.join(", ")}, or another feed`,
    };
}

/** A list must not have two validators. */
function reportTwoValidators(
  root: ConfigNode,
  config: Config,
  validators: ReadonlySet<string>,
  problems: ConfigProblems,
): void {
  const top = config.transformations?.filter((name) => validators.has(name)) ?? [];
  if (top.length === 0) return;
  for (const [index, source] of (config.sources ?? []).entries()) {
    const own = source.transformations?.filter((name) => validators.has(name)) ?? [];
    if (own.length === 0) continue;
    problems.error(
      "several-validators",
      root.offset,
      `Invalid configuration: sources[${index}] uses ${someOf(own)}, and the top level uses ${someOf(top)}`,
      "Validate at the top level or in the sources, not at both",
    );
  }
}

const MAX_CONFIG_BYTES = 1024 * 1024;

interface ReadConfig {
  readonly config: Config;
  /** Absolute path of the file; relative paths in the configuration start from its folder. */
  readonly path: string;
  readonly warnings: readonly Diagnostic[];
  /** Where the configuration names this file to write; undefined if it does not. */
  readonly locate: (file: string) => FileLocation | undefined;
}

/** A file as it was named, and how to read it. */
interface ReadableFile {
  readonly path: string;
  /** Rejects with a `HostError`. */
  read(): Promise<Uint8Array>;
}

/** Reads and checks a configuration file. Rejects with a `CompilerError` that holds every problem. */
export async function loadConfigFile(
  from: ReadableFile,
  host: Pick<Host, "path" | "cwd">,
  context: ValidationContext,
  /** Called with the plugin modules before validation; returns what they add to the context. */
  onPlugins?: (files: readonly string[], path: string) => Promise<Partial<ValidationContext>>,
): Promise<ReadConfig> {
  const { path } = from;
  const absolute = host.path.resolve(host.cwd, path);
  const text = await readConfig(from);
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
  const read = (): Promise<Uint8Array> => host.readFile(host.path.resolve(host.cwd, path));
  const text = await readConfig({ path, read });
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

async function readConfig(file: ReadableFile): Promise<string> {
  const shown = printable(file.path);
  let bytes: Uint8Array;
  try {
    bytes = await file.read();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const isMissing = error.code === "ENOENT" || error.code === "ENOTDIR";
    const diagnostic = isMissing
      ? errorOf(
          "config-not-found",
          `Configuration file not found: ${shown}`,
          missingHint(file.path),
        )
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

/** Where the usual hint, about the working directory, does not fit. */
function missingHint(path: string): { readonly hint?: string } {
  if (/^https?:\/\//i.test(path))
    return { hint: `A list needs no -c: rules-compiler ${printable(path, 200)} -o FILE` };
  if (!/^(?:[/\\]|[a-z]:[/\\])/i.test(path)) return {};
  return {
    hint: "Name another one with -c or CONFIG_PATH, or create one with rules-compiler init",
  };
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
