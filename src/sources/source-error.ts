import type { Code } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, errorOf } from "../diagnostics/diagnostic.ts";
import { printable, withoutCredentials } from "../diagnostics/printable.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import type { HostError } from "../host/host.ts";

/** The error for an unavailable or invalid list; `cause` may be untrusted text. */
export function sourceError(
  code: Code,
  message: string,
  cause?: string,
  at?: Diagnostic["at"],
): CompilerError {
  return new CompilerError([
    errorOf(code, message, {
      ...(cause === undefined ? {} : { cause: printable(cause) }),
      ...(at === undefined ? {} : { at }),
    }),
  ]);
}

/** The error for a list that may not be fetched. */
export function offlineError(label: string): CompilerError {
  return new CompilerError([
    errorOf("fetch-failed", `Failed to fetch ${label}`, {
      cause: "--offline is set",
      hint: "Run once without --offline",
    }),
  ]);
}

/** The error for a file without a valid signature. */
export function notSigned(label: string, cause: string): CompilerError {
  return sourceError("source-not-signed", `Failed to fetch ${label}`, cause);
}

/** `isSecret` hides the path too. */
export function shownAddress(url: string, isSecret = false): string {
  return printable(withoutCredentials(url, isSecret));
}

export function fileError(path: string, error: HostError): CompilerError {
  const shown = printable(path);
  if (error.code === "ENOENT" || error.code === "ENOTDIR")
    return sourceError("source-not-found", `File not found: ${shown}`);
  return sourceError(
    "source-unreadable",
    `Cannot read ${shown}`,
    reasonOf(error.code, error.message),
  );
}

function days(ms: number): string {
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

/** A copy of this age, in milliseconds, is not used. */
export function copyTooOld(
  { label, maxStaleMs }: { readonly label: string; readonly maxStaleMs: number },
  age: number,
): Diagnostic {
  const reason = `it is ${days(age)} old; the limit is ${days(maxStaleMs)}`;
  return errorOf("copy-too-old", `The last good copy of ${label} cannot be used`, {
    cause: reason,
  });
}

/** A source failed, and its last good copy was used until the given moment. */
export class EndedError extends CompilerError {
  readonly until: number;

  constructor(diagnostics: readonly Diagnostic[], until: number) {
    super(diagnostics);
    this.until = until;
  }
}
