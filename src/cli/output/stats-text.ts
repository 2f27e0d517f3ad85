import {
  COUNTS,
  type ImportedConfig,
  OWN_SOFTWARE,
  USER_RULES_NAME,
  countOwnRules,
} from "../../library/programs.ts";
import { type Diagnostic, type Style, renderDiagnostic } from "../../diagnostics/render.ts";
import { countText, csvField, numberText, printable, someOf } from "../../diagnostics/text.ts";
import type { AuditDocument, PlannedDocument } from "../../documents/documents.ts";
import type {
  AuditedList,
  ClientTraffic,
  CompileReport,
  ListBesideOthers,
  ListStats,
  SourceReport,
  TrafficChange,
  TrafficStats,
} from "../../documents/facts.ts";
import { bytesText } from "./build-screen.ts";
import { markdownText, renderTable } from "./table.ts";

const COLUMNS = ["lines", "kept", "dropped", "redundant", "rules", "onlyHere"] as const;
const HEADINGS = COLUMNS.map((column) => COUNTS[column][0]);
const LONGEST_NAME = 36;

function numbersOf(stats: ListStats): string[][] {
  return stats.sources.map((source) =>
    COLUMNS.map((column) =>
      numberText(column === "dropped" ? source.lines - source.kept : source[column]),
    ),
  );
}

/** One row per source, then the smallest set of sources and the largest overlaps. */
export function statsTable(stats: ListStats, style: Style, columns: number): string {
  const rows = numbersOf(stats).map((cells, index) => [
    printable(stats.sources[index]!.label),
    ...cells,
  ]);
  const [head, ...body] = renderTable([["source", ...HEADINGS], ...rows], {
    align: "lrrrrrr",
    columns,
    longestName: LONGEST_NAME,
  });
  return `${[
    style.faint(head!),
    ...body.map((text, index) => (stats.sources[index]!.onlyHere === 0 ? style.faint(text) : text)),
    "",
    coverLine(stats),
    ...overlapLines(stats),
  ].join("\n")}\n`;
}

function coverLine({ cover, sources, rules, minSources }: ListStats): string {
  const left = sources.length - cover.sources.length;
  const certain = cover.isSmallest ? "" : " (or fewer)";
  if (left === 0) {
    if (!cover.isSmallest) return "No source is known to be redundant.";
    const all = sources.length === 1 ? "The source is" : `All ${sources.length} sources are`;
    const why = minSources === undefined ? "" : ` with min_sources: ${minSources}`;
    return `${all} needed for ${rules === 1 ? "its" : "these"} ${countText(rules, "rule")}${why}.`;
  }
  const superfluous = sources.filter(({ label }) => !cover.sources.includes(label));
  const names = superfluous.map(({ label }) => printable(label, 60)).join(", ");
  return `${cover.sources.length} of ${sources.length} sources${certain} ${cover.sources.length === 1 ? "yields" : "yield"} the same ${countText(rules, "rule")}; redundant: ${names}`;
}

const MOST_PAIRS = 5;

function overlapLines({ overlap, sources }: ListStats): string[] {
  const pairs = sources.flatMap((a, first) =>
    sources.slice(first + 1).map((b, rest) => {
      const second = first + 1 + rest;
      const shared = overlap[first]![second]!;
      const smaller = Math.min(overlap[first]![first]!, overlap[second]![second]!);
      return { a: a.label, b: b.label, shared, part: smaller === 0 ? 0 : shared / smaller };
    }),
  );
  return pairs
    .filter(({ shared }) => shared > 0)
    .toSorted((x, y) => y.part - x.part || y.shared - x.shared)
    .slice(0, MOST_PAIRS)
    .map(({ a, b, shared, part }) => {
      const rules = countText(shared, "rule");
      return `${printable(a, 60)} and ${printable(b, 60)} share ${rules}, ${Math.floor(part * 100)} % of the smaller`;
    });
}

/** The statistics for a README or a pull request. */
export function statsMarkdown(stats: ListStats): string {
  const rows = numbersOf(stats).map(
    (row, index) => `| ${markdownText(stats.sources[index]!.label)} | ${row.join(" | ")} |`,
  );
  return `| source | ${HEADINGS.join(" | ")} |\n|---|${"---:|".repeat(HEADINGS.length)}\n${rows.join("\n")}\n\n${markdownText(coverLine(stats))}\n`;
}

const MATRIX_COLUMNS = ["rules", "onlyHere", "first", "added", "removed"] as const;
const MATRIX_HEADINGS = ["rules", "only here", "first here", "added", "removed"];

