import type { HookPhase } from "../after/after-build.ts";
import type { BuildOutcome } from "../builder/build.ts";
import { Exit } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/render.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./flags/options.ts";
import { exitOf } from "./interruption.ts";
import type { Reporter } from "./output/reporter.ts";

export interface HooksSetting {
  readonly options: Options;
  readonly host: Host;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** Runs the hooks that are due after a build. Without `--permit hooks`, notes that there are some, if a list was compiled or published. */
export async function hooksAfter(outcome: BuildOutcome, setting: HooksSetting): Promise<void> {
  if (setting.options.permit.includes("hooks")) {
    await runHooks(outcome, "published", setting);
    await runHooks(outcome, "state", setting);
    return;
  }
  const isNews = outcome.lists.some(({ isCached, status }) => !isCached && status !== "held");
  // A build that changed nothing ends without reading the configuration.
  if (isNews) await runHooks(outcome, "published", setting);
}

/** Runs the hooks of one phase. Those of `reloadAgain` reload, although the list is the same. */
export async function runHooks(
  outcome: BuildOutcome,
  phase: HookPhase,
  { options, host, reporter, signal }: HooksSetting,
  reloadAgain?: ReadonlySet<string>,
): Promise<void> {
  const { afterBuild } = await import("../after/after-build.ts");
  const report = (diagnostic: Diagnostic): void => reporter.diagnostic(diagnostic);
  const again = reloadAgain && { reloadAgain };
  const isAllowed = options.permit.includes("hooks");
  await afterBuild(outcome, { options, isAllowed, host, signal, report, phase, ...again });
}

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
