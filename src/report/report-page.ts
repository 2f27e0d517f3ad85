import { createHash } from "node:crypto";
import { momentText } from "../diagnostics/moment-text.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import type { ListStats } from "../explain/stats.ts";
import type { TrafficStats } from "../explain/traffic-stats.ts";
import { differenceText } from "../pages/difference-text.ts";
import { type Attention, attentionSection, figure, headline } from "../pages/headline.ts";
import { Html, html } from "../pages/html.ts";
import { growthCharts } from "../pages/line-chart.ts";
import { PAGE_STYLE } from "../pages/page-style.ts";
import { sizeText } from "../pages/size-text.ts";
import { table } from "../pages/table.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { LABELS } from "../explain/glossary.ts";
import { attentionOf } from "./attention.ts";
import { bars } from "./bars.ts";
import { changeSection, changeText } from "./change-section.ts";
import { fateFlow } from "./fate-flow.ts";
import { fateTable } from "./fate-table.ts";
import { heatmap } from "./heatmap.ts";
import type { LastChange } from "./last-change.ts";
import type { ListCondition } from "./list-condition.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import type { SearchIndex } from "./page-search.ts";
import { REPORT_STYLE } from "./report-style.ts";
import { sourceSection } from "./source-section.ts";
import { trafficSection } from "./traffic-section.ts";

export interface ReportView {
  readonly header: RecordHeader;
  readonly stats: ListStats;
  readonly parents: readonly { readonly name: string; readonly rules: number }[];
  /** The most popular names that it blocks; undefined without ranks. */
  readonly popular:
    | readonly { readonly rank: number; readonly name: string; readonly rule: string }[]
    | undefined;
  /** Kept builds, oldest first. */
  readonly history: readonly {
    readonly at: string;
    readonly rules: number;
    readonly bytes: number;
  }[];
  /** What changed since the build before; undefined for the first build. */
  readonly change: LastChange | undefined;
  readonly condition: ListCondition;
  readonly index: SearchIndex;
  /** The number of rules that the page cannot evaluate. */
  readonly untried: number;
  /** What the list does for the queries of logs. */
  readonly traffic?: TrafficStats | undefined;
}

const NOTHING =
  "Nothing. When this page was written, every source was available, no newer list was refused and the list was not held.";

const STYLE = PAGE_STYLE + REPORT_STYLE;

function cspHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** A self-contained page: it needs no network, no server and no other file. */
export function reportPage(view: ReportView): string {
  const { header, index } = view;
  const attention = attentionOf(view);
  const policy = `default-src 'none'; style-src ${cspHash(STYLE)}; script-src ${cspHash(PAGE_SCRIPT)}; base-uri 'none'; form-action 'none'`;
  // In a script element, only "</" and "<!--" are special.
  const data = JSON.stringify(index).replaceAll("<", "\\u003c");
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${header.name}: report</title>
        ${new Html(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <header>
          <h1>${header.name}</h1>
          <span class="faint"
            >Built ${momentText(header.builtAt)} by rules-compiler ${header.tool}</span
          >
        </header>
        <main>
          ${summary(view, attention)} ${changeSection(view.change)}
          ${attentionSection(attention, NOTHING)} ${search(view)}
          ${sourceSection(view.stats, view.change)} ${view.traffic && trafficSection(view.traffic)}
          ${details(view)}
        </main>
        ${new Html(`<script type="application/json" id="index">${data}</script><script>${PAGE_SCRIPT}</script>`)}
      </body>
    </html> `;
  return page.text;
}

/** Whether the list is healthy, what changed, and what needs attention. */
function summary(view: ReportView, attention: readonly Attention[]): Html {
  const { header, stats, change } = view;
  const { before } = change ?? {};
  const count = attention.length;
  const isBad = attention.some(({ tone }) => tone === "bad");
  const rules = before && `${differenceText(before.rules, header.rules)} since the last build`;
  const newest = header.sources.filter(({ label }) => !isNamed(before, label)).length;
  return headline({
    tone: count === 0 ? "good" : isBad ? "bad" : "warn",
    state: count === 0 ? "Healthy" : "Needs attention",
    sentence: sentenceOf(view, count),
    detail: count === 0 ? undefined : html`<a href="#attention">See what to look at</a>`,
    figures: [
      figure(LABELS.rules, numberText(header.rules), rules),
      ...changedNames(change),
      figure(
        "Sources",
        numberText(stats.sources.length),
        before === undefined || newest === 0 ? "" : `${numberText(newest)} new`,
      ),
      figure(LABELS.lines, numberText(header.lines)),
      figure("Size", sizeText(header.bytes)),
    ],
  });
}

function isNamed(before: RecordHeader | undefined, label: string): boolean {
  return before?.sources.some((one) => one.label === label) ?? false;
}

function sentenceOf({ header, change }: ReportView, attention: number): string {
  const todo =
    attention === 0
      ? "Nothing needs attention"
      : `${countText(attention, "thing needs", "things need")} attention`;
  if (change === undefined)
    return `${todo}. This is the first build, with ${countText(header.rules, "rule")}.`;
  const { rules, since, before } = change;
  const when = `since ${momentText(since)}`;
  if (rules === "same") return `${todo}. No rule changed ${when}.`;
  if (typeof rules === "object") return `${todo}. ${upperFirst(changeText(rules))} ${when}.`;
  const size = differenceText(before.rules, header.rules);
  return `${todo}. The number of rules changed by ${size} ${when}.`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function changedNames(change: LastChange | undefined): Html[] {
  const rules = change?.rules;
  if (typeof rules !== "object") return [];
  return [
    figure("Newly blocked", countText(rules.blocked.count, "name")),
    figure("No longer blocked", countText(rules.freed.count, "name")),
  ];
}

function search({ index, untried }: ReportView): Html {
  const names = index.groups.reduce((sum, { count }) => sum + count, 0);
  const chance = Math.round(2 ** index.bits / Math.max(1, names));
  return html`<section id="search-section" aria-labelledby="search-title">
    <h2 id="search-title">Is it blocked?</h2>
    <form id="search" role="search">
      <input
        id="name"
        name="name"
        type="text"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        placeholder="ads.example.com"
        aria-label="Domain name or URL"
      />
      <button>Check</button>
    </form>
    <p id="answer" role="status"></p>
    <p class="faint">
      The search needs no network connection. It covers ${countText(names, "name")} and
      ${countText(index.rules.length, "pattern")}. Names are stored as hashes: of names that are not
      in the list, about one in ${numberText(chance)} is shown as blocked by mistake. For an exact
      answer with every source line, run <code>rules-compiler why</code>.${
        untried === 0
          ? undefined
          : ` The page cannot evaluate ${countText(untried, "regular expression")}.`
      }
    </p>
  </section>`;
}

function popularSection(popular: ReportView["popular"]): Html | undefined {
  if (popular === undefined) return undefined;
  const rows = popular.map(
    ({ rank, name, rule }) =>
      html`<tr>
        <td>${name}</td>
        <td class="n" data-name="Rank">${numberText(rank)}</td>
        <td data-name="Rule"><code>${rule}</code></td>
      </tr>`,
  );
  return html`<h2>Most popular blocked names</h2>
    ${
      popular.length === 0
        ? html`<p class="faint">The list blocks none of the popular names.</p>`
        : table("Popular names", ["Name", "#Rank", "Rule"], rows)
    }`;
}

function details({ header, stats, parents, popular, history }: ReportView): Html {
  const { sources } = stats;
  const flows = header.sources.flatMap(({ kept, dropped }, from) => [
    { from, to: "kept", lines: kept },
    ...Object.entries(dropped).map(([to, lines]) => ({ from, to, lines })),
  ]);
  return html`<h2>What became of the lines</h2>
    ${
      header.sources.length < 2
        ? undefined
        : fateFlow(
            header.sources.map(({ label }) => label),
            flows,
          )
    }
    ${fateTable(header)}
    <h2>Overlap of sources</h2>
    ${
      sources.length < 2
        ? html`<p class="faint">The list has one source, which shares rules with no other.</p>`
        : html`<p class="faint">
              The percentage of the rules of the source in the row that the source in the column
              also has.
            </p>
            ${heatmap(
              sources.map(({ source }) => source),
              stats.overlap,
            )}`
    }
    <h2>Domains with the most rules</h2>
    ${
      parents.length === 0
        ? html`<p class="faint">No domain has more than one rule.</p>`
        : bars(
            "Rules by domain",
            parents.map(({ name, rules }) => ({ label: name, value: rules })),
          )
    }
    ${popularSection(popular)}
    <h2>Builds</h2>
    ${growthCharts(history, "build")}`;
}
