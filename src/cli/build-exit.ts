import type { BuildOutcome } from "../build/build-outcome.ts";
import { Exit } from "../diagnostics/exit.ts";
import { exitOf } from "./interruption.ts";

/** The exit code of a build: that of a signal, else that of the first list that was not published, else of the first degraded list. */
export function buildExit(
  { lists }: BuildOutcome,
  { strict }: { readonly strict: boolean },
  signal: AbortSignal,
): Exit {
  // Also if it came after the lists were published: hooks may be missing.
  if (signal.aborted) return exitOf(signal);
  const exits = lists.map(({ exit, isIncomplete }) =>
    exit === Exit.Degraded && !strict && isIncomplete !== true ? Exit.Done : exit,
  );
  return (
    exits.find((exit) => exit !== Exit.Done && exit !== Exit.Degraded) ??
    exits.find((exit) => exit !== Exit.Done) ??
    Exit.Done
  );
}
