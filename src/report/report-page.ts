import { createHash } from "node:crypto";
import { VERSION } from "../diagnostics/version.ts";
import { momentText } from "../diagnostics/moment-text.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import type { ListStats } from "../explain/stats.ts";
import type { TrafficStats } from "../explain/traffic-stats.ts";
import { Html, html, labelled } from "../pages/html.ts";
import { growthCharts } from "../pages/line-chart.ts";
import { PAGE_STYLE } from "../pages/page-style.ts";
import { table } from "../pages/table.ts";
import type { RecordHeader } from "../record/record-format.ts";
import { bars } from "./bars.ts";
import { fateFlow } from "./fate-flow.ts";
import { heatmap } from "./heatmap.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import type { SearchIndex } from "./page-search.ts";
import { REPORT_STYLE } from "./report-style.ts";
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
  readonly index: SearchIndex;
  /** The number of rules that the page cannot evaluate. */
  readonly untried: number;
  /** What the list does for the queries of logs. */
  readonly traffic?: TrafficStats | undefined;
}

const STYLE = PAGE_STYLE + REPORT_STYLE;

function cspHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** A self-contained page: it needs no network, no server and no other file. */
export function reportPage(view: ReportView): string {
  const { header, index } = view;
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
          <span class="faint">rules-compiler ${VERSION}, built ${momentText(header.builtAt)}</span>
        </header>
        <main>
          ${summary(view)} ${search(view)} ${view.traffic && trafficSection(view.traffic)}
          ${sections(view)}
        </main>
        ${new Html(`<script type="application/json" id="index">${data}</script><script>${PAGE_SCRIPT}</script>`)}
      </body>
    </html> `;
  return page.text;
}

function summary({ header, stats }: ReportView): Html {
  return html`<section class="card" aria-label="Summary">
    <dl>
      ${labelled("Rules", numberText(header.rules))}
      ${labelled("Lines read", numberText(header.lines))}
      ${labelled("Sources", numberText(stats.sources.length))}
      ${labelled("Smallest set of sources that yields every rule", numberText(stats.cover.sources.length))}
      ${labelled("Size", `${numberText(Math.round(header.bytes / 1000))} kB`)}
    </dl>
  </section>`;
}

function search({ index, untried }: ReportView): Html {
  const names = index.groups.reduce((sum, { count }) => sum + count, 0);
  const chance = Math.round(2 ** index.bits / Math.max(1, names));
  return html`<h2>Is it blocked?</h2>
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
      This page searches ${countText(names, "name")} and ${countText(index.rules.length, "pattern")}
      without a network connection. It stores names as hashes: about one in ${numberText(chance)}
      names that are not in the list is reported as blocked by mistake. For an exact answer with
      every source line, run rules-compiler
      why.${
        untried === 0
          ? undefined
          : ` The page cannot evaluate ${countText(untried, "regular expression")}.`
      }
    </p>`;
}

function popularSection(popular: ReportView["popular"]): Html | undefined {
  if (popular === undefined) return undefined;
  const rows = popular.map(
    ({ rank, name, rule }) =>
      html`<tr>
        <td class="n" data-name="rank">${numberText(rank)}</td>
        <td data-name="name">${name}</td>
        <td data-name="rule">${rule}</td>
      </tr>`,
  );
  return html`<h2>Most popular names that are blocked</h2>
    ${
      popular.length === 0
        ? html`<p class="faint">It blocks none of the popular names.</p>`
        : table("Popular names", ["#rank", "name", "rule"], rows)
    }`;
}

function sections({ header, stats, parents, popular, history }: ReportView): Html {
  const { sources } = stats;
  const byRules = sources.toSorted((a, b) => b.rules - a.rules);
  const flows = header.sources.flatMap(({ kept, dropped }, from) => [
    { from, to: "in the list", lines: kept },
    ...Object.entries(dropped).map(([to, lines]) => ({ from, to, lines })),
  ]);
  return html`<h2>Rules by source</h2>
    <p class="faint">
      The rules of the list that each source has. The darker part has no other source.
    </p>
    ${bars(
      "Rules by source",
      byRules.map(({ source, rules, unique }) => ({ label: source, value: rules, part: unique })),
      "unique",
    )}
    <h2>Fates of the lines</h2>
    ${fateFlow(
      header.sources.map(({ label }) => label),
      flows,
    )}
    ${sourceTable(stats)}
    <h2>Overlap of sources</h2>
    <p class="faint">
      The percentage of the rules of the source in the row that the source in the column also has.
    </p>
    ${heatmap(
      sources.map(({ source }) => source),
      stats.overlap,
    )}
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
    ${growthCharts(history)}`;
}

function sourceTable({ sources }: ListStats): Html {
  const rows = sources.map(
    ({ source, state, lines, rejectedLines, duplicate, covered, rules, unique }) => {
      const numbers = {
        lines,
        rejected: rejectedLines,
        duplicate,
        covered,
        rules,
        unique,
      };
      return html`<tr>
        <td>${source}</td>
        <td data-name="state">${state}</td>
        ${Object.entries(numbers).map(([name, value]) => html`<td class="n" data-name="${name}">${numberText(value)}</td>`)}
      </tr>`;
    },
  );
  return table(
    "Sources",
    ["source", "state", "#lines", "#rejected", "#duplicate", "#covered", "#rules", "#unique"],
    rows,
  );
}
