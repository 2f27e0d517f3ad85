import { isDegraded } from "../../library/programs.ts";
import type { Style } from "../../diagnostics/render.ts";
import {
  type ListPlace,
  countText,
  listCommandLine,
  printable,
  shellWord,
  timestampText,
} from "../../diagnostics/text.ts";
import { VERSION } from "../../diagnostics/version.ts";
import type { Decision, Explanation, LineFate, LintedFile, Since } from "../../documents/facts.ts";
import type { ServerHealth } from "../commands/status.ts";
import { fitText, textWidth } from "./reporter.ts";
import { locationLink, locationText, renderTable } from "./table.ts";

/** Maximum number of lines shown; the rest are counted. */
const MOST_LINES = 12;

const WORDS = {
  blocked: "BLOCKED",
  allowed: "ALLOWED",
  rewritten: "REWRITTEN",
  neither: "neither blocked nor allowed",
} as const;
const FREED = "reachable: nothing blocks it";
const TONES = {
  blocked: "error",
  allowed: "good",
  rewritten: "warning",
  neither: "strong",
} as const;

/** A list, and how it was found. */
interface AskedList extends Partial<ListPlace> {
  readonly file: string;
}

/** An explanation as text: the verdict, the rule, every source line of it, and what to do. */
export function explanationText(
  explanation: Explanation,
  list: AskedList,
  style: Style,
  columns: number,
): string {
  const { name, verdict, rule, since, partial, lines, unseen, unblock } = explanation;
  // "Neither" would read as if the decision had failed.
  const isFreed = verdict === "neither" && explanation.decision?.verdict === "allow";
  const answer = isFreed ? style.good(FREED) : style[TONES[verdict]](WORDS[verdict]);
  const out = [`${style.strong(printable(name))}  ${answer} in ${printable(list.file)}`];
  if (rule !== undefined)
    out.push(
      `  by  ${style.strong(printable(rule.text))}  ${style.faint(locationLink(locationText(rule), rule, style))}`,
    );
  if (explanation.decision !== undefined)
    out.push(`  decided: ${decisionText(explanation.decision, style)}`);
  if (explanation.isNewlyBlocked === true)
    out.push(
      "  a popular name that the list would newly block; guards.newly_blocks keeps it reachable",
    );
  if (since !== undefined) out.push(`  ${style.faint(sinceText(since))}`);
  for (const one of partial)
    out.push(
      `  for some clients or query types: ${printable(one.text)}  ${style.faint(locationText(one))}`,
    );
  out.push(...lineTable(lines, style, columns));
  if (lines.length === 0 && unseen.length === 0 && explanation.decision === undefined)
    out.push("  no line of any source names it or a parent domain");
  if (unseen.length > 0) {
    const files = unseen
      .slice(0, 3)
      .map((file) => printable(file))
      .join(", ");
    const more = unseen.length > 3 ? ` and ${unseen.length - 3} more` : "";
    out.push(`  ${style.warning("not checked")}, changed since or not cached: ${files}${more}`);
  }
  if (unblock !== undefined) {
    const command = listCommandLine(
      `allow ${shellWord(printable(unblock.allow))}`,
      undefined,
      list,
    );
    out.push(`  to unblock: ${style.note(command)}, which ${printable(unblock.effect)}`);
  }
  return `${out.join("\n")}\n`;
}

/** `allow shop.example.com  decisions.txt:3, since 2026-11-18, until 2026-12-01, #12: The shop does not load`. */
export function decisionText(decision: Decision, style: Style): string {
  const { verdict, name, exact, since, until, list, reference, reason, file, line } = decision;
  const what = `${verdict} ${printable(name)}${exact ? " (the name alone)" : ""}`;
  const facts = [
    `${printable(file)}:${line}`,
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
    ...(list === undefined ? [] : [`in ${printable(list, 60)}`]),
    ...(reference === undefined ? [] : [printable(reference, 200)]),
  ];
  const why = reason === undefined ? "" : `: ${printable(reason, 200)}`;
  return `${style.strong(what)}  ${style.faint(facts.join(", "))}${why}`;
}

/** A decision that the published list was built without. */
export function waitingText(decision: Decision, style: Style): string {
  return `waits for the next publish: ${decisionText(decision, style)}`;
}

function sinceText({ at, isOldest }: Since): string {
  const timestamp = timestampText(at);
  return isOldest
    ? `since ${timestamp} or earlier: no older build is stored`
    : `since ${timestamp}`;
}

