import type { CompileReport, SourceReport } from "../compile/report.ts";
import { printable } from "../diagnostics/printable.ts";
import type { Style } from "../diagnostics/render.ts";

export function numberText(value: number): string {
  // Not `toLocaleString`: its first call loads the locale data, 20 ms.
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 rule`, `2 rules`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

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

/** One row a source: lines read, kept, dropped and why; then the sum. */
export function summaryTable(report: CompileReport, columns: number, style: Style): string {
  const total = {
    label: "total",
    lines: report.lines,
    kept: report.kept,
    dropped: totalDropped(report.sources),
  };
  const rows = [...report.sources, total].map((source) => [
    printable(source.label, 40),
    numberText(source.lines),
    numberText(source.kept),
    numberText(source.lines - source.kept),
    reasons(source.dropped),
  ]);
  const table = [["source", "lines", "kept", "dropped", "why"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table
    .map((row, index) => {
      const cells = row
        .slice(0, 4)
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!),
        );
      const left = `  ${cells.join("  ")}  `;
      const room = Math.max(20, columns - left.length - 1);
      const why = row[4]!.length > room ? `${row[4]!.slice(0, room - 1)}…` : row[4]!;
      const line = `${left}${why}`.trimEnd();
      return index === 0
        ? style.faint(line)
        : index === table.length - 1
          ? style.strong(line)
          : line;
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
function reasons(dropped: Readonly<Record<string, number>>): string {
  return Object.entries(dropped)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${numberText(count)}`)
    .join(", ");
}
