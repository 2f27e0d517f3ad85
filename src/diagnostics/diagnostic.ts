import { type Code, codeEntry } from "./codes.ts";
import { Exit } from "./exit.ts";

/** Where something is, as an editor would open it. Lines and columns count from 1. */
export interface FileLocation {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** The text of that line, for a code frame. */
  readonly frame?: string;
}

/** `file:line:column`, as far as it is known. */
export function locationText({ file, line, column }: FileLocation): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}

/** A problem: what happened, where, and what to do. */
export interface Diagnostic {
  /** Stable across versions; the reference explains each. */
  readonly code: Code;
  readonly severity: "error" | "warning" | "note";
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
  readonly at?: FileLocation;
  /** The message of the system, the server or the parser. */
  readonly cause?: string;
  /** All names of the message, which may show some of them. */
  readonly all?: readonly string[];
  /** What it is about, such as a source. With the code, it tells whether two runs found the same condition. The message by default. */
  readonly subject?: string;
  /** When the condition ends by itself. */
  readonly until?: string;
  /** False if an earlier run reported the condition, and it lasts. */
  readonly news?: boolean;
  /** Whether it reports the end of a condition. */
  readonly isOver?: true;
}

/** Problems that the caller has to fix. Bugs of the program are plain errors instead. */
export class CompilerError extends Error {
  /** The errors, and the warnings before them. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    super(errors.map(({ message }) => message).join("\n"));
    this.name = "CompilerError";
    this.diagnostics = diagnostics;
  }

  /** The exit code of its first error. */
  get exit(): Exit {
    const first = this.diagnostics.find(({ severity }) => severity === "error");
    return first === undefined ? Exit.Bug : (codeEntry(first.code).exit ?? Exit.Bug);
  }
}

export function errorOf(code: Code, message: string, more: Partial<Diagnostic> = {}): Diagnostic {
  return { code, severity: "error", message, hint: codeEntry(code).hint, ...more };
}

export function warningOf(code: Code, message: string, more: Partial<Diagnostic> = {}): Diagnostic {
  return { code, severity: "warning", message, ...more };
}
