import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import type { ListStats } from "../../explain/stats.ts";
import type { TrafficChange } from "../../explain/traffic-change.ts";
import type { TrafficStats } from "../../explain/traffic-stats.ts";
import { markdownText } from "./markdown-text.ts";
import { renderTable } from "./table.ts";

const HEADINGS = ["rules", "blocked", "by it alone"] as const;
const LONGEST_NAME = 36;

function numbersOf({ sources }: ListStats, traffic: TrafficStats): string[][] {
  return traffic.sources.map(({ blocked, alone }, index) =>
    [sources[index]!.rules, blocked, alone].map(numberText),
  );
}

/** One row per source, then what the list did for the queries of the logs. */
export function trafficTable(
  stats: ListStats,
  traffic: TrafficStats,
  style: Style,
  columns: number,
): string {
  const rows = numbersOf(stats, traffic).map((cells, index) => [
    printable(traffic.sources[index]!.source),
    ...cells,
  ]);
  const [head, ...body] = renderTable([["source", ...HEADINGS], ...rows], {
    align: "lrrr",
    columns,
    longestName: LONGEST_NAME,
  });
  return `${[
    style.faint(head!),
    ...body.map((text, index) =>
      traffic.sources[index]!.blocked === 0 ? style.faint(text) : text,
    ),
    "",
    ...trafficLines(traffic),
  ].join("\n")}\n`;
}

/** The same for a README or a pull request. */
export function trafficMarkdown(stats: ListStats, traffic: TrafficStats): string {
  const rows = numbersOf(stats, traffic).map(
    (row, index) => `| ${markdownText(traffic.sources[index]!.source)} | ${row.join(" | ")} |`,
  );
  const lines = trafficLines(traffic).map((line) => markdownText(line));
  return `| source | ${HEADINGS.join(" | ")} |\n|---|${"---:|".repeat(HEADINGS.length)}\n${rows.join("\n")}\n\n${lines.join("\n\n")}\n`;
}

function trafficLines(traffic: TrafficStats): string[] {
  const { files, queries, blocked, sources, unseen } = traffic;
  const idle = sources.filter((source) => source.blocked === 0).map(({ source }) => source);
  return [
    ...files.map((one) => `${printable(one.file)}: ${queriesText(one.queries)}, ${one.format}`),
    `The list blocks ${numberText(blocked)} of ${queriesText(queries)}${shareText(blocked, queries)}.`,
    ...(idle.length === 0 || queries === 0 ? [] : [`Blocked nothing: ${someOf(idle)}`]),
    ...(unseen.length === 0
      ? []
      : [`Not searched, so that counts may be too low: ${someOf(unseen)}`]),
  ];
}

function shareText(part: number, whole: number): string {
  return whole === 0 ? "" : `, ${((100 * part) / whole).toFixed(1)} %`;
}

/** The most frequent names that `--verbose` shows. */
const MOST_SHOWN = 100;

/** What a plan changes for the queries of logs: counts, and with `isVerbose` names. */
export function trafficChangeLines(traffic: TrafficChange, isVerbose = false): string[] {
  const { queries, blocked, freed, names } = traffic;
  const shown = isVerbose ? names.slice(0, MOST_SHOWN) : [];
  return [
    `  of ${queriesText(queries)} in the log, newly blocked: ${numberText(blocked)}, no longer blocked: ${numberText(freed)}`,
    ...shown.map(
      (one) =>
        `    ${printable(one.name)}  ${queriesText(one.queries)}  ${one.change === "blocked" ? "newly blocked" : "no longer blocked"}`,
    ),
    ...(isVerbose && names.length > shown.length
      ? [`    and ${countText(names.length - shown.length, "more name")}`]
      : []),
  ];
}

/** The same as JSON; names only if they were asked for. */
export function trafficChangeJson({ names, ...counts }: TrafficChange, isVerbose: boolean): object {
  return isVerbose ? { ...counts, names } : counts;
}

function queriesText(count: number): string {
  return countText(count, "query", "queries");
}
