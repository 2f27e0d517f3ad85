import type { CompileReport, SourceReport } from "../../build/build-outcome.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { numberText } from "../../diagnostics/number-text.ts";
import { isDegraded } from "../../build/build-outcome.ts";
import { renderTable } from "./table.ts";

export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return unit === 0 ? `${bytes} B` : `${value.toFixed(1)} ${units[unit]}`;
}

const LONGEST_NAME = 32;
/** Maximum number of reasons per source, unless all are requested. */
const MOST_REASONS = 3;

/** Fates of lines that would have done harm: the maintainer of a source made a mistake, or attacks its users. */
export const ALARMS: ReadonlySet<string> = new Set([
  "public-suffix",
  "too-wide",
  "protected",
  "real-address",
  "rewrites",
  "cancels",
  "control-bytes",
  "over-budget",
  "newly-blocks",
  "household",
]);

/** One row per source: lines read, kept, and dropped with reasons; then the total. */
export function summaryTable(
  report: CompileReport,
  columns: number,
  style: Style,
  hasAllReasons = false,
): string {
  const { lines, kept, sources } = report;
  const total = { label: "total", lines, kept, dropped: totalDropped(sources) };
  const most = hasAllReasons ? Infinity : MOST_REASONS;
  const rows = [...sources, total].map((source) => [
    printable(source.label),
    ...[source.lines, source.kept, source.lines - source.kept].map(numberText),
    [...("state" in source ? stateText(source) : []), ...reasons(source.dropped, most)],
  ]);
  const table = renderTable([["source", "lines", "kept", "dropped", "why"], ...rows], {
    align: "lrrrl",
    columns,
    longestName: LONGEST_NAME,
  });
  return table
    .map((text, index) => {
      if (index === 0) return style.faint(text);
      return index === table.length - 1 ? style.strong(text) : text;
    })
    .join("\n");
}

/** Marks a degraded source: its numbers are those of a cached copy. */
function stateText({ state, goodAt = "" }: SourceReport): string[] {
  if (state === "dropped") return ["skipped"];
  return isDegraded(state) ? [`${state}: copy from ${goodAt.slice(0, 10)}`] : [];
}

function totalDropped(sources: readonly SourceReport[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const { dropped } of sources)
    for (const [name, count] of Object.entries(dropped)) total[name] = (total[name] ?? 0) + count;
  return total;
}

/** Reasons, most frequent first, after those that must be seen: they are never left out. */
function reasons(dropped: Readonly<Record<string, number>>, most: number): string[] {
  const all = Object.entries(dropped).toSorted(([, a], [, b]) => b - a);
  const [alarms, others] = [true, false].map((isAlarm) =>
    all
      .filter(([name]) => ALARMS.has(name) === isAlarm)
      .map(([name, count]) => `${name} ${numberText(count)}`),
  ) as [string[], string[]];
  const room = Math.max(0, most - alarms.length);
  const rest = others.length - room;
  return [...alarms, ...others.slice(0, room), ...(rest > 0 ? [`${rest} more`] : [])];
}
