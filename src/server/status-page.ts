import { releaseCommand } from "../build/state/hold.ts";
import { VERSION } from "../diagnostics/version.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { numberText } from "../diagnostics/number-text.ts";
import { table } from "../pages/table.ts";
import type { ResolverState } from "../resolvers/last-proofs.ts";
import { isDegraded } from "../sources/acquire.ts";
import type { Health } from "./health.ts";
import { type HeldList, rulesOf } from "./held-list.ts";
import { type History, type Problem, problemsOf, sourcesOf } from "./history.ts";
import { growthCharts } from "../pages/line-chart.ts";
import { Html, html, labelled } from "../pages/html.ts";
import type { ListVersion } from "./list-version.ts";
import { htmlPage } from "../pages/html-page.ts";
import { whyForm } from "./why-page.ts";

export interface StatusView {
  readonly history: History;
  readonly health: Health;
  readonly lists: readonly ListVersion[];
  readonly now: number;
  readonly schedule: string;
  /** The served name of an output file. */
  readonly nameOf: (file: string) => string;
  /** File names of the reports. */
  readonly reports: readonly string[];
  /** Whom clients can ask about a name. */
  readonly asks: Parameters<typeof whyForm>[0];
}

/** Runs in the table; the charts show the whole history. */
const SHOWN_RUNS = 20;

const TONE = {
  healthy: "good",
  degraded: "warn",
  refused: "warn",
  starting: "warn",
  unhealthy: "bad",
} as const;
const OUTCOME_TONE = {
  published: "good",
  unchanged: "faint",
  refused: "bad",
  failed: "bad",
  stopped: "warn",
} as const;

/** What an operator needs first: the health and its reason, the last refusal, then lists, sources and runs. */
export function statusPage(view: StatusView): string {
  const { history, health, now } = view;
  const name = history.lastBuild?.name ?? "rules-compiler";
  const body = html`<header>
      <h1>${name}</h1>
      <span class="faint">rules-compiler ${VERSION}, ${momentText(now)}</span>
    </header>
    <main>
      ${stateCard(view)} ${health.held.map((one) => heldCard(one, view))}
      ${refusalCard(history, now)} ${whyForm(view.asks)} ${listsSection(view)}
      ${resolversSection(health, now)} ${sourcesSection(history, now)}
      ${historySection(history, now)}
      <p class="faint">
        ${hasOneReport(view) ? html`<a href="report">report of the last build</a>, ` : undefined}
        <a href="health">health</a>, <a href="metrics">metrics</a>
      </p>
    </main>`;
  return htmlPage(`${name}: ${health.status}`, body);
}

function stateCard({ health, history, schedule, now }: StatusView): Html {
  const { lastBuild } = history;
  return html`<section class="card" aria-label="State">
    <div class="state ${TONE[health.status]}">${health.status}</div>
    <div>${health.reason}</div>
    <dl>
      ${labelled("Last successful build", agoText(health.lastSuccess, now))}
      ${labelled("Next run", health.running ? "running now" : health.next === null ? "–" : momentText(Date.parse(health.next)))}
      ${labelled("Schedule", html`<code>${schedule}</code>`)}
      ${
        lastBuild?.lists === undefined
          ? labelled("Rules", countOrDash(lastBuild?.rules))
          : labelled("Lists", countOrDash(lastBuild.lists.length))
      }
      ${labelled("Lines read", countOrDash(lastBuild?.lines))}
    </dl>
  </section>`;
}

function countOrDash(count: number | undefined): string {
  return count === undefined ? "–" : numberText(count);
}

function hasOneReport({ history, reports }: StatusView): boolean {
  return history.lastBuild?.lists === undefined && reports.length > 0;
}

