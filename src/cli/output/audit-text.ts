import { USER_RULES_NAME } from "../../import/config-text.ts";
import { OWN_SOFTWARE } from "../../import/hostlist-compiler.ts";
import type { ImportedConfig } from "../../import/imported-config.ts";
import type { CompileReport, SourceReport } from "../../build/build-outcome.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { type Style, renderDiagnostic } from "../../diagnostics/render.ts";
import type { ListStats } from "../../explain/stats.ts";
import { bytesText } from "./summary.ts";
import { COUNTS } from "../../explain/glossary.ts";
import { renderTable } from "./table.ts";

export interface Audit {
  readonly path: string;
  readonly setup: ImportedConfig;
  readonly report: CompileReport;
  readonly stats: ListStats;
  /** Names that the lists must not block. */
  readonly findings: readonly Diagnostic[];
}

/** The audit of one list. */
interface AuditedList {
  readonly name: string;
  readonly source: string;
  readonly lines: number;
  /** Rules of the compiled list that one of its lines gives. */
  readonly rules: number;
  /** Rules that would leave the compiled list if this list went away. */
  readonly onlyHere: number;
  readonly state: "good" | "adds-nothing" | "repeated" | "stale" | "dead" | "no-list";
  /** The name of an earlier list with the same address. */
  readonly sameAs?: string;
  readonly problem?: string;
}

const LONGEST_NAME = 40;
const SHOWN_FINDINGS = 5;

/** Omits the user's own rules, which are the last source of the compiled list. */
function listsOf(audit: Audit): AuditedList[] {
  const sources = sourcesOf(audit);
  return audit.setup.userRules.length === 0 ? sources : sources.slice(0, -1);
}

/** The lists, and the user's own rules. */
function sourcesOf({ report, stats }: Audit): AuditedList[] {
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
      name: label,
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
export function auditJson(audit: Audit): object {
  const { path, setup, report, findings } = audit;
  const lists = listsOf(audit);
  return {
    file: path,
    software: setup.software,
    lists,
    off: setup.lists.filter(({ isOn }) => !isOn).map(({ name }) => name),
    ownRules: setup.userRules.length,
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
function neededOf({ setup, stats }: Audit): readonly string[] {
  const { sources } = stats.cover;
  return setup.userRules.length === 0
    ? sources
    : sources.filter((name) => name !== USER_RULES_NAME);
}

/** Lines that one list does not need, including those of the user's own rules. */
function redundantIn({ stats }: Audit): number {
  return stats.sources.reduce((sum, { redundant }) => sum + redundant, 0);
}

export function auditText(audit: Audit, style: Style, columns: number): string {
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
    `${style.strong(setup.software)}: ${countText(lists.length, "list")} enabled${off === 0 ? "" : `, ${off} disabled`}${setup.userRules.length === 0 ? "" : `, ${countText(setup.userRules.length, "own rule")}`}`,
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
    printable(list.name),
    ...[list.lines, list.rules, list.onlyHere].map(numberText),
    stateText(list),
  ]);
  const [head, ...body] = renderTable(
    [["list", COUNTS.lines[0], COUNTS.rules[0], COUNTS.onlyHere[0], ""], ...rows],
    {
      align: "lrrrl",
      columns,
      longestName: LONGEST_NAME,
    },
  );
  return [
    style.faint(head!),
    ...body.map((text, index) => (lists[index]!.state === "good" ? text : style.warning(text))),
  ];
}