const INDENT = 6;

function lineTable(lines: readonly LineFate[], style: Style, columns: number): string[] {
  const shown = lines.slice(0, MOST_LINES);
  const room = columns - INDENT - 2;
  const locationRoom = Math.min(40, Math.floor(room / 2));
  const places = shown.map((line) => shortLocation(line, locationRoom));
  const placeWidth = Math.max(0, ...places.map(textWidth));
  const texts = shown.map(({ text }) =>
    fitText(printable(text.trim(), 80), Math.min(48, room - placeWidth)),
  );
  const textRoom = Math.max(0, ...texts.map(textWidth));
  const reasons = shown.map((line) =>
    line.by === undefined ? meaningText(line) : `${meaningText(line)}: ${locationText(line.by)}`,
  );
  const painted = reasons.map((why, index) =>
    style[shown[index]!.fate === "kept" ? "good" : "faint"](why),
  );
  // Reasons are beside their lines if all of them fit, else below.
  const isBeside = placeWidth + textRoom + 2 + Math.max(0, ...reasons.map(textWidth)) <= room;
  const rows = shown.map((line, index) => [
    locationLink(places[index]!, line, style),
    texts[index]!,
    ...(isBeside ? [painted[index]!] : []),
  ]);
  const table = renderTable(rows, { align: isBeside ? "lll" : "ll", indent: INDENT }).flatMap(
    (text, index) => (isBeside ? [text] : [text, `${" ".repeat(INDENT + 4)}${painted[index]}`]),
  );
  const more = lines.length - shown.length;
  return more > 0
    ? [...table, `${" ".repeat(INDENT)}… and ${countText(more, "line")} more (use --json for all)`]
    : table;
}

/** Truncates the name of a source, but never the line number. */
function shortLocation(line: LineFate, room: number): string {
  const place = locationText(line);
  const digits = String(line.line).length + 2;
  return textWidth(place) > room ? fitText(locationText(line, room - digits), room) : place;
}

function meaningText({ fate, meaning, firstSeen }: LineFate): string {
  const why = fate === "kept" ? "kept" : `${fate}, ${meaning}`;
  return firstSeen === undefined ? why : `${why}, first seen ${timestampText(firstSeen)}`;
}

/** Rows per section, so that everything fits on one screen. */
const MOST_ROWS = 4;

/** Servers of earlier versions say less. */
const NOT_REPORTED = "not reported by this server";

type JsonFields = Readonly<Record<string, unknown>>;

/** A server on one screen of 25 lines. Nothing in it is trusted: another program may have answered. */
export function statusText(health: ServerHealth, style: Style, columns: number): string {
  const { status, reason, running, next } = health;
  const tone = status === "healthy" ? "good" : status === "unhealthy" ? "error" : "warning";
  const word = printable(status, 20);
  const room = columns - word.length;
  const sources = entriesOf(health, "sources");
  const bad = sources.filter(({ state }) => isDegraded(String(state)));
  const held = new Map(entriesOf(health, "held").map((one) => [plainText(one["list"]), one]));
  const listRow = (one: JsonFields): string[] => {
    const hold = held.get(plainText(one["list"]));
    const state =
      hold === undefined
        ? `published ${timeText(one["publishedAt"])}`
        : `held at the build of ${timeText(hold["build"])}`;
    return [nameText(one["list"]), rulesText(one["rules"]), state];
  };
  const rows = [
    ...renderTable(
      [
        ["last run", runText(health["lastRun"])],
        ["next run", running === true ? "running now" : timeText(next)],
        ["sources", "sources" in health ? sourcesText(sources, bad) : NOT_REPORTED],
      ],
      { align: "ll", indent: 0 },
    ),
    ...section("lists", "lrl", entriesOf(health, "lists").map(listRow)),
    ...section("sources that are not available", "lll", bad.map(sourceRow)),
    ...section("resolvers", "llllrl", entriesOf(health, "resolvers").map(resolverRow)),
  ];
  const lines = rows.map((row) => fitText(row, columns));
  return `${style[tone](word)}${fitText(`: ${printable(reason)}`, room)}\n${lines.join("\n")}\n`;
}

