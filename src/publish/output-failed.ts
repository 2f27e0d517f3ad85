import { CompilerError, errorOf } from "../diagnostics/diagnostic.ts";
import { reasonOf } from "../diagnostics/reason.ts";
import { HostError } from "../host/host.ts";

/** What the outside world refused while something was written, as a problem for people; any other error as it is. */
export function outputFailed(message: string, error: unknown): unknown {
  if (!(error instanceof HostError)) return error;
  const cause = reasonOf(error.code, error.message);
  return new CompilerError([errorOf("output-failed", message, { cause })]);
}
