import type { BuildOutcome } from "../build/build-outcome.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import type { Options } from "./flags/options.ts";
import type { Reporter } from "./output/reporter.ts";

export interface HooksSetting {
  readonly options: Options;
  readonly host: Host;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** Runs the hooks that are due after a build. Without `--hooks`, notes that there are some, if a list was compiled or published. */
export async function hooksAfter(outcome: BuildOutcome, setting: HooksSetting): Promise<void> {
  const { options, host, reporter, signal } = setting;
  const isNews = outcome.lists.some(({ isCached, status }) => !isCached && status !== "held");
  // Without hooks, a build that changed nothing ends without reading the configuration.
  if (!options.hooks && !isNews) return;
  const { afterBuild } = await import("../hooks/after-build.ts");
  const report = (diagnostic: Diagnostic): void => reporter.diagnostic(diagnostic);
  await afterBuild(outcome, { options, isAllowed: options.hooks, host, signal, report });
}
