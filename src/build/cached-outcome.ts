import { Exit } from "../diagnostics/exit.ts";
import { type CompileReport, isFlawless } from "../engine/report.ts";
import type { ListOutcome } from "./build-outcome.ts";
import { type FoundHold, heldWarning } from "./state/hold.ts";
import type { CachedBuild } from "./state/build-cache.ts";

/** The result of the cached build, as the outcome of this one. */
export function cachedOutcome(
  cached: CachedBuild & Pick<ListOutcome, "diagnostics">,
  list: string,
  seconds: number,
): ListOutcome {
  const { report, diagnostics, written, names } = cached;
  return {
    list,
    status: "unchanged",
    exit: exitOf(report),
    report,
    diagnostics,
    outputs: written.map((one) => ({ ...one, outcome: "unchanged" as const })),
    files: names,
    seconds,
    isCached: true,
    inputs: [],
  };
}

/** The outcome of a list that stays at an earlier build. */
export function heldOutcome(
  hold: FoundHold,
  held: { readonly list: string; readonly end: string },
  seconds: number,
): ListOutcome {
  const isKnown = hold !== "damaged";
  const written = isKnown ? hold.written : [];
  return {
    list: held.list,
    status: "held",
    exit: Exit.Done,
    ...(isKnown && { report: hold.report }),
    diagnostics: [heldWarning(held, hold)],
    outputs: written.map((one) => ({ ...one, outcome: "unchanged" as const })),
    files: isKnown ? hold.files : [],
    seconds,
    isCached: false,
    inputs: [],
  };
}

/** `Degraded` lets strict callers fail if a list was built without a source or from an old copy. */
export function exitOf(report: CompileReport): Exit {
  return isFlawless(report) ? Exit.Done : Exit.Degraded;
}
