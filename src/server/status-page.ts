import { VERSION } from "../diagnostics/version.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { attentionSection, figure, headline } from "../pages/headline.ts";
import { type Html, html } from "../pages/html.ts";
import { htmlPage } from "../pages/html-page.ts";
import { sizeText } from "../pages/size-text.ts";
import { table } from "../pages/table.ts";
import type { ResolverState } from "../resolvers/last-proofs.ts";
import { isDegraded } from "../sources/source-state.ts";
import { LABELS, fatesOfRules } from "../explain/glossary.ts";
import { agoText, untilText } from "./ago-text.ts";
import type { Health } from "./health.ts";
import { rulesOf } from "./held-list.ts";
import { type History, sourcesOf } from "./history.ts";
import type { ListVersion } from "./list-version.ts";
import { lastRunSection, runsSection } from "./run-sections.ts";
import { attentionOf, sentence } from "./status-attention.ts";
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
      <span class="faint">rules-compiler ${VERSION}, ${momentText(now)}</span>
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

function summary({ health, history, schedule, now }: StatusView, attention: number): Html {
  const { lastBuild } = history;
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
    detail: sentence(health.reason),
    figures: [
      figure("Last successful build", agoText(health.lastSuccess, now)),
      figure(
        "Next run",
        health.running ? "running now" : next === undefined ? "not planned" : untilText(next, now),
        `${next === undefined ? "" : `${momentText(next)}, `}schedule ${schedule}`,
      ),
      lastBuild?.lists === undefined
        ? figure(LABELS.rules, countOr(lastBuild?.rules, "none yet"))
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
  const columns = ["Resolver", "Outcome", "List", "Build", "Last proved", "#Latency"];
  return html`<h2>Resolvers</h2>
    ${table("Resolvers", columns, rows)}`;
}

function resolverRow(one: ResolverState, now: number): Html {
  const { resolver, list, outcome, detail, build, latencyMs, lastProved } = one;
  const tone = outcome === null ? "faint" : outcome === "proved" ? "good" : "bad";
  return html`<tr>
    <td>${resolver} ${faint(detail ?? undefined)}</td>
    <td data-name="Outcome" class="${tone}">${outcome ?? "not proved yet"}</td>
    <td data-name="List">${list}</td>
    <td data-name="Build"><code>${build ?? "–"}</code></td>
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
