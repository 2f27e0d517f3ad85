import type { Diagnostic, FileLocation } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { nearest } from "../diagnostics/suggest.ts";
import type { ConfigNode } from "./config-node.ts";
import { ConfigProblems } from "./config-problems.ts";
import { durationMs } from "./duration.ts";
import type { Config, FileConfig, SourceConfig } from "./config.ts";
import { columnOf, matchesOf } from "./feed-values.ts";
import { type Field, LIST_FIELDS, SOURCE_FIELDS, SOURCE_TYPES, TRUST_LEVELS } from "./fields.ts";
import { GUARD_FIELDS } from "./guard-fields.ts";
import { fieldProblems, problemNode } from "./field-problems.ts";
import { fileProblems } from "./files.ts";
import { reportHomepages } from "./homepages.ts";
import { reportIncomplete } from "./incomplete-sources.ts";
import { listsOf, minSourcesProblems } from "./lists.ts";
import { OUTPUT_FORMATS } from "./output-fields.ts";
import { WITHOUT_QUOTES, isQuoted, textHint } from "./quote-hints.ts";
import { blockedSourceProblems } from "./source-problems.ts";
import { sizeBytes } from "./size.ts";
import { reportTwoValidators } from "./two-validators.ts";

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

export interface Validated {
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
      case "trust":
        return this.choice(node, path, TRUST_LEVELS);
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
      case "choice":
        return this.choice(node, path, field.values!);
      case "choices":
        return this.choices(node, path, field.values!);
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
