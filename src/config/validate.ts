import type { Code } from "../diagnostics/codes.ts";
import { type Diagnostic, type Place, errorOf, warningOf } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { nearest } from "../diagnostics/suggest.ts";
import type { ConfigEntry, ConfigNode } from "./config-node.ts";
import { durationMs } from "./duration.ts";
import {
  type Config,
  type Field,
  GUARD_FIELDS,
  LIST_FIELDS,
  SOURCE_FIELDS,
  type SourceConfig,
  TRUST_LEVELS,
} from "./fields.ts";
import { incompleteSources } from "./incomplete-sources.ts";
import { listProblems, listsOf } from "./lists.ts";
import { FORMAT_NAMES } from "./output-fields.ts";
import { sizeBytes } from "./size.ts";

/** What validation needs to know of the world around the configuration. */
export interface ValidationContext {
  /** Names of transformations; those of validators among them. */
  readonly transformations: readonly string[];
  readonly validators: ReadonlySet<string>;
  /** Formats that outputs can be in, besides the built-in ones. */
  readonly formats?: readonly string[];
  /** Turns an offset into a place; absent for a configuration that is no file. */
  readonly place?: (offset: number) => Place;
}

export interface Validated {
  /** Absent when there are errors. */
  readonly config?: Config;
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks everything and reports every problem, not only the first. */
export function validateConfig(root: ConfigNode, context: ValidationContext): Validated {
  const check = new ConfigCheck(context);
  const config = check.list(root);
  return check.hasErrors || config === undefined
    ? { diagnostics: check.diagnostics }
    : { config, diagnostics: check.diagnostics };
}

const MAX_PROBLEMS = 50;

class ConfigCheck {
  readonly diagnostics: Diagnostic[] = [];
  /** Counted apart: the list of problems ends at its limit. */
  hasErrors = false;
  private reported = 0;
  private unknownKeys = 0;
  private readonly context: ValidationContext;

  constructor(context: ValidationContext) {
    this.context = context;
  }

  list(root: ConfigNode): Config | undefined {
    if (root.kind !== "object") {
      this.invalid(root.offset, "the configuration must be an object with `name` and `sources`");
      return undefined;
    }
    const config = this.object(root, LIST_FIELDS, "") as Config;
    if (config.lists === undefined || this.hasErrors) {
      this.validatorsOnBothLevels(root, config);
      return config;
    }
    const at = root.entries.find(({ key }) => key === "lists")!.node.offset;
    for (const { message, hint } of listProblems(config)) this.invalid(at, message, hint);
    if (!this.hasErrors)
      for (const own of listsOf(config)) this.validatorsOnBothLevels(root, own.config);
    return config;
  }

  private object(
    node: ConfigNode & { kind: "object" },
    fields: Readonly<Record<string, Field>>,
    path: string,
  ): object {
    const result: Record<string, unknown> = Object.create(null);
    for (const entry of node.entries) {
      const field = Object.hasOwn(fields, entry.key) ? fields[entry.key] : undefined;
      if (field === undefined) this.unknownKey(entry, Object.keys(fields), path);
      else result[entry.key] = this.value(entry.node, field, path + entry.key);
    }
    for (const [key, field] of Object.entries(fields))
      if (field.required === true && !Object.hasOwn(result, key))
        this.missing(node.offset, key, path);
    return result;
  }

  private missing(offset: number, key: string, path: string): void {
    const subject = path === "" ? key : `${key} of ${path.replace(/\.$/, "")}`;
    this.error("config-required", offset, `${subject} is required`, `Add "${key}"`);
  }

  private unknownKey(entry: ConfigEntry, known: readonly string[], path: string): void {
    if (++this.unknownKeys > MAX_PROBLEMS) return;
    const meant = nearest(entry.key, known);
    const hint = meant === undefined ? "It is not read; remove it" : `Did you mean "${meant}"?`;
    const message = `Unknown key: ${path}${printable(entry.key, 60)}`;
    this.diagnostics.push(warningOf("unknown-key", message, { hint, ...this.at(entry.keyOffset) }));
  }