/** The number of rules per list, and of names per format output, by file name. */
function countsOf({
  history: { lastBuild },
  health,
  nameOf,
}: StatusView): ReadonlyMap<string, number> {
  if (lastBuild === undefined) return new Map();
  const { lists, outputs, name, rules } = lastBuild;
  const main = lists ?? outputs.slice(0, 1).map(({ file }) => ({ file, name, rules }));
  return new Map([
    ...outputs.flatMap(({ file, names }) =>
      names === undefined ? [] : [[nameOf(file), names] as const],
    ),
    ...main.map((one) => [nameOf(one.file), rulesOf(one, health.held)] as const),
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

function refusalCard({ lastRefusal, lastSuccess }: History, now: number): Html | undefined {
  if (lastRefusal?.problem === undefined) return undefined;
  const { at } = lastRefusal;
  const isOver = lastSuccess !== undefined && Date.parse(lastSuccess) > Date.parse(at);
  return html`<section class="card" aria-label="Last refusal">
    <div class="${isOver ? "faint" : "bad"}">
      <b
        >${isOver ? "Last refusal (resolved)" : "The last list was refused; the previous one is served"}</b
      >
    </div>
    ${problemsOf(lastRefusal).map((one) => causeText(one, at, now))}
  </section>`;
}

function heldCard({ list, since, by, build }: HeldList, { asks, now }: StatusView): Html {
  const isOneOfSeveral = asks.listNames.length > 1;
  return html`<section class="card" aria-label="Held list">
    <div class="warn"><b>${list} is held at an earlier build</b></div>
    <div>
      ${
        since === null || build === null
          ? "Its state cannot be read"
          : html`The build of ${momentText(build)}, held ${agoText(since, now)} by
            ${by ?? "unknown"}`
      }
    </div>
    <div class="faint">
      Runs publish nothing until <code>${releaseCommand(isOneOfSeveral ? list : undefined)}</code>
    </div>
  </section>`;
}

function faint(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<div class="faint">${text}</div>`;
}

function causeText({ code, message, at, cause, hint }: Problem, when: string, now: number): Html {
  return html`<div><code>${code}</code> ${agoText(when, now)}: ${message}</div>
    ${at === undefined ? undefined : html`<div><code>${at}</code></div>`} ${faint(cause)}
    ${faint(hint)}`;
}

function listsSection(view: StatusView): Html {
  const { lists, now, history } = view;
  const counts = countsOf(view);
  const hasReports = history.lastBuild?.lists !== undefined;
  const rows = lists.map(({ name, size, modified, variants }) => {
    return html`<tr>
      <td><a href="rules/${urlPath(name)}">${name}</a></td>
      <td class="n" data-name="rules">${countOrDash(counts.get(name))}</td>
      <td class="n" data-name="bytes">${numberText(size)}</td>
      <td data-name="published">${agoText(modified.toISOString(), now)}</td>
      <td data-name="compressed">
        ${variants.flatMap(({ packing }) => packing ?? []).join(", ") || "–"}
      </td>
      ${hasReports ? html`<td data-name="report">${reportOf(name, view)}</td>` : undefined}
    </tr>`;
  });
  const columns = ["file", "#rules", "#bytes", "published", "compressed"];
  return html`<h2>Lists</h2>
    ${table("Lists", hasReports ? [...columns, "report"] : columns, rows)}`;
}

function resolversSection({ resolvers }: Health, now: number): Html | undefined {
  if (resolvers.length === 0) return undefined;
  const rows = resolvers.map((one) => resolverRow(one, now));
  const columns = ["resolver", "outcome", "list", "build", "last proved", "#latency"];
  return html`<h2>Resolvers</h2>
    ${table("Resolvers", columns, rows)}`;
}

function resolverRow(one: ResolverState, now: number): Html {
  const { resolver, list, outcome, detail, build, latencyMs, lastProved } = one;
  const tone = outcome === null ? "faint" : outcome === "proved" ? "good" : "bad";
  return html`<tr>
    <td>${resolver} ${faint(detail ?? undefined)}</td>
    <td data-name="outcome" class="${tone}">${outcome ?? "not proved yet"}</td>
    <td data-name="list">${list}</td>
    <td data-name="build"><code>${build ?? "–"}</code></td>
    <td data-name="last proved">${agoText(lastProved?.at ?? null, now)}</td>
    <td class="n" data-name="latency">${latencyMs === null ? "–" : `${latencyMs} ms`}</td>
  </tr>`;
}

function sourcesSection(history: History, now: number): Html | undefined {
  const { goodAt } = history;
  const sources = sourcesOf(history);
  if (sources.length === 0) return undefined;
  const most = Math.max(1, ...sources.map(({ kept }) => kept));
  const rows = sources.map(({ label, source, state, lines, kept, dropped }) => {
    const reasons = Object.entries(dropped)
      .toSorted(([, a], [, b]) => b - a)
      .map(([reason, count]) => `${reason} ${numberText(count)}`);
    const width = Math.max(0.2, (kept / most) * 100).toFixed(1);
    return html`<tr>
      <td>
        ${label}
        <div class="faint"><code>${source}</code></div>
      </td>
      <td data-name="state" class="${isDegraded(state) ? "bad" : "good"}">${state}</td>
      <td data-name="last available">${agoText(goodAt[label] ?? null, now)}</td>
      <td class="n" data-name="lines">${numberText(lines)}</td>
      <td class="n" data-name="kept">
        ${numberText(kept)}<svg
          class="bar-box"
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect width="${width}" height="4" fill="currentColor" />
        </svg>
      </td>
      <td data-name="dropped" class="faint">${reasons.join(", ") || "none"}</td>
    </tr>`;
  });
  return html`<h2>Sources</h2>
    ${table("Sources", ["source", "state", "last available", "#lines", "#kept", "dropped"], rows)}`;
}

function historySection({ runs }: History, now: number): Html {
  const states = runs.map((run) => ({
    ...run,
    mark: run.outcome === "refused" || run.outcome === "failed" ? ("bad" as const) : undefined,
  }));
  const rows = runs
    .slice(-SHOWN_RUNS)
    .toReversed()
    .map(
      ({ at, trigger, outcome, seconds, rules, problem, degraded }) =>
        html`<tr>
          <td>${agoText(at, now)}</td>
          <td data-name="outcome" class="${OUTCOME_TONE[outcome]}">
            ${outcome}${degraded === true ? ", degraded" : ""}
          </td>
          <td data-name="trigger">${trigger}</td>
          <td class="n" data-name="seconds">${seconds.toFixed(1)}</td>
          <td class="n" data-name="rules">${countOrDash(rules)}</td>
          <td data-name="problem" class="faint">${problem?.message ?? "–"}</td>
        </tr>`,
    );
  return html`<h2>Runs</h2>
    ${growthCharts(states)}
    ${table("Runs", ["when", "outcome", "trigger", "#seconds", "#rules", "problem"], rows)}`;
}

function agoText(at: string | null, now: number): Html {
  if (at === null) return html`never`;
  const minutes = Math.max(0, Math.round((now - Date.parse(at)) / 60_000));
  const text =
    minutes < 1
      ? "just now"
      : minutes < 120
        ? `${minutes} min ago`
        : minutes < 2880
          ? `${Math.round(minutes / 60)} h ago`
          : `${Math.round(minutes / 1440)} days ago`;
  return html`<time datetime="${at}" title="${at}">${text}</time>`;
}
