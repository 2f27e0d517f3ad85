import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { HostError } from "../host/host.ts";

/** Turns the `HostError` of a failed write into a `CompilerError`; returns any other error unchanged. */
export function outputFailed(message: string, error: unknown): unknown {
  if (!(error instanceof HostError)) return error;
  const cause = reasonOf(error.code, error.message);
  return new CompilerError([errorOf("output-failed", message, { cause })]);
}
