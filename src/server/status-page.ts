import { LABELS, fatesOfRules, isDegraded, lacksProof } from "../library/programs.ts";
import { countText, listCommandLine, numberText, timestampText } from "../diagnostics/text.ts";
import { VERSION } from "../diagnostics/version.ts";
import type { Health, HeldList, Problem, ResolverState, Run } from "../documents/facts.ts";
import {
  type Attention,
  type Html,
  attentionSection,
  conditionAttention,
  differenceText,
  figure,
  growthCharts,
  headline,
  html,
  htmlPage,
  percentText,
  sizeText,
  table,
} from "../pages/html.ts";
import { type History, problemsOf, sourcesOf } from "./history.ts";
import { type ListVersion, type RulesOf, publishedLists, sumOfRules } from "./served-lists.ts";
import { whyForm } from "./why.ts";

interface StatusView {
  readonly history: History;
  readonly health: Health;
  readonly lists: readonly ListVersion[];
  readonly rulesOf?: RulesOf;
  readonly now: number;
  readonly schedule: string;
  /** The served name of an output file. */
  readonly nameOf: (file: string) => string;
  /** File names of the reports. */
  readonly reports: readonly string[];
  /** Whom clients can ask about a name. */
  readonly asks: Parameters<typeof whyForm>[0];
}

const TONE = {
  healthy: "good",
  degraded: "warn",
  refused: "warn",
  starting: "warn",
  unhealthy: "bad",
} as const;
/** What an operator needs first: the health, what the last run changed, what needs attention; then lists, sources and runs. */
export function statusPage(view: StatusView): string {
  const { history, health, now } = view;
  const name = history.lastBuild?.name ?? "rules-compiler";
  const attention = attentionOf(view);
  const body = html`<header>
      <h1>${name}</h1>
      <span class="faint">rules-compiler ${VERSION}, ${timestampText(now)}</span>
      <nav aria-label="Other pages">
        ${hasOneReport(view) ? html`<a href="report">Report</a>` : undefined}
        <a href="health">Health</a> <a href="metrics">Metrics</a>
      </nav>
    </header>
    <main>
      ${summary(view, attention.length)} ${lastRunSection(history, now)}
      ${attentionSection(attention, NOTHING)}
      <h2>Is a name blocked?</h2>
      ${whyForm(view.asks)} ${listsSection(view)} ${resolversSection(health, now)}
      ${sourcesSection(history, now)} ${runsSection(history, now)}
    </main>`;
  return htmlPage(`${name}: ${health.status}`, body);
}

const NOTHING = "Nothing. Every source is available, and no list is refused or held.";

const SENTENCES = {
  healthy: ["Healthy", "The lists are up to date"],
  degraded: ["Degraded", "The lists are served, but something is missing"],
  refused: ["Refused", "The newest list was refused, and the previous one is served"],
  starting: ["Starting", "The first build is running"],
  unhealthy: ["Unhealthy", "Clients cannot rely on these lists"],
} as const;

function summary({ health, history, schedule, now, rulesOf }: StatusView, attention: number): Html {
  const { lastBuild } = history;
  const rules = lastBuild && sumOfRules(publishedLists(lastBuild, rulesOf));
  const [state, first] = SENTENCES[health.status];
  const todo =
    attention === 0
      ? "Nothing needs attention"
      : `${countText(attention, "thing needs", "things need")} attention`;
  const next = health.next === null ? undefined : Date.parse(health.next);
  return headline({
    tone: TONE[health.status],
    state,
    sentence: `${first}. ${todo}.`,
    detail: health.status === "healthy" ? undefined : sentence(health.reason),
    figures: [
      figure("Last successful build", agoText(health.lastSuccess, now)),
      figure(
        "Next run",
        health.running ? "running now" : next === undefined ? "not planned" : untilText(next, now),
        `${next === undefined ? "" : `${timestampText(next)}, `}schedule ${schedule}`,
      ),
      lastBuild?.lists === undefined
        ? figure(LABELS.rules, countOr(rules, "none yet"))
        : figure("Lists", numberText(lastBuild.lists.length)),
      figure(LABELS.lines, countOr(lastBuild?.lines, "none yet")),
    ],
  });
}

