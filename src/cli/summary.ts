import type { CompileReport, SourceReport } from "../compile/report.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Style } from "../diagnostics/render.ts";
import { numberText } from "../diagnostics/number-text.ts";
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

/** Names are cut to this on a terminal, so that the figures and the reasons have room. */
const LONGEST_NAME = 32;

/** One row a source: lines read, kept, dropped and why; then the sum. Reasons go on below themselves where they must. */
export function summaryTable(report: CompileReport, columns: number, style: Style): string {
  const total = {
    label: "total",
    lines: report.lines,
    kept: report.kept,
    dropped: totalDropped(report.sources),
  };
  const longest =
    columns === Infinity ? Infinity : Math.min(LONGEST_NAME, Math.max(10, columns - 50));
  const rows = [...report.sources, total].map((source) => ({
    name: fitText(printable(source.label), longest),
    figures: [source.lines, source.kept, source.lines - source.kept].map(numberText),
    why: reasons(source.dropped),
  }));
  const table = [{ name: "source", figures: ["lines", "kept", "dropped"], why: ["why"] }, ...rows];
  const nameWidth = Math.max(...table.map(({ name }) => textWidth(name)));
  const widths = [0, 1, 2].map((column) =>
    Math.max(...table.map(({ figures }) => figures[column]!.length)),
  );
  const indent = 2 + nameWidth + widths.reduce((sum, width) => sum + 2 + width, 0) + 2;
  return table
    .map(({ name, figures, why }, index) => {
      const cells = figures.map((figure, column) => figure.padStart(widths[column]!));
      const left = `  ${[padText(name, nameWidth), ...cells].join("  ")}  `;
      const lines = wrapParts(why, Math.max(20, columns - indent));
      const text = `${left}${lines.join(`\n${" ".repeat(indent)}`)}`.trimEnd();
      if (index === 0) return style.faint(text);
      return index === table.length - 1 ? style.strong(text) : text;
    })
    .join("\n");
}

function totalDropped(sources: readonly SourceReport[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const { dropped } of sources)
    for (const [name, count] of Object.entries(dropped)) total[name] = (total[name] ?? 0) + count;
  return total;
}

/** Reasons, most frequent first. */
function reasons(dropped: Readonly<Record<string, number>>): string[] {
  return Object.entries(dropped)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${numberText(count)}`);
}