/** One row per list: what it has alone and had first, what changed, and how much of it each other list has. */
export function matrixTable(
  lists: readonly ListBesideOthers[],
  style: Style,
  columns: number,
): string {
  const rows = lists.map((one, row) => [
    `${row + 1} ${printable(one.list)}`,
    ...MATRIX_COLUMNS.map((column) => numberText(one[column])),
    ...lists.map(({ list }) => percentIn(one, list)),
  ]);
  const heads = ["list", ...MATRIX_HEADINGS, ...lists.map((_, index) => `in ${index + 1}`)];
  const align = `l${"r".repeat(heads.length - 1)}`;
  const [head, ...body] = renderTable([heads, ...rows], {
    align,
    columns,
    longestName: LONGEST_NAME,
  });
  const since = lists.flatMap((one) => one.since ?? []).toSorted()[0];
  const period = since === undefined ? "" : ` since ${since.slice(0, "2026-11-01".length)}`;
  const note = `first here, added and removed: in the kept builds${period}`;
  return `${[style.faint(head!), ...body, "", note].join("\n")}\n`;
}

function percentIn({ rules, shared }: ListBesideOthers, other: string): string {
  const found = shared.find(({ list }) => list === other);
  if (found === undefined) return "–";
  return `${rules === 0 ? 0 : Math.floor((100 * found.rules) / rules)} %`;
}

/** The same as CSV, with counts instead of shares. */
export function matrixCsv(lists: readonly ListBesideOthers[]): string {
  const heads = ["list", ...MATRIX_COLUMNS, "builds", "since", ...lists.map(({ list }) => list)];
  const rows = lists.map((one) => [
    one.list,
    ...MATRIX_COLUMNS.map((column) => String(one[column])),
    String(one.builds),
    one.since ?? "",
    ...lists.map(({ list }) =>
      String(one.shared.find((other) => other.list === list)?.rules ?? one.rules),
    ),
  ]);
  return [heads, ...rows].map((cells) => `${cells.map(csvField).join(",")}\n`).join("");
}

const TRAFFIC_HEADINGS = ["rules", "blocked", "by it alone"] as const;
/** The width of tables in a plan. */
const PLAN_COLUMNS = 78;

