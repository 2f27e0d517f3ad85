import type { Code } from "../diagnostics/codes.ts";
import {
  type Diagnostic,
  type FileLocation,
  errorOf,
  warningOf,
} from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { nearest } from "../diagnostics/suggest.ts";
import type { ConfigEntry, ConfigNode } from "./config-node.ts";
import type { Field } from "./field.ts";

const MAX_PROBLEMS = 50;

/** The problems of a configuration. There is a limit: locating each takes time, and users do not fix a thousand at once. */
export class ConfigProblems {
  readonly diagnostics: Diagnostic[] = [];
  /** Also set by errors beyond the limit. */
  hasErrors = false;
  private reported = 0;
  private unknownKeys = 0;
  private readonly locate: ((offset: number) => FileLocation) | undefined;

  constructor(locate: ((offset: number) => FileLocation) | undefined) {
    this.locate = locate;
  }

  /** Reports unknown keys and missing ones; an unknown key that is meant to be a missing one is reported once. */
  keys(
    node: ConfigNode & { kind: "object" },
    fields: Readonly<Record<string, Field>>,
    path: string,
  ): void {
    const known = Object.keys(fields);
    const given = new Set(node.entries.map(({ key }) => key));
    const missing = new Set(known.filter((key) => fields[key]!.required && !given.has(key)));
    for (const entry of node.entries) {
      if (Object.hasOwn(fields, entry.key)) continue;
      if (++this.unknownKeys > MAX_PROBLEMS) break;
      const meant = nearest(entry.key, known);
      if (meant !== undefined && missing.delete(meant))
        this.missing(meant, path, {
          offset: entry.keyOffset,
          hint: `Rename "${printable(entry.key, 60)}" to "${meant}"`,
        });
      else this.unknownKey(entry, path, meant);
    }
    for (const key of missing)
      this.missing(key, path, { offset: node.offset, hint: `Add "${key}"` });
  }

  private unknownKey(entry: ConfigEntry, path: string, meant: string | undefined): void {
    const hint = meant === undefined ? "It is ignored; remove it" : `Did you mean "${meant}"?`;
    const message = `Unknown key: ${path}${printable(entry.key, 60)}`;
    this.diagnostics.push(warningOf("unknown-key", message, { hint, ...this.at(entry.keyOffset) }));
  }

  private missing(key: string, path: string, at: { offset: number; hint: string }): void {
    const subject = path === "" ? key : `${key} of ${path.replace(/\.$/, "")}`;
    this.error("config-required", at.offset, `${subject} is required`, at.hint);
  }

  invalid(offset: number, what: string, hint?: string): void {
    this.error("config-invalid", offset, `Invalid configuration: ${what}`, hint);
  }

  error(code: Code, offset: number, message: string, hint?: string): void {
    this.hasErrors = true;
    this.report(() =>
      errorOf(code, message, { ...(hint === undefined ? {} : { hint }), ...this.at(offset) }),
    );
  }

  /** Reports an entry of the form `/…/` that is not a regular expression. */
  checkRegex(entry: string, offset: number): void {
    const cause = regexProblem(entry);
    if (cause === undefined) return;
    const message = `Invalid configuration: ${printable(entry)} is not a regular expression`;
    this.hasErrors = true;
    this.report(() => errorOf("bad-regex-entry", message, { cause, ...this.at(offset) }));
  }

  report(make: () => Diagnostic): void {
    if (this.reported < MAX_PROBLEMS) this.diagnostics.push(make());
    this.reported++;
  }

  at(offset: number): { at?: FileLocation } {
    return this.locate === undefined ? {} : { at: this.locate(offset) };
  }
}

/** The engine's message about an invalid entry of the form `/…/`. */
function regexProblem(entry: string): string | undefined {
  if (entry.length <= 2 || !entry.startsWith("/") || !entry.endsWith("/")) return undefined;
  try {
    return new RegExp(entry.slice(1, -1), "im") instanceof RegExp ? undefined : "";
  } catch (error) {
    return printable(error instanceof Error ? error.message : String(error));
  }
}
