import type { CompileReport, SourceReport } from "../../build/build-outcome.ts";
import { type Diagnostic, locationText } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { numberText } from "../../diagnostics/number-text.ts";
import { COUNTS, fatesOfRules } from "../../explain/glossary.ts";
import { droppedText } from "./fate-text.ts";
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

/** One row per source: lines, kept, and dropped with reasons that fit; then the total. */
export function summaryTable(
  report: CompileReport,
  columns: number,
  style: Style,
  hasAllReasons = false,
): string {
  const { lines, kept, sources } = report;
  const total = { label: "total", lines, kept, dropped: totalDropped(sources) };
  const rows = [...sources, total].map((source) => [
    printable(source.label),
    ...[source.lines, source.kept, source.lines - source.kept].map(numberText),
    [...("state" in source ? stateText(source) : []), ...reasons(source.dropped)],
  ]);
  const headings = [COUNTS.lines[0], COUNTS.kept[0], COUNTS.dropped[0], "why"];
  const table = renderTable([["source", ...headings], ...rows], {
    align: "lrrrl",
    columns,
    longestName: LONGEST_NAME,
    isCut: !hasAllReasons,
  });
  return table
    .map((text, index) => {
      if (index === 0) return style.faint(text);
      return index === table.length - 1 ? style.strong(text) : text;
    })
    .join("\n");
}

/** Marks a degraded source: its numbers are those of a cached copy. */
function stateText({ state, goodAt = "", usedUntil = "", problem }: SourceReport): string[] {
  const copy = `copy from ${goodAt.slice(0, 10)}`;
  const why = failureText(problem?.code);
  if (state === "dropped") return [`left out: ${why}`];
  if (state === "stale") return [`${why}: copy until ${usedUntil.slice(0, 10)}`];
  if (state === "offline") return [copy];
  return state === "held" ? [`held: ${copy}`] : [];
}

/** Why a source is not used as it is, if it could be fetched. */
const REASONS: Readonly<Record<string, string>> = {
  "fetch-timeout": "Connection timeout",
  "source-not-found": "File not found",
  "source-unreadable": "cannot be read",
  "source-shrunk": "differs too much",
  "source-grown": "differs too much",
  "source-replaced": "differs too much",
  "source-truncated": "not complete",
  "source-empty": "not a list",
  "source-is-html": "not a list",
  "source-not-list": "not a list",
  "source-not-text": "not a list",
  "source-not-blocklist": "not a blocklist",
  "bad-feed": "not the expected feed",
};

function failureText(code = ""): string {
  return REASONS[code] ?? "Failed to fetch";
}

function totalDropped(sources: readonly SourceReport[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const { dropped } of sources)
    for (const [name, count] of Object.entries(dropped)) total[name] = (total[name] ?? 0) + count;
  return total;
}

/** The most important first, without comments and their like. */
function reasons(dropped: Readonly<Record<string, number>>): string[] {
  return fatesOfRules(dropped).map(([fate, count]) => `${fate} ${numberText(count)}`);
}

/** Fates that have their own warning, with the names. */
const WARNED: ReadonlySet<string> = new Set([
  "protected",
  "household",
  "over-budget",
  "newly-blocks",
]);

/** The lines that would have done harm, one for each source and fate, without those that `warnings` are about. */
export function alarmLines(
  report: CompileReport,
  warnings: readonly Diagnostic[],
  columns: number,
  style: Style,
): string[] {
  const warned = new Set(
    warnings.filter(({ code }) => code === "own-lines").map(({ at }) => at && locationText(at)),
  );
  return report.sources.flatMap(({ alarms = [], dropped }) =>
    alarms
      .filter(({ fate, file, line }) => !WARNED.has(fate) && !warned.has(`${file}:${line}`))
      .map((alarm) => {
        const more = (dropped[alarm.fate] ?? 1) - 1;
        const rest = more > 0 ? `, … ${numberText(more)} more` : "";
        return `${droppedText(alarm, style, columns - rest.length)}${rest}`;
      }),
  );
}