function trafficNumbers({ sources }: ListStats, traffic: TrafficStats): string[][] {
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
  const rows = trafficNumbers(stats, traffic).map((cells, index) => [
    printable(traffic.sources[index]!.label),
    ...cells,
  ]);
  const [head, ...body] = renderTable([["source", ...TRAFFIC_HEADINGS], ...rows], {
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
  const rows = trafficNumbers(stats, traffic).map(
    (row, index) => `| ${markdownText(traffic.sources[index]!.label)} | ${row.join(" | ")} |`,
  );
  const lines = trafficLines(traffic).map((line) => markdownText(line));
  const clients = (traffic.clients ?? []).map(
    (one) => `| ${[markdownText(clientName(one)), ...clientNumbers(one)].join(" | ")} |`,
  );
  const tables = [
    markdownTable(["source", ...TRAFFIC_HEADINGS], rows),
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
  const idle = sources.filter((source) => source.blocked === 0).map(({ label }) => label);
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
export function trafficChangeJson(
  { names, ...counts }: TrafficChange,
  isVerbose: boolean,
): NonNullable<PlannedDocument["traffic"]> {
  return isVerbose ? { ...counts, names } : counts;
}

function queriesText(count: number): string {
  return countText(count, "query", "queries");
}

interface ShownAudit {
  readonly path: string;
  readonly setup: ImportedConfig;
  readonly report: CompileReport;
  readonly stats: ListStats;
  /** Names that the lists must not block. */
  readonly findings: readonly Diagnostic[];
}

const LONGEST_LABEL = 40;
const SHOWN_FINDINGS = 5;

/** Omits the user's own rules, which are the last source of the compiled list. */
function listsOf(audit: ShownAudit): AuditedList[] {
  const sources = sourcesOf(audit);
  return audit.setup.userRules.length === 0 ? sources : sources.slice(0, -1);
}

/** The lists, and the user's own rules. */
function sourcesOf({ report, stats }: ShownAudit): AuditedList[] {
  const { sources } = report;
  const needed = new Set(stats.cover.sources);
  return sources.map((source, index) => {
    const { rules, onlyHere } = stats.sources[index]!;
    const { label, lines, problem, state } = source;
    const same = sources.filter((other) => other.source === source.source);
    const sameAs = same[0] === source ? undefined : same[0]!.label;
    // A list does not add rules that its own copy has, but one of the two is needed.
    const adds = onlyHere > 0 || (same.length > 1 && same.some((one) => needed.has(one.label)));
    return {
      label,
      source: source.source,
      lines,
      rules,
      onlyHere,
      state: stateOf(source, sameAs === undefined, adds),
      ...(sameAs !== undefined && { sameAs }),
      ...(problem && state === "dropped" && { problem: problem.message }),
    };
  });
}

function stateOf(
  { state, problem }: SourceReport,
  isFirst: boolean,
  adds: boolean,
): AuditedList["state"] {
  const isOther = problem?.code === "source-is-html" || problem?.code === "source-not-list";
  if (state === "dropped") return isOther ? "no-list" : "dead";
  if (!isFirst) return "repeated";
  if (state === "stale") return "stale";
  return adds ? "good" : "adds-nothing";
}

/** The same numbers as JSON. */
export function auditJson(audit: ShownAudit): AuditDocument {
  const { path, setup, report, findings } = audit;
  const lists = listsOf(audit);
  return {
    file: path,
    software: setup.software,
    sources: lists,
    off: setup.lists.filter(({ isOn }) => !isOn).map(({ name }) => name),
    ownRules: countOwnRules(setup.userRules),
    notes: setup.notes,
    lines: report.lines,
    redundant: redundantIn(audit),
    rules: report.rules,
    bytes: report.bytes,
    needed: neededOf(audit),
    findings,
  };
}

/** The smallest set of lists that yields every rule, besides the user's own rules. */
function neededOf({ setup, stats }: ShownAudit): readonly string[] {
  const { sources } = stats.cover;
  return setup.userRules.length === 0
    ? sources
    : sources.filter((name) => name !== USER_RULES_NAME);
}

/** Lines that one list does not need, including those of the user's own rules. */
function redundantIn({ stats }: ShownAudit): number {
  return stats.sources.reduce((sum, { redundant }) => sum + redundant, 0);
}

export function auditText(audit: ShownAudit, style: Style, columns: number): string {
  const { path, setup, report, findings } = audit;
  const lists = listsOf(audit);
  const off = setup.lists.length - lists.length;
  const bytes = report.sources.reduce((sum, source) => sum + source.bytes, 0);
  const inStates = (state: AuditedList["state"]): number =>
    lists.filter((one) => one.state === state).length;
  const facts = [
    [inStates("adds-nothing"), "adds nothing", "add nothing"],
    [inStates("repeated"), "has the URL of another list", "have the URLs of other lists"],
    [
      inStates("stale"),
      "is unavailable; its last copy was read",
      "are unavailable; their last copies were read",
    ],
    [inStates("dead"), "is unavailable", "are unavailable"],
    [inStates("no-list"), "is a web page, not a list", "are web pages, not lists"],
  ] as const;
  const needed = neededOf(audit);
  const good = lists.filter(({ state }) => !["dead", "no-list"].includes(state)).length;
  return `${[
    `${style.strong(setup.software)}: ${countText(lists.length, "list")} enabled${off === 0 ? "" : `, ${off} disabled`}${setup.userRules.length === 0 ? "" : `, ${countText(countOwnRules(setup.userRules), "own rule")}`}`,
    ...tableLines(lists, style, columns),
    `${countText(report.lines, "line")}, ${numberText(redundantIn(audit))} of them ${COUNTS.redundant[0]}`,
    ...facts
      .filter(([count]) => count > 0)
      .map(([count, one, many]) =>
        style.warning(`${countText(count, "list")} ${count === 1 ? one : many}`),
      ),
    ...(needed.length > 0 && needed.length < good
      ? [
          `${countText(needed.length, "list")} of ${good} ${needed.length === 1 ? "yields" : "yield"} the same rules: ${needed.map((name) => printable(name, 60)).join(", ")}`,
        ]
      : []),
    ...findings.slice(0, SHOWN_FINDINGS).map((one) => renderDiagnostic(one, style).trimEnd()),
    `one compiled list: ${style.good(countText(report.rules, "rule"))}, ${bytesText(report.bytes)} instead of ${bytesText(bytes)}`,
    ...setup.notes.map((note) => style.warning(printable(note, 400))),
    setup.software === OWN_SOFTWARE
      ? `compile it: ${style.strong(`rules-compiler -c ${printable(path)}`)}`
      : `import them: ${style.strong(`rules-compiler init --from ${printable(path)}`)}`,
  ].join("\n")}\n`;
}

const STATES: Readonly<Record<AuditedList["state"], string>> = {
  good: "",
  "adds-nothing": "adds nothing",
  repeated: "same URL as",
  stale: "unavailable, last copy",
  dead: "unavailable",
  "no-list": "a web page",
};

function stateText({ state, problem, sameAs }: AuditedList): string {
  if (problem !== undefined) return `${STATES[state]}: ${printable(problem, 60)}`;
  return state === "repeated" ? `${STATES[state]} ${printable(sameAs!, 60)}` : STATES[state];
}

function tableLines(lists: readonly AuditedList[], style: Style, columns: number): string[] {
  const rows = lists.map((list) => [
    printable(list.label),
    ...[list.lines, list.rules, list.onlyHere].map(numberText),
    stateText(list),
  ]);
  const [head, ...body] = renderTable(
    [["list", COUNTS.lines[0], COUNTS.rules[0], COUNTS.onlyHere[0], ""], ...rows],
    {
      align: "lrrrl",
      columns,
      longestName: LONGEST_LABEL,
    },
  );
  return [
    style.faint(head!),
    ...body.map((text, index) => (lists[index]!.state === "good" ? text : style.warning(text))),
  ];
}
