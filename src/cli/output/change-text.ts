import {
  type ChangedRules,
  type FoundHold,
  type RankedNames,
  type RecordHeader,
  changedRules,
  changedText,
  fateLines,
  hasChange,
  holdText,
  isDegraded,
  namesWith,
  openLastBuild,
  rankOfChange,
} from "../../library/programs.ts";
import {
  CompilerError,
  type Diagnostic,
  NO_STYLE,
  type Style,
  renderDiagnostic,
} from "../../diagnostics/render.ts";
import { countText, timestampText, numberText, printable } from "../../diagnostics/text.ts";
import type { ChangeDocument } from "../../documents/documents.ts";
import type {
  CompileReport,
  FileChange,
  LineOfFate,
  TrafficChange,
} from "../../documents/facts.ts";
import type { Host } from "../../host/host.ts";
import {
  FATE_ENTRIES,
  type ListChange,
  type ListOutcome,
  type SourceState,
  isSameList as isSame,
} from "../../index.ts";
import type { Options } from "../flags/options.ts";
import { type Reporter, columnsOf } from "./reporter.ts";
import { trafficChangeLines } from "./stats-text.ts";
import { droppedText, locationLink, locationText, markdownText, renderTable } from "./table.ts";

/** Maximum number of names and sources shown; the rest are counted. */
const MOST = 10;

/** A change as text: the number of rules, their sources, and the effect on names. */
export function changeLines(change: ListChange, style: Style, ranks?: RankedNames): string[] {
  const { added, removed, rulesBefore, rulesNow, patterns } = change;
  if (isSame(change)) return [`  no change: ${countText(rulesNow, "rule")}`];
  const part = rulesBefore === 0 ? "" : `, ${percentText(rulesNow / rulesBefore - 1)}`;
  return [
    `  ${style.good(`+ ${numberText(added.length)}`)}  ${style.error(`− ${numberText(removed.length)}`)}  = ${countText(rulesNow, "rule")} (was ${numberText(rulesBefore)}${part})`,
    ...sourceLines(change),
    ...nameLines("newly blocked", "blocked", { ...change, ranks }, style),
    ...nameLines("unblocked", "freed", { ...change, ranks }, style),
    ...(patterns.length === 0
      ? []
      : [
          `  ${style.warning("patterns")} added or removed, compared by known names only: ${patterns
            .slice(0, 3)
            .map((text) => printable(text, 60))
            .join(", ")}${patterns.length > 3 ? ` and ${patterns.length - 3} more` : ""}`,
        ]),
    ...change.files.map((file) => `  ${fileText(file)}`),
  ];
}

/** `rules/list.hosts: + 3 names, − 1 name`. */
export function fileText({ file, added = 0, removed = 0, isList }: FileChange): string {
  const what = isList === true ? "other comments" : "other content";
  const names = `+ ${countText(added, "name")}, − ${countText(removed, "name")}`;
  return `${printable(file)}: ${added + removed === 0 ? what : names}`;
}

function percentText(part: number): string {
  const percent = Math.abs(part * 100);
  // One name of a large list is not nothing.
  const digits =
    percent === 0 || percent >= 0.05 ? percent.toFixed(1) : String(Number(percent.toPrecision(1)));
  return `${part < 0 ? "−" : "+"}${digits} %`;
}

function sourceLines({ bySource }: ListChange): string[] {
  const rows = renderTable(
    bySource
      .slice(0, MOST)
      .map(({ label, added, removed }) => [
        printable(label, 40),
        `+ ${numberText(added)}`,
        `− ${numberText(removed)}`,
      ]),
    { align: "lrr", indent: 4 },
  );
  return bySource.length > MOST
    ? [...rows, `    … and ${countText(bySource.length - MOST, "more source")}`]
    : rows;
}