  private value(node: ConfigNode, field: Field, path: string): unknown {
    switch (field.type) {
      case "string":
        return this.string(node, path, field.required === true);
      case "source":
        return this.source(node, path);
      case "strings":
        return this.strings(node, path);
      case "entries":
        return this.entries(node, path);
      case "transformations":
        return this.transformations(node, path);
      case "source-type":
        return this.choice(node, path, FORMAT_NAMES);
      case "trust":
        return this.choice(node, path, TRUST_LEVELS);
      case "boolean":
        return this.boolean(node, path);
      case "duration":
        return this.duration(node, path);
      case "number":
        return this.number(node, path, field.most);
      case "guards":
        return this.guards(node, path);
      case "sources":
        return this.sources(node, path);
      case "size":
        return this.size(node, path);
      case "format":
        return this.choice(node, path, [...FORMAT_NAMES, ...(this.context.formats ?? [])]);
      case "choice":
        return this.choice(node, path, field.values!);
      case "choices":
        return this.choices(node, path, field.values!);
      case "object":
        return this.fieldsOf(node, path, field.fields!);
      case "objects":
        return this.objects(node, path, field.fields!);
    }
  }

  private string(node: ConfigNode, path: string, isRequired: boolean): string | undefined {
    if (node.kind === "scalar" && typeof node.value === "string") {
      if (node.value !== "" || !isRequired) return node.value;
      this.error("config-required", node.offset, `${path} is required`, `Give "${path}" a text`);
      return undefined;
    }
    const shown = node.kind === "scalar" ? `, not ${String(node.value)}` : "";
    this.invalid(node.offset, `${path} must be a text${shown}`, "Put it in quotes");
    return undefined;
  }

  private strings(node: ConfigNode, path: string): string[] {
    if (node.kind === "array")
      return node.items.map((item, index) => this.string(item, `${path}[${index}]`, false) ?? "");
    this.invalid(node.offset, `${path} must be a list of texts`, 'Write it as ["…"]');
    return [];
  }

