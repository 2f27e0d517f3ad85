import type { BuildOutcome } from "../build/build-outcome.ts";
import { Exit } from "../diagnostics/exit.ts";
import type { TargetOutcome } from "../targets/publish-targets.ts";
import { exitOf } from "./interruption.ts";

/** The exit code of a build: that of a signal, else that of the first list that was not published, else of a failed target, else of the first degraded list. */
export function buildExit(
  { lists }: BuildOutcome,
  { strict }: { readonly strict: boolean },
  signal: AbortSignal,
  targets: readonly TargetOutcome[] = [],
): Exit {
  // Also if it came after the lists were published: targets and hooks may be missing.
  if (signal.aborted) return exitOf(signal);
  const exits = lists.map(({ exit }) => (exit === Exit.Degraded && !strict ? Exit.Done : exit));
  return (
    exits.find((exit) => exit !== Exit.Done && exit !== Exit.Degraded) ??
    (targets.some(({ outcome }) => outcome === "failed") ? Exit.Target : undefined) ??
    exits.find((exit) => exit !== Exit.Done) ??
    Exit.Done
  );
}