function nameLines(
  heading: string,
  kind: "blocked" | "freed",
  { changes, locations, ranks }: ListChange & { readonly ranks: RankedNames | undefined },
  style: Style,
): string[] {
  const names = namesWith(kind, changes, ranks);
  if (names.length === 0) return [];
  const shown = names.slice(0, MOST);
  const tone = kind === "blocked" ? "error" : "good";
  const rows = shown.map((name) => {
    const { rule = "" } = name;
    const place = locations.get(rule);
    const from =
      place === undefined
        ? ""
        : `  ${style.faint(locationLink(locationText(place, 40), place, style))}`;
    const rank = ranks && rankOfChange(name, ranks);
    const shownRank = rank === undefined ? "" : `, rank ${numberText(rank)}`;
    const shownName = changedText(name, kind, (text) => printable(text, 80));
    return [`${shownName}${shownRank}`, `${printable(rule, 60)}${from}`];
  });
  const more = names.length - shown.length;
  return [
    `  ${style[tone](heading)}: ${countText(names.length, "name")}`,
    ...renderTable(rows, { align: "ll", indent: 4 }),
    ...(more > 0 ? [`    … and ${countText(more, "name")} more (use --json for all)`] : []),
  ];
}

/** The complete change as JSON. */
export function changeJson(
  { locations, changes, ...rest }: ListChange,
  ranks?: RankedNames,
): ChangeDocument {
  return {
    ...rest,
    changes: changes
      .filter(({ self, below }) => self !== undefined || below !== undefined)
      .map((change) => {
        const place = change.rule === undefined ? undefined : locations.get(change.rule);
        const rank = ranks && rankOfChange(change, ranks);
        return { ...change, ...(rank !== undefined && { rank }), ...(place && { from: place }) };
      }),
  };
}

const SHOWN = 10;

/** Fates of lines that were meant to be rules. */
const FATES_OF_RULES = [...FATE_ENTRIES.values()]
  .filter(({ rank }) => rank !== "no-rule" && rank !== "kept")
  .map(({ name }) => name);

/** Shows the new and changed lines of local sources that a build dropped, from its record. */
export class ChangedLines {
  private readonly options: Options;
  private readonly host: Host;
  private readonly reporter: Reporter;
  /** The texts of local sources in the last build, by path. */
  private readonly texts = new Map<string, Uint8Array>();

  constructor(options: Options, host: Host, reporter: Reporter) {
    this.options = options;
    this.host = host;
    this.reporter = reporter;
  }

  async show(outcome: ListOutcome, changed: readonly string[]): Promise<void> {
    const added = new Map<string, ReadonlySet<string>>();
    for (const { path } of outcome.inputs) {
      const known = this.texts.get(path);
      if (known !== undefined && !changed.includes(path)) continue;
      const fresh = await this.textOf(path);
      this.texts.set(path, fresh);
      const lines = known === undefined ? [] : changedRules(known, fresh).added;
      if (lines.length > 0) added.set(path, new Set(lines.map((line) => line.replace(/\r$/, ""))));
    }
    if (added.size === 0 || !["published", "unchanged"].includes(outcome.status)) return;
    const { reporter, host } = this;
    const columns = columnsOf(host.stderr);
    const found = await this.droppedIn(outcome.list, added);
    for (const line of found.slice(0, SHOWN))
      reporter.info(droppedText(line, reporter.style, columns));
    const more = found.length - SHOWN;
    if (more > 0) reporter.info(`  … ${countText(more, "dropped line")} more`);
  }

  private async droppedIn(
    list: string,
    added: ReadonlyMap<string, ReadonlySet<string>>,
  ): Promise<LineOfFate[]> {
    const { options, host } = this;
    try {
      const { file, record } = await openLastBuild(list, options, host);
      await file.close();
      const { files } = record.header;
      const own = files.filter(({ path }) => path !== undefined && added.has(path));
      const wanted = {
        fates: FATES_OF_RULES,
        sources: new Set(own.map(({ source }) => source)),
      };
      const found: LineOfFate[] = [];
      for await (const lines of fateLines(record, wanted, options.cacheDir, host))
        for (const line of lines)
          if (added.get(line.path ?? "")?.has(line.text ?? "") === true)
            found.push({ ...line, file: host.path.relative(host.cwd, line.path!) });
      return found;
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      this.reporter.info(`the fates of changed lines are not known: ${error.message}`);
      return [];
    }
  }