function section(title: string, align: string, rows: readonly string[][]): string[] {
  if (rows.length === 0) return [];
  const more = rows.length - MOST_ROWS;
  return [
    title,
    ...renderTable(rows.slice(0, MOST_ROWS), { align }),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function sourcesText(sources: readonly JsonFields[], bad: readonly JsonFields[]): string {
  return `${countText(sources.length, "source")}, ${bad.length} not available`;
}

function runText(run: unknown): string {
  if (run === null) return "none yet";
  const { at, outcome, trigger, seconds, degraded } = fieldsOf(run);
  if (outcome === undefined) return NOT_REPORTED;
  const state = `${printable(plainText(outcome), 20)}${degraded === true ? ", degraded" : ""}`;
  const time = typeof seconds === "number" ? `, ${seconds.toFixed(1)} s` : "";
  return `${timeText(at)}, ${state}${time}, by ${printable(plainText(trigger), 20)}`;
}

function sourceRow({ label, state, goodAt }: JsonFields): string[] {
  return [nameText(label), printable(plainText(state), 20), `last available ${timeText(goodAt)}`];
}

function resolverRow({ resolver, list, outcome, build, latencyMs, at }: JsonFields): string[] {
  return [
    nameText(resolver),
    nameText(list),
    printable(plainText(outcome ?? "not proved yet"), 20),
    typeof build === "string" ? printable(build, 16) : "-",
    typeof latencyMs === "number" ? `${Math.round(latencyMs)} ms` : "-",
    timeText(at),
  ];
}

function nameText(value: unknown): string {
  return printable(plainText(value), 40);
}

function rulesText(value: unknown): string {
  return typeof value === "number" ? countText(value, "rule") : "-";
}

function timeText(value: unknown): string {
  return Number.isNaN(Date.parse(plainText(value))) ? "-" : timestampText(plainText(value));
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function entriesOf(health: ServerHealth, field: string): JsonFields[] {
  const entries = health[field];
  return Array.isArray(entries) ? entries.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): JsonFields {
  return typeof value === "object" && value !== null ? (value as JsonFields) : {};
}

/** Report formats, by their `--format` names. */
export const LINT_REPORTS: Readonly<
  Record<string, (files: readonly LintedFile[], style: Style) => string>
> = {
  text: textReport,
  json: (files) => `${JSON.stringify({ files })}\n`,
  sarif: (files) => `${JSON.stringify(sarifOf(files), undefined, 2)}\n`,
  github: githubAnnotations,
};

function textReport(files: readonly LintedFile[], style: Style): string {
  const lines = files.flatMap(({ file, problems }) =>
    problems.map(({ line, column, severity, rule, message }) => {
      const place = style.strong(`${printable(file)}:${line}:${column}`);
      const kind = severity === "error" ? style.error(severity) : style.warning(severity);
      return `${place}: ${kind}[${rule}]: ${message}`;
    }),
  );
  const all = files.flatMap(({ problems }) => problems);
  const errors = all.filter(({ severity }) => severity === "error").length;
  const fixable = all.filter(({ isFixable }) => isFixable).length;
  const fixed = files.filter(({ isFixed }) => isFixed).length;
  const counts = `${countText(files.length, "file")}: ${countText(errors, "error")}, ${countText(all.length - errors, "warning")}`;
  const rest =
    fixed > 0
      ? `; ${countText(fixed, "file")} fixed`
      : fixable > 0
        ? `; --fix fixes ${fixable} without changing what the list blocks`
        : "";
  return `${[...lines, counts + rest].join("\n")}\n`;
}

/** https://docs.oasis-open.org/sarif/sarif/v2.1.0/, limited to the fields that code hosts read. */
function sarifOf(files: readonly LintedFile[]): object {
  const rules = [
    ...new Set(files.flatMap(({ problems }) => problems.map(({ rule }) => rule))),
  ].toSorted();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: { name: "rules-compiler", version: VERSION, rules: rules.map((id) => ({ id })) },
        },
        results: files.flatMap(({ file, problems }) =>
          problems.map(({ rule, severity, line, column, message }) => ({
            ruleId: rule,
            ruleIndex: rules.indexOf(rule),
            level: severity,
            message: { text: message },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: encodeURI(file.replaceAll("\\", "/")) },
                  region: { startLine: line, startColumn: column },
                },
              },
            ],
          })),
        ),
      },
    ],
  };
}

/** Workflow commands, which GitHub shows beside the lines of a pull request. */
function githubAnnotations(files: readonly LintedFile[]): string {
  return files
    .flatMap(({ file, problems }) =>
      problems.map(
        ({ rule, severity, line, column, message }) =>
          `::${severity} file=${property(file)},line=${line},col=${column},title=${property(rule)}::${data(message)}\n`,
      ),
    )
    .join("");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
