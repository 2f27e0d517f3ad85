import type { Code } from "../diagnostics/codes.ts";
import {
  type Diagnostic,
  type FileLocation,
  errorOf,
  warningOf,
} from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { nearest } from "../diagnostics/suggest.ts";
import type { ConfigEntry } from "./config-node.ts";

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

  unknownKey(entry: ConfigEntry, known: readonly string[], path: string): void {
    if (++this.unknownKeys > MAX_PROBLEMS) return;
    const meant = nearest(entry.key, known);
    const hint = meant === undefined ? "It is ignored; remove it" : `Did you mean "${meant}"?`;
    const message = `Unknown key: ${path}${printable(entry.key, 60)}`;
    this.diagnostics.push(warningOf("unknown-key", message, { hint, ...this.at(entry.keyOffset) }));
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
