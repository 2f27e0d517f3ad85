import type { BuildOutcome } from "../build/build-outcome.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import type { TargetOutcome } from "../targets/publish-targets.ts";
import type { HooksSetting } from "./hooks-after.ts";
import { bytesText } from "./output/summary.ts";

/** Copies what was published to the targets of the configuration and shows the outcome. Without `--publish`, notes that there are some, if a list was compiled or published. */
export async function targetsAfter(
  outcome: BuildOutcome,
  { options, host, reporter, signal }: HooksSetting,
): Promise<readonly TargetOutcome[]> {
  const isNews = outcome.lists.some(({ isCached, status }) => !isCached && status !== "held");
  // A build that changed nothing ends without reading the configuration.
  if (!options.publish && !isNews) return [];
  const { publishTargets } = await import("../targets/publish-targets.ts");
  const report = (diagnostic: Diagnostic): void => reporter.diagnostic(diagnostic);
  const isAllowed = options.publish;
  const outcomes = await publishTargets(outcome, { options, isAllowed, host, signal, report });
  const { style } = reporter;
  for (const one of outcomes)
    if (one.outcome !== "failed")
      reporter.info(`${style.good(one.outcome)} ${style.strong(one.to)}: ${textOf(one)}`);
  return outcomes;
}

function textOf({
  outcome,
  files = 0,
  sent,
  removed = 0,
  bytes = 0,
  seconds,
}: TargetOutcome): string {
  const all = countText(files, "file");
  if (outcome === "unchanged") return all;
  const what = sent === undefined ? all : `${all}, ${sent} of them sent`;
  const gone = removed === 0 ? "" : `, ${removed} removed`;
  return `${what}${gone}, ${bytesText(bytes)}, ${seconds.toFixed(1)} s`;
}
