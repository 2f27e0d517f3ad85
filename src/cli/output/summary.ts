import type { CompileReport, SourceReport } from "../../engine/report.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { numberText } from "../../diagnostics/number-text.ts";
import { isDegraded } from "../../sources/acquire.ts";
import { fitText, padText, textWidth, wrapParts } from "./text-width.ts";

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

/** Names are cut on a terminal, to this or to what leaves room for a reason. */
const LONGEST_NAME = 32;
const REASON_ROOM = 24;
/** Reasons shown for each source unless all are wanted. */
const MOST_REASONS = 3;

/** One row per source: lines read, kept, dropped and why; then the sum. Reasons go on below themselves where they must. */
export function summaryTable(
  report: CompileReport,
  columns: number,
  style: Style,
  hasAllReasons = false,
): string {
  const total = {
    label: "total",
    lines: report.lines,
    kept: report.kept,
    dropped: totalDropped(report.sources),
  };
  const most = hasAllReasons ? Infinity : MOST_REASONS;
  const rows = [...report.sources, total].map((source) => ({
    label: printable(source.label),
    figures: [source.lines, source.kept, source.lines - source.kept].map(numberText),
    why: [...("state" in source ? stateText(source) : []), ...reasons(source.dropped, most)],
  }));
  const head = { label: "source", figures: ["lines", "kept", "dropped"], why: ["why"] };
  const widths = [0, 1, 2].map((column) =>
    Math.max(...[head, ...rows].map(({ figures }) => figures[column]!.length)),
  );
  const figuresWidth = widths.reduce((sum, width) => sum + 2 + width, 0);
  const left = columns - figuresWidth - 4 - REASON_ROOM;
  const longest = columns === Infinity ? Infinity : Math.min(LONGEST_NAME, Math.max(8, left));
  const table = [head, ...rows].map((row) => ({ ...row, name: fitText(row.label, longest) }));
  const nameWidth = Math.max(...table.map(({ name }) => textWidth(name)));
  const indent = 2 + nameWidth + figuresWidth + 2;
  return table
    .map(({ name, figures, why }, index) => {
      const cells = figures.map((figure, column) => figure.padStart(widths[column]!));
      const start = `  ${[padText(name, nameWidth), ...cells].join("  ")}  `;
      const lines = wrapParts(why, Math.max(20, columns - indent));
      const text = `${start}${lines.join(`\n${" ".repeat(indent)}`)}`.trimEnd();
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

/** Reasons, most frequent first. */
function reasons(dropped: Readonly<Record<string, number>>, most: number): string[] {
  const all = Object.entries(dropped)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${numberText(count)}`);
  return all.length > most ? [...all.slice(0, most), `${all.length - most} more`] : all;
}
