import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import type { Style } from "../../diagnostics/render.ts";
import { someOf } from "../../diagnostics/some-of.ts";
import type { ClientTraffic } from "../../explain/client-traffic.ts";
import type { ListStats } from "../../explain/stats.ts";
import type { TrafficChange } from "../../explain/traffic-change.ts";
import type { TrafficStats } from "../../explain/traffic-stats.ts";
import { markdownText } from "./markdown-text.ts";
import { renderTable } from "./table.ts";

const HEADINGS = ["rules", "blocked", "by it alone"] as const;
const LONGEST_NAME = 36;
/** The width of tables in a plan. */
const PLAN_COLUMNS = 78;

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
    ...clientTable(traffic.clients, columns, style),
  ].join("\n")}\n`;
}

/** The same for a README or a pull request. */
export function trafficMarkdown(stats: ListStats, traffic: TrafficStats): string {
  const rows = numbersOf(stats, traffic).map(
    (row, index) => `| ${markdownText(traffic.sources[index]!.source)} | ${row.join(" | ")} |`,
  );
  const lines = trafficLines(traffic).map((line) => markdownText(line));
  const clients = (traffic.clients ?? []).map(
    (one) => `| ${[markdownText(clientName(one)), ...clientNumbers(one)].join(" | ")} |`,
  );
  const tables = [
    markdownTable(["source", ...HEADINGS], rows),
    `${lines.join("\n\n")}\n`,
    ...(clients.length === 0 ? [] : [markdownTable(["client", "queries", "blocked"], clients)]),
  ];
  return tables.join("\n");
}

function markdownTable(headings: readonly string[], rows: readonly string[]): string {
  return `| ${headings.join(" | ")} |\n|---|${"---:|".repeat(headings.length - 1)}\n${rows.join("\n")}\n`;
}

/** The most names and clients that are shown. */
const MOST_SHOWN = 100;

function clientTable(
  clients: readonly ClientTraffic[] | undefined,
  columns: number,
  style: Style,
): string[] {
  if (clients === undefined || clients.length === 0) return [];
  const isChange = clients[0]!.freed !== undefined;
  const headings = isChange
    ? ["client", "queries", "newly blocked", "no longer blocked"]
    : ["client", "queries", "blocked"];
  const shown = clients.slice(0, MOST_SHOWN);
  const rows = shown.map((one) => [printable(clientName(one)), ...clientNumbers(one)]);
  const [head, ...body] = renderTable([headings, ...rows], {
    align: isChange ? "lrrr" : "lrr",
    columns,
    longestName: LONGEST_NAME,
  });
  return ["", style.faint(head!), ...body, ...moreLines(clients.length - shown.length, "client")];
}

function clientNumbers({ queries, blocked, freed }: ClientTraffic): string[] {
  return [queries, blocked, ...(freed === undefined ? [] : [freed])].map(numberText);
}

function clientName({ client }: ClientTraffic): string {
  return client === "" ? "unknown" : client;
}

function moreLines(count: number, noun: string): string[] {
  return count > 0 ? [`    and ${countText(count, `more ${noun}`)}`] : [];
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

/** What a plan changes for the queries of logs: counts, and with `isVerbose` names. */
export function trafficChangeLines(
  { queries, blocked, freed, names, clients }: TrafficChange,
  style: Style,
  isVerbose = false,
): string[] {
  const shown = isVerbose ? names.slice(0, MOST_SHOWN) : [];
  const table = clientTable(clients, PLAN_COLUMNS, style).slice(1);
  return [
    `  of ${queriesText(queries)} in the log, newly blocked: ${numberText(blocked)}, no longer blocked: ${numberText(freed)}`,
    ...shown.map(
      (one) =>
        `    ${printable(one.name)}  ${queriesText(one.queries)}  ${one.change === "blocked" ? "newly blocked" : "no longer blocked"}`,
    ),
    ...(isVerbose ? moreLines(names.length - shown.length, "name") : []),
    ...table.map((line) => `  ${line}`),
  ];
}

/** The same as JSON; names only if they were asked for. */
export function trafficChangeJson({ names, ...counts }: TrafficChange, isVerbose: boolean): object {
  return isVerbose ? { ...counts, names } : counts;
}

function queriesText(count: number): string {
  return countText(count, "query", "queries");
}
