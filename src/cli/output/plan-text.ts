import type { CompileReport } from "../../build/build-outcome.ts";
import type { RankedNames } from "../../build/name-ranks.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { NO_STYLE, type Style, renderDiagnostic } from "../../diagnostics/render.ts";
import { type ListChange, isSame } from "../../explain/list-change.ts";
import { type SourceState, isDegraded } from "../../build/build-outcome.ts";
import type { TrafficChange } from "../../explain/traffic-change.ts";
import { type FoundHold, holdText } from "../../build/state/hold.ts";
import { changeLines } from "./change-text.ts";
import { countText } from "../../diagnostics/number-text.ts";
import { trafficChangeLines } from "./traffic-text.ts";

export interface PlanView {
  readonly file: string;
  readonly report: CompileReport;
  readonly change: ListChange;
  readonly refused: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  readonly isVerbose?: boolean;
  /** What changes for the queries of a log. */
  readonly traffic?: TrafficChange | undefined;
  readonly ranks?: RankedNames | undefined;
  readonly hold?: FoundHold | undefined;
}

/** Warnings that matter for the decision to publish. */
const SHOWN_WARNINGS: ReadonlySet<string> = new Set([
  "source-stale",
  "source-held",
  "source-dropped",
  "protected-names",
  "protected-blocked",
  "household-names",
  "suffix-blocked",
  "new-exceptions",
  "popular-blocked",
  "popular-kept",
  "breaks-traffic",
]);

/** A plan as text, in the order of a reviewer's questions: the target, the sources, the changes, and the guards. */
export function planText(view: PlanView, style: Style): string {
  const { file, report, change, refused, warnings } = view;
  const lines = [
    `${style.strong(printable(report.name))} → ${printable(file)}`,
    `  ${sourcesText(report, style)}`,
    ...changeLines(change, style, view.ranks),
    ...(view.traffic === undefined ? [] : trafficChangeLines(view.traffic, style, view.isVerbose)),
  ];
  const shown = warnings.filter(({ code }) => SHOWN_WARNINGS.has(code));
  const said = [...shown, ...refused]
    .map((one) => renderDiagnostic(one, style, view.isVerbose))
    .join("");
  return `${lines.join("\n")}\n${said}${closing(view, style)}\n`;
}

function closing({ refused, change, report, hold }: PlanView, style: Style): string {
  if (hold !== undefined)
    return `${style.warning(holdText(report.name, hold))}; nothing would be published`;
  const codes = [...new Set(refused.map(({ code }) => code))];
  if (codes.length > 0)
    return `${style.error("would be refused")}; to publish once anyway: ${codes.map((code) => `--accept ${code}`).join(" ")}`;
  if (isSame(change)) return style.good("nothing to publish");
  return `${style.good("would be published")}${report.degraded ? ", degraded" : ""}`;
}

function sourcesText({ sources }: CompileReport, style: Style): string {
  const counts = new Map<SourceState["kind"], number>();
  for (const { state } of sources) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) =>
    isDegraded(state) ? style.warning(`${count} ${state}`) : `${count} ${state}`,
  );
  return `${countText(sources.length, "source")}: ${states.join(", ")}`;
}

/** The plan for a pull request. */
export function planMarkdown(view: PlanView): string {
  const text = planText(view, NO_STYLE);
  // A fence that is longer than any in the text cannot be closed by it.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const verdict = verdictOf(view);
  return `### Plan: ${verdict}\n\n${fence}text\n${text}${fence}\n`;
}

function verdictOf({ hold, refused, change }: PlanView): string {
  if (hold !== undefined) return "held";
  if (refused.length > 0) return "would be refused";
  return isSame(change) ? "no change" : "changes";
}