  private async textOf(path: string): Promise<Uint8Array> {
    return (await this.host.exists(path)) ? await this.host.readFile(path) : new Uint8Array(0);
  }
}

/** Shows the first rules and counts the rest. */
export function changedRulesText({ added, removed }: ChangedRules, style: Style): string {
  return [
    ...firstOf(added, "+").map((line) => style.good(line)),
    ...firstOf(removed, "−").map((line) => style.error(line)),
  ].join("\n");
}

function firstOf(rules: readonly string[], sign: string): string[] {
  return [
    ...rules.slice(0, SHOWN).map((rule) => `  ${sign} ${printable(rule, 120)}`),
    ...(rules.length > SHOWN ? [`  ${sign} and ${rules.length - SHOWN} more`] : []),
  ];
}

const MOST_CHANGES = 8;

/** A build as a Markdown section. A build without changes gets one line, so that no build seems to be missing. */
export function changelogSection(
  at: string,
  change: ListChange,
  before: RecordHeader | undefined,
  now: RecordHeader | undefined,
): string {
  const { added, removed, rulesNow } = change;
  const lines = [`\n## ${timestampText(at)}\n`];
  const sources = changedSources(before, now);
  if (isSame(change) && sources.length === 0)
    return `${lines.join("\n")}\nNothing changed: ${countText(rulesNow, "rule")}.\n`;
  lines.push(
    `${countText(rulesNow, "rule")}: ${numberText(added.length)} added, ${numberText(removed.length)} removed.\n`,
    ...sources,
    ...nameLine("Newly blocked", "blocked", change),
    ...nameLine("No longer blocked", "freed", change),
    ...sharesLine(change),
    ...change.files.map((file) => `- ${markdownText(fileText(file))}`),
  );
  return `${lines.join("\n")}\n`;
}

function nameLine(heading: string, kind: "blocked" | "freed", { changes }: ListChange): string[] {
  const names = changes.filter((change) => hasChange(change, kind));
  if (names.length === 0) return [];
  const shown = names
    .slice(0, MOST_CHANGES)
    .map(({ name, self }) => `${self === kind ? "" : "below "}${nameText(name)}`);
  const more =
    names.length > MOST_CHANGES ? ` and ${numberText(names.length - MOST_CHANGES)} more` : "";
  return [`- ${heading}: ${countText(names.length, "name")}, ${shown.join(", ")}${more}`];
}

function nameText(name: string): string {
  return `\`${printable(name, 80).replaceAll("`", "")}\``;
}

function sharesLine({ bySource }: ListChange): string[] {
  if (bySource.length === 0) return [];
  const shown = bySource
    .slice(0, MOST_CHANGES)
    .map(({ label, added, removed }) => `${markdownText(label)} +${added} −${removed}`);
  const more = bySource.length > MOST_CHANGES ? ` and ${bySource.length - MOST_CHANGES} more` : "";
  return [`- By source: ${shown.join(", ")}${more}`];
}

/** Sources that were added or removed, or whose state changed. */
function changedSources(before: RecordHeader | undefined, now: RecordHeader | undefined): string[] {
  if (before === undefined || now === undefined) return [];
  const old = new Map(before.sources.map((one) => [one.source, one]));
  const fresh = new Map(now.sources.map((one) => [one.source, one]));
  const came = now.sources.filter(({ source }) => !old.has(source));
  const went = before.sources.filter(({ source }) => !fresh.has(source));
  const worse = now.sources.filter(
    ({ source, state }) => isDegraded(state) && !isDegraded(old.get(source)?.state ?? state),
  );
  return [
    ...labelLine("New sources", came),
    ...labelLine("Removed sources", went),
    ...labelLine("Unavailable, replaced by cached copies or skipped", worse),
  ];
}