function countOr(count: number | undefined, otherwise: string): string {
  return count === undefined ? otherwise : numberText(count);
}

function hasOneReport({ history, reports }: StatusView): boolean {
  return history.lastBuild?.lists === undefined && reports.length > 0;
}

/** The number of rules per list, and of names per format output, by file name. */
function countsOf({ history, lists, nameOf, rulesOf }: StatusView): ReadonlyMap<string, number> {
  const { lastBuild, lastSuccess, runs } = history;
  const run = runs.findLast(({ at }) => at === lastSuccess);
  const end = run && Date.parse(run.at) + run.seconds * 1000;
  // Another process may have published a file since; how many names it has is in no state.
  const isOld = (file: string): boolean => {
    const version = lists.find(({ name }) => name === nameOf(file));
    return end === undefined || version === undefined || version.modified.getTime() > end;
  };
  return new Map([
    ...(lastBuild?.outputs ?? []).flatMap(({ file, names }) =>
      names === undefined || isOld(file) ? [] : [[nameOf(file), names] as const],
    ),
    ...publishedLists(lastBuild, rulesOf).map((one) => [nameOf(one.file), one.rules] as const),
  ]);
}

function urlPath(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** The link to the report of a list, if every list has one. */
function reportOf(file: string, { history, reports }: StatusView): Html | string {
  const name = file.replace(/\.txt$/, "");
  const hasReport = reports.includes(`${name}.report.html`);
  if (history.lastBuild?.lists === undefined || !hasReport) return "–";
  return html`<a href="report/${urlPath(name)}">report</a>`;
}

function faint(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<div class="faint">${text}</div>`;
}

function listsSection(view: StatusView): Html {
  const { lists, now, history } = view;
  if (lists.length === 0)
    return html`<h2>Lists</h2>
      <p class="faint">Lists appear here after the first successful build.</p>`;
  const counts = countsOf(view);
  const hasReports = history.lastBuild?.lists !== undefined;
  const rows = lists.map(({ name, size, modified, variants }) => {
    return html`<tr>
      <td><a href="rules/${urlPath(name)}">${name}</a></td>
      <td class="n" data-name="Rules">${countOr(counts.get(name), "–")}</td>
      <td class="n" data-name="Size">${sizeText(size)}</td>
      <td data-name="Published">${agoText(modified.toISOString(), now)}</td>
      <td data-name="Compressed">
        ${variants.flatMap(({ packing }) => packing ?? []).join(", ") || "no"}
      </td>
      ${hasReports ? html`<td data-name="Report">${reportOf(name, view)}</td>` : undefined}
    </tr>`;
  });
  const columns = ["File", "#Rules", "#Size", "Published", "Compressed"];
  return html`<h2>Lists</h2>
    ${table("Lists", hasReports ? [...columns, "Report"] : columns, rows)}`;
}

function resolversSection({ resolvers }: Health, now: number): Html | undefined {
  if (resolvers.length === 0) return undefined;
  const rows = resolvers.map((one) => resolverRow(one, now));
  const columns = ["Resolver", "Outcome", "List", "Build", "Asked", "Last proved", "#Latency"];
  return html`<h2>Resolvers</h2>
    ${table("Resolvers", columns, rows)}`;
}

function resolverRow(one: ResolverState, now: number): Html {
  const { resolver, list, outcome, detail, build, at, latencyMs, lastProved } = one;
  const tone = outcome === null ? "faint" : outcome === "proved" ? "good" : "bad";
  return html`<tr>
    <td>${resolver} ${faint(detail ?? undefined)}</td>
    <td data-name="Outcome" class="${tone}">${outcome ?? "not proved yet"}</td>
    <td data-name="List">${list}</td>
    <td data-name="Build"><code>${build ?? "–"}</code></td>
    <td data-name="Asked">${agoText(at, now)}</td>
    <td data-name="Last proved">${agoText(lastProved?.at ?? null, now)}</td>
    <td class="n" data-name="Latency">${latencyMs === null ? "–" : `${latencyMs} ms`}</td>
  </tr>`;
}

function sourcesSection(history: History, now: number): Html {
  const { goodAt } = history;
  const sources = sourcesOf(history);
  if (sources.length === 0)
    return html`<h2>Sources</h2>
      <p class="faint">Sources appear here after the first run that reads them.</p>`;
  const most = Math.max(1, ...sources.map(({ kept }) => kept));
  const rows = sources.map(({ label, source, state, lines, kept, dropped }) => {
    const reasons = fatesOfRules(dropped).map(([fate, count]) => `${fate} ${numberText(count)}`);
    const width = Math.max(0.2, (kept / most) * 100).toFixed(1);
    return html`<tr>
      <td>
        ${label}
        <div class="faint"><code>${source}</code></div>
      </td>
      <td data-name="State" class="${isDegraded(state) ? "bad" : "good"}">${state}</td>
      <td data-name="Last available">${agoText(goodAt[label] ?? null, now)}</td>
      <td class="n" data-name="${LABELS.lines}">${numberText(lines)}</td>
      <td class="n" data-name="${LABELS.kept}">
        ${numberText(kept)}<svg
          class="bar-box"
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect width="${width}" height="4" fill="currentColor" />
        </svg>
      </td>
      <td data-name="${LABELS.dropped}" class="faint whole">${reasons.join(", ") || "none"}</td>
    </tr>`;
  });
  return html`<h2>Sources</h2>
    ${table("Sources", ["Source", "State", "Last available", `#${LABELS.lines}`, `#${LABELS.kept}`, LABELS.dropped], rows)}`;
}

/** `5 minutes ago`, with the timestamp itself for machines and as a tooltip. */
function agoText(at: string | null, now: number): Html {
  if (at === null) return html`never`;
  const minutes = minutesBetween(Date.parse(at), now);
  const text = minutes < 1 ? "just now" : `${spanText(minutes)} ago`;
  return html`<time datetime="${at}" title="${at}">${text}</time>`;
}

/** `in 5 minutes`. */
function untilText(timestamp: number, now: number): string {
  const minutes = minutesBetween(now, timestamp);
  return minutes < 1 ? "now" : `in ${spanText(minutes)}`;
}

function minutesBetween(start: number, end: number): number {
  return Math.max(0, Math.round((end - start) / 60_000));
}

function spanText(minutes: number): string {
  if (minutes < 120) return countText(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return hours < 48 ? countText(hours, "hour") : countText(Math.round(hours / 24), "day");
}

/** Runs in the table; the charts show the whole history. */
const SHOWN_RUNS = 20;

const OUTCOME_TONE = {
  published: "good",
  unchanged: "faint",
  refused: "bad",
  failed: "bad",
  stopped: "warn",
} as const;

/** What the last run changed. */
function lastRunSection({ runs }: History, now: number): Html {
  return html`<h2>What changed</h2>
    <p>${lastRunText(runs, now)}</p>`;
}

function lastRunText(runs: readonly Run[], now: number): Html {
  const last = runs.at(-1);
  if (last === undefined) return html`Changes appear here after the first run.`;
  const when = html`The last run, ${agoText(last.at, now)},`;
  if (last.outcome === "refused") return html`${when} was refused: nothing was published.`;
  if (last.outcome === "failed") return html`${when} failed: nothing was published.`;
  if (last.outcome === "stopped") return html`${when} was stopped: nothing was published.`;
  const { rules = 0 } = last;
  if (last.outcome === "unchanged")
    return html`${when} changed nothing. The list still has ${countText(rules, "rule")}.`;
  const before = runs.slice(0, -1).findLast((run) => run.rules !== undefined)?.rules;
  const published = html`${when} published ${countText(rules, "rule")}`;
  if (before === undefined) return html`${published}. Changes appear here after the second run.`;
  if (before === rules) return html`${published}, as many as the run before.`;
  return html`${published}: ${differenceText(before, rules)} since the run before
  (${percentText(before, rules)}).`;
}

/** The growth of the list, and the last runs. */
function runsSection({ runs, lastRefusal }: History, now: number): Html {
  if (runs.length === 0)
    return html`<h2>Runs</h2>
      <p class="faint">Runs appear here when the first one has ended.</p>`;
  const states = runs.map((run) => ({
    ...run,
    mark: run.outcome === "refused" || run.outcome === "failed" ? ("bad" as const) : undefined,
  }));
  const rows = runs
    .slice(-SHOWN_RUNS)
    .toReversed()
    .map((run) => runRow(run, now));
  const over = lastRefusal?.isOver === true ? lastRefusal : undefined;
  return html`<h2>Runs</h2>
    ${
      over?.problem &&
      html`<p class="faint">
        The last refusal was ${agoText(over.at, now)}, and a build has succeeded since:
        ${over.problem.message}
      </p>`
    }
    ${growthCharts(states, "run")}
    ${table("Runs", ["When", "Outcome", "Started by", "#Duration", "#Rules", "Problem"], rows)}`;
}

function runRow(
  { at, trigger, outcome, seconds, rules, problem, degraded }: Run,
  now: number,
): Html {
  return html`<tr>
    <td>${agoText(at, now)}</td>
    <td data-name="Outcome" class="${OUTCOME_TONE[outcome]}">
      ${outcome}${degraded === true ? ", degraded" : ""}
    </td>
    <td data-name="Started by">${trigger}</td>
    <td class="n" data-name="Duration">${seconds.toFixed(1)} s</td>
    <td class="n" data-name="Rules">${rules === undefined ? "–" : numberText(rules)}</td>
    <td data-name="Problem" class="faint whole">${problem?.message}</td>
  </tr>`;
}

/** What an operator should look at, the most important first. Never empty if clients cannot rely on the lists. */
function attentionOf(view: StatusView): Attention[] {
  const { isHealthy, status, reason } = view.health;
  const found = problemsIn(view);
  if (isHealthy || status === "starting" || found.length > 0) return found;
  return [{ tone: "bad", title: "The lists are not up to date", details: [sentence(reason)] }];
}

/** A reason as a sentence. */
function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}

function problemsIn({ history, health, now, asks }: StatusView): Attention[] {
  return [
    ...failureAttention(history, now),
    ...refusalAttention(history, now),
    ...health.held.map((one) => heldAttention(one, asks.listNames.length > 1, now)),
    ...health.conditions.map(conditionAttention),
    ...health.resolvers.filter(lacksProof).map(({ resolver, list, outcome, detail }) => ({
      tone: "warn" as const,
      title: `The resolver ${resolver} is not proved to answer from ${list}`,
      details: [`Outcome: ${outcome ?? "none"}${detail === null ? "" : `: ${detail}`}`],
    })),
  ];
}

function failureAttention({ runs }: History, now: number): Attention[] {
  const last = runs.at(-1);
  if (last === undefined || last.outcome !== "failed") return [];
  return [{ tone: "bad", title: "The last run failed", details: causesOf(last, now) }];
}

function refusalAttention({ lastRefusal }: History, now: number): Attention[] {
  if (lastRefusal?.problem === undefined || lastRefusal.isOver === true) return [];
  const title = "The last list was refused; the previous one is served";
  return [{ tone: "warn", title, details: causesOf(lastRefusal, now) }];
}

function causesOf(run: Run, now: number): Html[] {
  const causes = problemsOf(run).flatMap(({ code, message, at, cause, hint }: Problem) => [
    html`${message} <span class="faint">(<code>${code}</code>, ${agoText(run.at, now)})</span>`,
    ...(at === undefined ? [] : [html`<code>${at}</code>`]),
    ...(cause === undefined ? [] : [html`Because: ${cause}`]),
    ...(hint === undefined ? [] : [html`Hint: ${hint}`]),
  ]);
  return causes;
}

function heldAttention(
  { list, since, by, build }: HeldList,
  isOneOfSeveral: boolean,
  now: number,
): Attention {
  const what =
    since === null || build === null
      ? "Its state cannot be read."
      : html`It stays at the build of ${timestampText(build)}, held ${agoText(since, now)} by
        ${by ?? "unknown"}.`;
  const end = html`Runs publish nothing until
    <code>${listCommandLine("hold --end", isOneOfSeveral ? list : undefined)}</code>`;
  return { tone: "warn", title: `${list} is held at an earlier build`, details: [what, end] };
}