  private transformations(node: ConfigNode, path: string): string[] {
    const names = this.strings(node, path);
    const known = this.context.transformations;
    for (const [index, name] of names.entries()) {
      if (known.includes(name) || node.kind !== "array") continue;
      const item = node.items[index]!;
      if (item.kind !== "scalar" || typeof item.value !== "string") continue;
      const meant = nearest(name, known);
      const hint =
        meant === undefined
          ? `Known names: ${known.join(", ")}`
          : `Names are case-sensitive; did you mean "${meant}"?`;
      this.error(
        "unknown-transformation",
        item.offset,
        `Unknown transformation: ${printable(name, 60)}`,
        hint,
      );
    }
    const validators = [...new Set(names.filter((name) => this.context.validators.has(name)))];
    if (validators.length > 1)
      this.error(
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
    this.invalid(node.offset, `${path} must be one of ${values.join(", ")}`, hint);
    return undefined;
  }

  private boolean(node: ConfigNode, path: string): boolean | undefined {
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    this.invalid(node.offset, `${path} must be true or false`, "Without quotes");
    return undefined;
  }

  /** Up to `most` it must be a whole one. */
  private number(node: ConfigNode, path: string, most?: number): number | undefined {
    const value = node.kind === "scalar" ? node.value : undefined;
    if (typeof value === "number" && value >= 0)
      if (most === undefined || (Number.isInteger(value) && value <= most)) return value;
    const kind = most === undefined ? "a number from 0 on" : `a whole number from 0 to ${most}`;
    this.invalid(node.offset, `${path} must be ${kind}`, "Without quotes");
    return undefined;
  }

  private guards(node: ConfigNode, path: string): object | undefined {
    if (node.kind === "object") return this.object(node, GUARD_FIELDS, `${path}.`);
    this.invalid(node.offset, `${path} must be an object`, 'Write { "max_shrink": 30 }');
    return undefined;
  }

  private fieldsOf(
    node: ConfigNode,
    path: string,
    fields: Readonly<Record<string, Field>>,
  ): object | undefined {
    if (node.kind === "object") return this.object(node, fields, `${path}.`);
    const [first] = Object.keys(fields);
    this.invalid(node.offset, `${path} must be an object`, `Write { "${first}": … }`);
    return undefined;
  }

  private objects(
    node: ConfigNode,
    path: string,
    fields: Readonly<Record<string, Field>>,
  ): object[] {
    if (node.kind !== "array") {
      const [first] = Object.keys(fields);
      this.invalid(node.offset, `${path} must be a list`, `Write [{ "${first}": … }]`);
      return [];
    }
    return node.items.flatMap(
      (item, index) => this.fieldsOf(item, `${path}[${index}]`, fields) ?? [],
    );
  }

  private choices(node: ConfigNode, path: string, values: readonly string[]): string[] {
    if (node.kind === "array")
      return node.items.flatMap(
        (item, index) => this.choice(item, `${path}[${index}]`, values) ?? [],
      );
    this.invalid(node.offset, `${path} must be a list of some of ${values.join(", ")}`);
    return [];
  }

  private size(node: ConfigNode, path: string): string | undefined {
    const text =
      node.kind === "scalar" && typeof node.value === "number" ? String(node.value) : undefined;
    const value = text ?? this.string(node, path, true);
    if (value === undefined || sizeBytes(value) !== undefined) return value;
    this.invalid(node.offset, `${path} must be a size`, 'Write "20M", "500k" or bytes');
    return undefined;
  }

  private duration(node: ConfigNode, path: string): string | undefined {
    const value = this.string(node, path, true);
    if (value === undefined || durationMs(value) !== undefined) return value;
    this.invalid(
      node.offset,
      `${path} must be a span of time`,
      'Write "90s", "30m", "12h" or "7d"',
    );
    return undefined;
  }

  private sources(node: ConfigNode, path: string): SourceConfig[] {
    if (node.kind !== "array") {
      this.invalid(node.offset, `${path} must be a list of sources`);
      return [];
    }
    if (node.items.length === 0)
      this.error(
        "config-required",
        node.offset,
        `${path} is required: the list is empty`,
        "Add at least one source",
      );
    const sources = node.items.map((item, index) => this.sourceObject(item, `${path}[${index}]`));
    this.incomplete(node.items, path);
    return sources;
  }

  /** One message for all of them: a configuration of the reference may have fifty. */
  private incomplete(items: readonly ConfigNode[], path: string): void {
    const found = incompleteSources(items, path);
    if (found === undefined) return;
    const { message, hint, offset } = found;
    const { at } = this.at(offset);
    // The place without the line, which has nothing to look at.
    const { frame: _, ...place } = at ?? { file: "" };
    const where = at === undefined ? {} : { at: place };
    this.report(() => warningOf("source-incomplete", message, { hint, ...where }));
  }

  private source(node: ConfigNode, path: string): string | undefined {
    const value = this.string(node, path, true);
    if (value !== undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(value) && !URL.canParse(value))
      this.invalid(node.offset, `${path} is not an address`, "Check its host and port");
    return value;
  }

  private entries(node: ConfigNode, path: string): string[] {
    const entries = this.strings(node, path);
    if (node.kind !== "array") return entries;
    for (const [index, entry] of entries.entries()) {
      const cause = regexProblem(entry);
      if (cause === undefined) continue;
      const message = `Invalid configuration: ${printable(entry)} is not a regular expression`;
      this.error("bad-regex-entry", node.items[index]!.offset, message, undefined, cause);
    }
    return entries;
  }

  private sourceObject(node: ConfigNode, path: string): SourceConfig {
    if (node.kind !== "object") {
      this.invalid(node.offset, `${path} must be an object`, 'Write { "source": "…" }');
      return { source: "" };
    }
    return this.object(node, SOURCE_FIELDS, `${path}.`) as SourceConfig;
  }

  /** One list must not be judged by two validators. */
  private validatorsOnBothLevels(root: ConfigNode, config: Config): void {
    const top = config.transformations?.filter((name) => this.context.validators.has(name)) ?? [];
    if (top.length === 0) return;
    for (const [index, source] of (config.sources ?? []).entries()) {
      const own = source.transformations?.filter((name) => this.context.validators.has(name)) ?? [];
      if (own.length === 0) continue;
      this.error(
        "several-validators",
        root.offset,
        `Invalid configuration: sources[${index}] uses ${own.join(", ")}, and the top level uses ${top.join(", ")}`,
        "Validate at the top level or in the sources, not at both",
      );
    }
  }

  private invalid(offset: number, what: string, hint?: string): void {
    this.error("config-invalid", offset, `Invalid configuration: ${what}`, hint);
  }

  private error(code: Code, offset: number, message: string, hint?: string, cause?: string): void {
    this.hasErrors = true;
    this.report(() =>
      errorOf(code, message, {
        ...(hint === undefined ? {} : { hint }),
        ...(cause === undefined ? {} : { cause }),
        ...this.at(offset),
      }),
    );
  }

  /** Nobody mends a thousand problems from one screen, and finding the place of each takes time. */
  private report(make: () => Diagnostic): void {
    if (this.reported < MAX_PROBLEMS) this.diagnostics.push(make());
    this.reported++;
  }

  private at(offset: number): { at?: Place } {
    return this.context.place === undefined ? {} : { at: this.context.place(offset) };
  }
}

/** What is wrong with an entry of the form `/…/`, in the engine's words. */
function regexProblem(entry: string): string | undefined {
  if (entry.length <= 2 || !entry.startsWith("/") || !entry.endsWith("/")) return undefined;
  try {
    return new RegExp(entry.slice(1, -1), "im") instanceof RegExp ? undefined : "";
  } catch (error) {
    return printable(error instanceof Error ? error.message : String(error));
  }
}