function labelLine(text: string, some: readonly { readonly label: string }[]): string[] {
  if (some.length === 0) return [];
  return [`- ${text}: ${some.map(({ label }) => markdownText(label)).join(", ")}`];
}

interface PlanView {
  readonly file: string;
  readonly report: CompileReport;
  readonly change: ListChange;
  readonly violations: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
  readonly isVerbose?: boolean;
  /** What changes for the queries of a log. */
  readonly traffic?: TrafficChange | undefined;
  readonly ranks?: RankedNames | undefined;
  readonly hold?: FoundHold | undefined;
}

/** Warnings that matter for the decision to publish. */
const SHOWN_WARNINGS: ReadonlySet<string> = new Set([
  "no-answer",
  "source-stale",
  "source-held",
  "source-dropped",
  "protected-names",
  "protected-blocked",
  "household-names",
  "suffix-blocked",
  "new-exceptions",
  "popular-blocked",
  "popular-kept",
  "breaks-traffic",
]);

/** A plan as text, in the order of a reviewer's questions: the target, the sources, the changes, and the guards. */
export function planText(view: PlanView, style: Style): string {
  const { file, report, change, violations, warnings } = view;
  const lines = [
    `${style.strong(printable(report.name))} → ${printable(file)}`,
    `  ${sourcesText(report, style)}`,
    ...changeLines(change, style, view.ranks),
    ...(view.traffic === undefined ? [] : trafficChangeLines(view.traffic, style, view.isVerbose)),
  ];
  // One line instead of one for each source.
  const isDown = warnings.some(({ code }) => code === "no-answer");
  const isSingle = ({ code }: Diagnostic): boolean =>
    isDown && (code === "source-stale" || code === "source-dropped");
  const shown = warnings.filter((one) => SHOWN_WARNINGS.has(one.code) && !isSingle(one));
  const said = [...shown, ...violations]
    .map((one) => renderDiagnostic(one, style, view.isVerbose))
    .join("");
  return `${lines.join("\n")}\n${said}${closing(view, style)}\n`;
}

function closing({ violations, change, report, hold }: PlanView, style: Style): string {
  if (hold !== undefined)
    return `${style.warning(holdText(report.name, hold))}; nothing would be published`;
  const codes = [...new Set(violations.map(({ code }) => code))];
  if (codes.length > 0)
    return `${style.error("would be refused")}; to publish once anyway: ${codes.map((code) => `--accept ${code}`).join(" ")}`;
  if (isSame(change)) return style.good("nothing to publish");
  return `${style.good("would be published")}${report.degraded ? ", degraded" : ""}`;
}

function sourcesText({ sources, decisions = [] }: CompileReport, style: Style): string {
  // The file of decisions is the last source.
  const own = decisions.length === 0 ? sources : sources.slice(0, -1);
  const counts = new Map<SourceState["kind"], number>();
  for (const { state } of own) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) =>
    isDegraded(state) ? style.warning(`${count} ${state}`) : `${count} ${state}`,
  );
  const more = decisions.length === 0 ? "" : " and decisions";
  return `${countText(own.length, "source")}${more}: ${states.join(", ")}`;
}

/** The plan for a pull request. */
export function planMarkdown(view: PlanView): string {
  const text = planText(view, NO_STYLE);
  // A fence that is longer than any in the text cannot be closed by it.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const verdict = verdictOf(view);
  return `### Plan: ${verdict}\n\n${fence}text\n${text}${fence}\n`;
}

function verdictOf({ hold, violations, change }: PlanView): string {
  if (hold !== undefined) return "held";
  if (violations.length > 0) return "would be refused";
  return isSame(change) ? "no change" : "changes";
}
