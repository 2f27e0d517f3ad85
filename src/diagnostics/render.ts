import { type Code, Exit, codeEntry } from "./codes.ts";
import { MOST_NAMED, printable } from "./text.ts";

export interface Style {
  error(text: string): string;
  warning(text: string): string;
  note(text: string): string;
  strong(text: string): string;
  faint(text: string): string;
  good(text: string): string;
  /** A text that leads somewhere, where the terminal can do that. */
  link(text: string, address: string | undefined): string;
}

const PLAIN = (text: string): string => text;
export const NO_STYLE: Style = {
  error: PLAIN,
  warning: PLAIN,
  note: PLAIN,
  strong: PLAIN,
  faint: PLAIN,
  good: PLAIN,
  link: PLAIN,
};

const ansi =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;
export const ANSI_STYLE: Style = {
  error: ansi(31, 39),
  warning: ansi(33, 39),
  note: ansi(36, 39),
  strong: ansi(1, 22),
  faint: ansi(2, 22),
  good: ansi(32, 39),
  link: PLAIN,
};

/** OSC 8. The address is a URL of our own making: nothing in it can end the sequence. */
function terminalLink(text: string, address: string | undefined): string {
  if (address === undefined) return text;
  return `\u001b]8;;${new URL(address).href}\u001b\\${text}\u001b]8;;\u001b\\`;
}

export function withLinks(style: Style): Style {
  return { ...style, link: terminalLink };
}

/**
 * A problem as a person reads it: what, where with the line itself, why, what to do.
 *
 *   error[unknown-transformation]: Unknown transformation: compress
 *     --> compiler-config.json:8:23
 *      |
 *    8 |   "transformations": ["compress"]
 *      |                       ^
 *     = hint: Names are case-sensitive; did you mean "Compress"?
 *
 * Verbose ones have all names that the message has only some of.
 */
export function renderDiagnostic(
  diagnostic: Diagnostic,
  style: Style = NO_STYLE,
  isVerbose = false,
): string {
  const { severity, code, message, at, cause, hint } = diagnostic;
  const paint = style[severity];
  const lines = [
    `${paint(style.strong(`${severity}[${code}]`))}: ${style.strong(message.replaceAll("\n", " "))}`,
  ];
  if (at !== undefined) {
    lines.push(`  ${style.faint("-->")} ${locationText({ ...at, file: printable(at.file) })}`);
    if (at.frame !== undefined && at.line !== undefined)
      lines.push(...frame(at.line, at.column, at.frame, style));
  }
  if (cause !== undefined) lines.push(`  ${style.faint("=")} because: ${cause}`);
  const { all = [] } = diagnostic;
  if (isVerbose && all.length > MOST_NAMED)
    lines.push(`  ${style.faint("=")} all: [${all.map((name) => printable(name)).join(", ")}]`);
  if (hint !== undefined) lines.push(`  ${style.faint("=")} ${style.note("hint")}: ${hint}`);
  return `${lines.join("\n")}\n`;
}

/** Characters of a line that a frame shows: with what stands before them they fit a screen of 80 columns. */
const FRAME_WIDTH = 68;

/** The part of a line around a column, and the column in it. */
function windowOf(text: string, column: number): { readonly shown: string; readonly at: number } {
  if (text.length <= FRAME_WIDTH) return { shown: text, at: column };
  const middle = Math.max(0, column - Math.floor(FRAME_WIDTH / 2));
  const start = Math.min(middle, text.length - FRAME_WIDTH);
  const end = start + FRAME_WIDTH;
  const before = start > 0 ? "…" : "";
  const after = end < text.length ? "…" : "";
  const part = text.slice(start + before.length, end - after.length);
  return { shown: `${before}${part}${after}`, at: column - start };
}

function frame(line: number, column: number | undefined, text: string, style: Style): string[] {
  const number = String(line);
  const gutter = " ".repeat(number.length);
  const bar = style.faint("|");
  const { shown: part, at } = windowOf(text.replaceAll("\t", " "), column ?? 1);
  const shown = `  ${style.faint(number)} ${bar} ${printable(part, 160)}`;
  if (column === undefined) return [shown];
  return [
    `  ${gutter} ${bar}`,
    shown,
    `  ${gutter} ${bar} ${" ".repeat(at - 1)}${style.error("^")}`,
  ];
}

/** In their order, with errors last: that is where people look. */
export function errorsLast(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const isError = ({ severity }: Diagnostic): boolean => severity === "error";
  return [...diagnostics.filter((one) => !isError(one)), ...diagnostics.filter(isError)];
}

/** The same as one line of JSON. */
export function diagnosticJson(diagnostic: Diagnostic): string {
  return `${JSON.stringify(diagnostic)}\n`;
}

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
