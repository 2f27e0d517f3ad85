import type { ProjectOptions } from "../build/build-options.ts";
import type { BuildOutcome } from "../build/build-outcome.ts";
import { openProject } from "../build/project.ts";
import { codeEntry } from "../diagnostics/codes.ts";
import { CompilerError, type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText } from "../diagnostics/number-text.ts";
import type { Host } from "../host/host.ts";
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
  if (
    isAllowed &&
    outcome.status !== "interrupted" &&
    outcomes.length === 0 &&
    !(await mayHaveTargets(options, host))
  ) {
    const message = "--publish has nothing to do: the configuration has no targets";
    report(warningOf("no-targets", message, { hint: codeEntry("no-targets").hint }));
  }
  const { style } = reporter;
  for (const one of outcomes)
    if (one.outcome !== "failed")
      reporter.info(`${style.good(one.outcome)} ${style.strong(one.to)}: ${textOf(one)}`);
  return outcomes;
}

/** Also true if the configuration cannot be read now. */
async function mayHaveTargets(options: ProjectOptions, host: Host): Promise<boolean> {
  if (options.inputs.length > 0) return false;
  try {
    const { project } = await openProject({ ...options, filter: [] }, host);
    return (project.config.publish ?? []).length > 0;
  } catch (error) {
    if (error instanceof CompilerError) return true;
    throw error;
  }
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
