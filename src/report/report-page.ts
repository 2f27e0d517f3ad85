import type {
  ListBesideOthers,
  Change,
  ListStats,
  SourceStats,
  TrafficStats,
} from "../documents/facts.ts";
import { createHash } from "node:crypto";
import { type PublishedBuild, keptStates } from "../builder/state/kept-builds.ts";
import { equalBytes } from "../bytes/text.ts";
import { countText, timestampText, numberText, someOf } from "../diagnostics/text.ts";
import { changedText } from "../explain/list-change.ts";
import { FATE_ENTRIES, LABELS, byRank } from "../explain/glossary.ts";
import { type ListChange, listChange, namesWith, rankOfChange } from "../explain/list-change.ts";
import type { AliveStats } from "../documents/facts.ts";
import type { Host } from "../host/host.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import {
  type Attention,
  Html,
  PAGE_STYLE,
  attentionSection,
  differenceText,
  figure,
  growthCharts,
  headline,
  html,
  sizeText,
  table,
  tableOf,
} from "../pages/html.ts";
import type { RecordHeader } from "../record/build-record.ts";
import { headerOf, keptBuilds, timestampOf } from "../record/record-file.ts";
import type { FateName } from "../rules/fate.ts";
import { type ListCondition, attentionOf } from "./attention.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import type { SearchIndex } from "./page-search.ts";

/** Each source of the overlap with its cells below it, in as many lines as they need. */
function wrappedStyle(rows: string): string {
  return (
    `${rows} thead{display:none}${rows} tr{display:flex;flex-wrap:wrap;margin-bottom:.75rem;border:0}` +
    `${rows} th[scope=row]{flex:0 0 100%;max-width:none;white-space:normal;overflow-wrap:anywhere}` +
    `${rows} td,${rows} td:first-child{display:block;flex:0 0 4.2rem;text-align:right}${rows} td::before{content:attr(data-name) ": ";display:inline;float:left}`
  );
}

/** The style of the report, in addition to the style of all pages. */
const REPORT_STYLE: string = `
#answer{min-height:1.5em;font-weight:600;overflow-wrap:anywhere;margin:.5rem 0 0}
#answer.blocked{color:var(--bad)}#answer.allowed{color:var(--good)}#answer.rewritten{color:var(--warn)}
ul.bars{list-style:none;margin:.5rem 0;padding:0;columns:22rem;column-gap:2rem}ul.bars li{break-inside:avoid}
ul.names{margin:0;padding:0;list-style:none;overflow-wrap:anywhere}ul.names li{padding:.2rem 0;border-bottom:1px solid var(--line)}ul.names .faint{font-size:.85rem;margin-left:.25rem}
ul.bars li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 1rem;padding:.2rem 0}
ul.bars .name{overflow-wrap:anywhere}ul.bars .number{text-align:right;font-variant-numeric:tabular-nums}
ul.bars svg{grid-column:1/-1;height:.5rem;border:0}
rect.whole{fill:var(--blue);opacity:.4}rect.part{fill:var(--blue)}
.flow svg{height:auto;border:0}.flow text{font-size:12px;fill:var(--ink)}
.band{fill:none;stroke:var(--faint);opacity:.25}.good-band{stroke:var(--good);opacity:.45}
rect.node{fill:var(--faint)}rect.kept{fill:var(--good)}
table.heat td,table.heat th{overflow-wrap:normal;white-space:nowrap;padding:.15rem .35rem;text-align:right;border:1px solid var(--line)}
table.heat th[scope=row]{text-align:left;white-space:nowrap;max-width:18rem;overflow:hidden;text-overflow:ellipsis;color:var(--ink)}
table.heat td::before{content:none}table.heat .self{color:var(--faint)}
${Array.from({ length: 10 }, (_, step) => `.h${step}{background:color-mix(in srgb,var(--blue) ${step * 5}%,var(--ground))}`).join("")}
@media (max-width:40rem){.flow{display:none}table.heat th[scope=row]{max-width:8rem}table.heat thead{display:table-header-group}table.heat tr{display:table-row}table.heat td,table.heat td:first-child,table.heat th{display:table-cell;font-weight:400;overflow-wrap:normal;white-space:nowrap;padding:.15rem .35rem;border:1px solid var(--line)}table.heat thead th:first-child{max-width:8rem;white-space:normal}${wrappedStyle("table.wide")}}
${wrappedStyle("table.wider")}
@media print{#search-section{display:none}table.heat{font-size:8pt}}
`;

export interface ReportView {
  readonly header: RecordHeader;
  readonly stats: ListStats;
  /** All lists of the configuration, if there are several. */
  readonly beside?: readonly ListBesideOthers[] | undefined;
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
  /** Which names exist, if that was observed. */
  readonly alive?: AliveStats | undefined;
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
            >Built ${timestampText(header.builtAt)} by rules-compiler ${header.tool}</span
          >
        </header>
        <main>
          ${summary(view, attention)} ${changeSection(view.change)}
          ${attentionSection(attention, NOTHING)} ${search(view)}
          ${sourceSection(view.stats, view.change)} ${view.traffic && trafficSection(view.traffic)}
          ${view.alive && aliveSection(view.alive)} ${details(view)}
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
  const when = `since ${timestampText(since)}`;
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
  const chance = 10 ** Math.floor(Math.log10(2 ** index.bits / Math.max(1, names)));
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
      in the list, fewer than one in ${numberText(chance)} are shown as blocked by mistake. For an
      exact answer with every source line, run <code>rules-compiler why</code>.${
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

function details({ header, stats, beside, parents, popular, history }: ReportView): Html {
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
              "source",
              sources.map(({ label }) => label),
              stats.overlap,
            )}`
    }
    ${beside === undefined ? undefined : matrixSection(beside)}
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

interface Bar {
  readonly label: string;
  readonly value: number;
  /** A part of the value, drawn darker. */
  readonly part?: number;
}

/** A bar chart. The numbers are text, so that they can be read without the picture. */
function bars(label: string, rows: readonly Bar[], partName?: string): Html {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const width = (value: number): string => ((value / most) * 100).toFixed(2);
  const items = rows.map(
    ({ label: name, value, part }) =>
      html`<li>
        <span class="name">${name}</span>
        <span class="number"
          >${numberText(value)}${part === undefined ? undefined : html`<span class="faint">, ${partName} ${numberText(part)}</span>`}</span
        >
        <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect class="whole" width="${width(value)}" height="4" />
          ${part === undefined ? undefined : html`<rect class="part" width="${width(part)}" height="4" />`}
        </svg>
      </li>`,
  );
  return html`<ul class="bars" aria-label="${label}">
    ${items}
  </ul>`;
}

/** Sources in the table; the rest are counted. */
const MOST_SOURCES = 20;

/** `25 rules were added and 3 removed`. */
function changeText({ added, removed }: RuleChange): string {
  if (added === 0) return `${countText(removed, "rule was", "rules were")} removed`;
  const text = `${countText(added, "rule was", "rules were")} added`;
  return removed === 0 ? text : `${text} and ${numberText(removed)} removed`;
}

/** What changed since the build before. */
export function changeSection(change: LastChange | undefined): Html {
  return html`<h2>What changed</h2>
    ${change === undefined ? html`<p class="faint">Changes appear here after the second build.</p>` : changes(change)}`;
}

function changes({ since, rules, before }: LastChange): Html {
  const when = timestampText(since);
  if (rules === "same")
    return html`<p>
      No rule changed since the build of ${when}. The list still has
      ${countText(before.rules, "rule")}.
    </p>`;
  if (rules === "unreadable")
    return html`<p>
      The list of the build of ${when} cannot be read, so that rules were not compared. It had
      ${countText(before.rules, "rule")}.
    </p>`;
  if (rules === "too-large")
    return html`<p>
      The build of ${when} had ${countText(before.rules, "rule")}. This page does not compare the
      rules of large lists. To compare them: <code>rules-compiler diff @1 @0</code>
    </p>`;
  return html`<p>Since the build of ${when}, ${changeText(rules)}.</p>
    <div class="columns">
      ${namesSection("Newly blocked", "No name is newly blocked.", rules.blocked)}
      ${namesSection("No longer blocked", "Every name that was blocked still is.", rules.freed)}
    </div>
    ${
      rules.patterns === 0
        ? undefined
        : html`<p class="faint">
            ${countText(rules.patterns, "changed pattern was", "changed patterns were")} compared by
            the names in both lists only, because patterns match names without end.
          </p>`
    }
    ${sourcesTable(rules)}`;
}

function namesSection(title: string, nothing: string, { count, shown }: ShownNames): Html {
  if (count === 0)
    return html`<div>
      <h3>${title}</h3>
      <p class="faint">${nothing}</p>
    </div>`;
  const more = count - shown.length;
  return html`<div>
    <h3>${title}: ${countText(count, "name")}</h3>
    <ul class="names">
      ${shown.map(changedName)}
    </ul>
    ${more > 0 ? html`<p class="faint">And ${countText(more, "more name")}.</p>` : undefined}
  </div>`;
}

function changedName({ name, rule, source, rank }: ShownName): Html {
  const from = [
    rank === undefined ? [] : `rank ${numberText(rank)}`,
    rule === "" ? [] : html`<code>${rule}</code>`,
    source === undefined ? [] : source,
  ].flat();
  return html`<li>
    ${name}
    <span class="faint">${from.map((one, index) => html`${index === 0 ? "" : " · "}${one}`)}</span>
  </li>`;
}

function sourcesTable({ bySource }: RuleChange): Html | undefined {
  if (bySource.length === 0) return undefined;
  const rows = bySource.slice(0, MOST_SOURCES).map(
    ({ label, added, removed }) =>
      html`<tr>
        <td>${label}</td>
        <td class="n" data-name="Rules added">${added === 0 ? "0" : `+${numberText(added)}`}</td>
        <td class="n" data-name="Rules removed">
          ${removed === 0 ? "0" : `−${numberText(removed)}`}
        </td>
      </tr>`,
  );
  const more = bySource.length - rows.length;
  return html`<h3>Changed rules by source</h3>
    ${table("Changed rules by source", ["Source", "#Rules added", "#Rules removed"], rows)}
    ${more > 0 ? html`<p class="faint">And ${countText(more, "more source")}.</p>` : undefined}`;
}

/** A changed name on the page. */
interface ShownName {
  readonly name: string;
  /** The deciding rule, unless it is plain. */
  readonly rule: string;
  readonly source?: string | undefined;
  readonly rank?: number | undefined;
}

/** Names whose answer changed in one way: the first ones, and the number of all. */
interface ShownNames {
  readonly count: number;
  readonly shown: readonly ShownName[];
}

/** What the rules of two builds have not in common, and the effect. */
interface RuleChange {
  readonly added: number;
  readonly removed: number;
  readonly bySource: ListChange["bySource"];
  readonly blocked: ShownNames;
  readonly freed: ShownNames;
  /** Changed patterns that were compared on known names only. */
  readonly patterns: number;
}

/** What changed since the build before. */
export interface LastChange {
  readonly since: string;
  readonly before: RecordHeader;
  /** `same` if no rule changed; `too-large` and `unreadable` if the rules were not compared. */
  readonly rules: RuleChange | "same" | "too-large" | "unreadable";
}

/** Names that the page shows. */
const MOST_NAMES = 10;
/**
 * Both lists together, in bytes. The comparison needs about 17 times as much memory; beyond this, more than the rest of the
 * report, which must fit into a small container.
 */
const MOST_COMPARED = 24_000_000;

/** The change from the build before to the last one; undefined if no earlier build is kept. */
export async function lastChange(
  { path, list, record }: PublishedBuild,
  host: Host,
  ranks: RankedNames | undefined,
): Promise<LastChange | undefined> {
  const builds = await keptBuilds(path, host);
  const [older, newest] = builds.slice(-2);
  const before = older && newest && (await headerOf(older, host));
  if (before === undefined) return undefined;
  const since = timestampOf(older!.stamp);
  if (older!.files.list === newest!.files.list) return { since, before, rules: "same" };
  if (before.bytes + list.length > MOST_COMPARED) return { since, before, rules: "too-large" };
  for await (const { at, state } of keptStates(path, host)) {
    if (at !== since) continue;
    if (equalBytes(state.bytes, list)) return { since, before, rules: "same" };
    const change = await listChange(state, { bytes: list, record });
    return { since, before, rules: shownChange(change, ranks) };
  }
  return { since, before, rules: "unreadable" };
}

function shownChange(change: ListChange, ranks: RankedNames | undefined): RuleChange | "same" {
  const { added, removed, bySource, patterns } = change;
  if (added.length + removed.length === 0) return "same";
  const names = (kind: Change): ShownNames => {
    const all = namesWith(kind, change.changes, ranks);
    const shown = all.slice(0, MOST_NAMES).map((one) => ({
      name: changedText(one, kind, String),
      // A rule that is the name itself says nothing more.
      rule: [one.name, `||${one.name}^`].includes(one.rule ?? "") ? "" : (one.rule ?? ""),
      source: change.locations.get(one.rule ?? "")?.source,
      rank: ranks && rankOfChange(one, ranks),
    }));
    return { count: all.length, shown };
  };
  return {
    added: added.length,
    removed: removed.length,
    bySource,
    blocked: names("blocked"),
    freed: names("freed"),
    patterns: patterns.length,
  };
}

interface Flow {
  /** Index of the source. */
  readonly from: number;
  readonly to: string;
  readonly lines: number;
}

const WIDTH = 720;
const HEIGHT = 420;
const BAR = 10;
const GAP = 4;
const LEFT = 240;
const RIGHT = 540;
/** Rows on either side; smaller ones are combined. */
const MOST_FLOWS = 12;
const KEPT: FateName = "kept";
const OTHERS = "others";

interface ChartSide {
  readonly label: string;
  readonly lines: number;
  readonly y: number;
  readonly height: number;
}

/** A flow diagram from sources to the fates of their lines. The height of a band is its share of the lines. */
function fateFlow(names: readonly string[], flows: readonly Flow[]): Html {
  const total = flows.reduce((sum, { lines }) => sum + lines, 0);
  if (total === 0) return html`<p class="faint">No lines were read.</p>`;
  const largest = largestKeys(flows, ({ from }) => names[from]!);
  const fates = largestKeys(flows, ({ to }) => to);
  const left = sideOf(flows, total, (flow) => largest(names[flow.from]!));
  const right = sideOf(flows, total, (flow) => fates(flow.to));
  const usedLeft = new Map<string, number>();
  const usedRight = new Map<string, number>();
  const bands = new Map<string, { from: string; to: string; lines: number }>();
  for (const flow of flows) {
    const from = largest(names[flow.from]!);
    const to = fates(flow.to);
    const key = JSON.stringify([from, to]);
    bands.set(key, { from, to, lines: (bands.get(key)?.lines ?? 0) + flow.lines });
  }
  const available = HEIGHT - GAP * MOST_FLOWS;
  const paths = [...left.keys()].flatMap((from) =>
    [...right.keys()].flatMap((to) => {
      const lines = bands.get(JSON.stringify([from, to]))?.lines ?? 0;
      if (lines === 0) return [];
      const height = (lines / total) * available;
      const y1 = left.get(from)!.y + (usedLeft.get(from) ?? 0);
      const y2 = right.get(to)!.y + (usedRight.get(to) ?? 0);
      usedLeft.set(from, (usedLeft.get(from) ?? 0) + height);
      usedRight.set(to, (usedRight.get(to) ?? 0) + height);
      const title = `${from} → ${to}: ${countText(lines, "line")}`;
      return [band([y1, y2], height, to === KEPT, title)];
    }),
  );
  const described = [...right.values()]
    .map(({ label, lines }) => `${label} ${numberText(lines)}`)
    .join(", ");
  return html`<figure class="flow">
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      aria-label="${countText(total, "line")} read: ${described}"
    >
      ${paths} ${[...left.values()].map((side) => node(side, LEFT, "end"))}
      ${[...right.values()].map((side) => node(side, RIGHT, "start"))}
    </svg>
  </figure>`;
}

type KeyOf = (flow: Flow) => string;

function linesBy(flows: readonly Flow[], keyOf: KeyOf): Map<string, number> {
  const sums = new Map<string, number>();
  for (const flow of flows) sums.set(keyOf(flow), (sums.get(keyOf(flow)) ?? 0) + flow.lines);
  return sums;
}

/** Maps the largest keys to themselves and all others to one. */
function largestKeys(flows: readonly Flow[], keyOf: KeyOf): (key: string) => string {
  const ranked = [...linesBy(flows, keyOf)].toSorted(([, a], [, b]) => b - a).map(([key]) => key);
  const shown = new Set(ranked.length > MOST_FLOWS ? ranked.slice(0, MOST_FLOWS - 1) : ranked);
  return (key) => (shown.has(key) ? key : OTHERS);
}

/** Kept lines come first, the combined ones last. */
function flowRank(key: string, lines: number): number {
  if (key === KEPT) return Infinity;
  return key === OTHERS ? -1 : lines;
}

function sideOf(flows: readonly Flow[], total: number, keyOf: KeyOf): Map<string, ChartSide> {
  const sides = new Map<string, ChartSide>();
  let y = 0;
  const sums = [...linesBy(flows, keyOf)];
  for (const [label, lines] of sums.toSorted(([a, x], [b, z]) => flowRank(b, z) - flowRank(a, x))) {
    const height = (lines / total) * (HEIGHT - GAP * MOST_FLOWS);
    sides.set(label, { label, lines, y, height });
    y += height + GAP;
  }
  return sides;
}

function node({ label, lines, y, height }: ChartSide, x: number, anchor: "start" | "end"): Html {
  const textX = anchor === "end" ? x - 6 : x + BAR + 6;
  const shown = label.length > 24 ? `${label.slice(0, 23)}…` : label;
  return html`<g>
    <rect
      class="${label === KEPT ? "kept" : "node"}"
      x="${x}"
      y="${y.toFixed(1)}"
      width="${BAR}"
      height="${Math.max(height, 1).toFixed(1)}"
    />
    ${
      height < 9
        ? undefined
        : html`<text x="${textX}" y="${(y + height / 2 + 4).toFixed(1)}" text-anchor="${anchor}"
            >${shown} ${numberText(lines)}</text
          >`
    }
  </g>`;
}

function band(ys: readonly [number, number], height: number, isKept: boolean, title: string): Html {
  const x1 = LEFT + BAR;
  const middle = (x1 + RIGHT) / 2;
  const [a, b] = ys.map((y) => (y + height / 2).toFixed(1));
  return html`<path
    class="${isKept ? "band good-band" : "band"}"
    stroke-width="${Math.max(height, 0.5).toFixed(1)}"
    d="M${x1},${a} C${middle},${a} ${middle},${b} ${RIGHT},${b}"
    ><title>${title}</title></path
  >`;
}

/** What became of the lines of all sources, in words. */
function fateTable({ sources, lines }: RecordHeader): Html {
  const counts = new Map<string, number>();
  for (const { kept, dropped } of sources)
    for (const [fate, count] of [["kept", kept] as const, ...Object.entries(dropped)])
      counts.set(fate, (counts.get(fate) ?? 0) + count);
  const { kept = 0, ...others } = Object.fromEntries(counts);
  const rows = [["kept", kept] as const, ...byRank(others)].map(
    ([fate, count]) =>
      html`<tr>
        <td>${FATE_ENTRIES.get(fate)?.meaning} <code class="faint">${fate}</code></td>
        <td class="n" data-name="Lines">${numberText(count)}</td>
        <td class="n" data-name="Share">${shareText(count, lines)}</td>
      </tr>`,
  );
  return table("What became of the lines", ["Fate", "#Lines", "#Share"], rows);
}

function shareText(count: number, all: number): string {
  const text = ((100 * count) / Math.max(1, all)).toFixed(1);
  return text === "0.0" && count > 0 ? "< 0.1 %" : `${text} %`;
}

/** Sources in the table; a larger one is not readable. */
const MOST = 40;
/** Columns for which a phone and a desktop have room. */
const ROOM = { phone: 6, desktop: 20 };

/** The share of each source's rules that another source also has: a table with cells coloured by their value. */
function heatmap(
  what: "source" | "list",
  names: readonly string[],
  shared: readonly (readonly number[])[],
): Html {
  const shown = names.slice(0, MOST);
  const headers = [
    html`<th scope="col">rules of ${what} … that are also in ${what}</th>`,
    ...shown.map((name, index) => html`<th scope="col" title="${name}">${index + 1}</th>`),
  ];
  const rows = shown.map(
    (name, row) =>
      html`<tr>
        <th scope="row"><span class="faint">${row + 1}</span> ${name}</th>
        ${shown.map((_, column) => cell(shared, row, column))}
      </tr>`,
  );
  const rest = names.length - shown.length;
  const size = shown.length > ROOM.desktop ? " wider" : shown.length > ROOM.phone ? " wide" : "";
  return html`${tableOf(`Overlap of ${what}s`, headers, rows, `heat${size}`)}
  ${rest > 0 ? html`<p class="faint">Shows the first ${MOST} ${what}s. See stats --json for ${rest} more.</p>` : undefined}`;
}

/** The lists of the configuration beside each other. */
function matrixSection(lists: readonly ListBesideOthers[]): Html {
  const rows = lists.map(
    (one) =>
      html`<tr>
        <th scope="row">${one.list}</th>
        <td class="n" data-name="Rules">${numberText(one.rules)}</td>
        <td class="n" data-name="Only here">${numberText(one.onlyHere)}</td>
        <td class="n" data-name="First here">${numberText(one.first)}</td>
        <td class="n" data-name="Added">${numberText(one.added)}</td>
        <td class="n" data-name="Removed">${numberText(one.removed)}</td>
      </tr>`,
  );
  const shared = lists.map(({ list, rules, shared: others }) =>
    lists.map((other) =>
      other.list === list ? rules : (others.find((one) => one.list === other.list)?.rules ?? 0),
    ),
  );
  const headers = ["List", "#Rules", "#Only here", "#First here", "#Added", "#Removed"];
  return html`<h2>Lists beside lists</h2>
    <p class="faint">
      A list had a rule first if it had it in an earlier build than all others that have it now.
      Added and removed count from build to build, as far as builds are kept.
    </p>
    ${table("Lists beside lists", headers, rows)}
    ${heatmap(
      "list",
      lists.map(({ list }) => list),
      shared,
    )}`;
}

function cell(shared: readonly (readonly number[])[], row: number, column: number): Html {
  const place = column + 1;
  if (row === column) return html`<td class="self" data-name="${place}">–</td>`;
  const total = shared[row]![row]!;
  const percent = total === 0 ? 0 : Math.floor((shared[row]![column]! / total) * 100);
  // More than ten shades are hard to distinguish.
  const shade = Math.min(9, Math.floor(percent / 10));
  return html`<td class="h${shade}" data-name="${place}">${percent}</td>`;
}

const STATES: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  local: ["good", "local file"],
  fetched: ["good", "fetched"],
  unchanged: ["good", "not changed"],
  locked: ["good", "locked version"],
  stale: ["warn", "last good copy"],
  held: ["warn", "held back"],
  dropped: ["bad", "missing"],
};

/** What each source contributes, the largest first. */
function sourceSection(stats: ListStats, change: LastChange | undefined): Html {
  const byRules = stats.sources.toSorted((a, b) => b.rules - a.rules);
  const most = Math.max(1, ...byRules.map(({ rules }) => rules));
  const linesBefore = new Map(change?.before.sources.map(({ label, lines }) => [label, lines]));
  const columns = [
    "Source",
    "State",
    `#${LABELS.lines}`,
    ...(change === undefined ? [] : ["#Since last build"]),
    `#${LABELS.kept}`,
    `#${LABELS.dropped}`,
    `#${LABELS.redundant}`,
    `#${LABELS.rules}`,
    `#${LABELS.onlyHere}`,
  ];
  const rows = byRules.map((one) => sourceRow(one, most, change && linesBefore));
  return html`<h2>Sources</h2>
    <p class="faint">
      ${spareText(stats)} The darker part of a bar is the rules that would leave the list without
      the source.
    </p>
    ${table("Sources", columns, rows)}`;
}

/** Which sources could be removed. */
function spareText({ sources, cover }: ListStats): string {
  const spare = sources.map(({ label }) => label).filter((one) => !cover.sources.includes(one));
  if (spare.length === 0)
    return cover.isSmallest ? "The list would lose rules without any of the sources." : "";
  return `${countText(cover.sources.length, "source has", "sources have")} all rules of the list. It would lose none without ${someOf(spare)}.`;
}

function sourceRow(
  one: SourceStats,
  most: number,
  linesBefore: ReadonlyMap<string, number> | undefined,
): Html {
  const { label: source, state, lines, kept, redundant, rules, onlyHere } = one;
  const [tone, text] = STATES[state] ?? ["", state];
  const old = linesBefore?.get(source);
  return html`<tr>
    <td>${source}</td>
    <td data-name="State" class="${tone}">${text}</td>
    ${number(LABELS.lines, lines)}
    ${
      linesBefore === undefined
        ? undefined
        : html`<td class="n" data-name="Since last build">
            ${old === undefined ? "new" : differenceText(old, lines)}
          </td>`
    }
    ${number(LABELS.kept, kept)} ${number(LABELS.dropped, lines - kept)}
    ${number(LABELS.redundant, redundant)}
    <td class="n" data-name="${LABELS.rules}">
      ${numberText(rules)} ${bar(rules / most, onlyHere / most)}
    </td>
    ${number(LABELS.onlyHere, onlyHere)}
  </tr>`;
}

function number(name: string, value: number): Html {
  return html`<td class="n" data-name="${name}">${numberText(value)}</td>`;
}

function bar(whole: number, part: number): Html {
  const [width, dark] = [whole, part].map((share) => (share * 100).toFixed(1));
  return html`<svg
    class="bar-box"
    viewBox="0 0 100 4"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <rect class="whole" width="${width}" height="4" />
    <rect class="part" width="${dark}" height="4" />
  </svg>`;
}

/** Which sources block the queries of logs. */
function trafficSection({ files, queries, blocked, sources, unseen }: TrafficStats): Html {
  const share = queries === 0 ? "" : `, ${((100 * blocked) / queries).toFixed(1)} %`;
  const byBlocked = sources.toSorted((a, b) => b.blocked - a.blocked || b.alone - a.alone);
  return html`<h2>Queries by source</h2>
    <p class="faint">
      Of ${countText(queries, "query", "queries")} in ${countText(files.length, "log")}, the list
      blocks ${numberText(blocked)}${share}. The darker part would be answered without the
      source.${unseen.length === 0 ? undefined : ` ${countText(unseen.length, "source file")} could not be searched, so that counts may be too low.`}
    </p>
    ${bars(
      "Queries by source",
      byBlocked.map((one) => ({ label: one.label, value: one.blocked, part: one.alone })),
      "by it alone",
    )}`;
}

const STATE_TEXTS = [
  ["dead", "do not exist, and have not for weeks"],
  ["held", "do not exist, but too many others ceased to exist at the same time"],
  ["missing", "did not exist when they were asked about last, but not for long enough"],
  ["parked", "have the name servers of parked names"],
] as const;

/** Which names of the sources do not exist. */
function aliveSection({ states, sources, dead, unseen }: AliveStats): Html {
  const all = Object.values(states).reduce((sum, count) => sum + count, 0);
  const asked = all - states.unknown;
  const worst = sources.toSorted((a, b) => b.dead - a.dead || b.missing - a.missing);
  const rows = worst.map(
    (one) =>
      html`<tr>
        <td>${one.label}</td>
        <td class="n" data-name="Lines">${numberText(one.lines)}</td>
        <td class="n" data-name="Dead">${numberText(one.dead)}${percentOf(one.dead, one.lines)}</td>
        <td class="n" data-name="Held">${numberText(one.held)}</td>
        <td class="n" data-name="Missing">${numberText(one.missing)}</td>
        <td class="n" data-name="Parked">${numberText(one.parked)}</td>
      </tr>`,
  );
  const names = dead.map(
    ({ name, since, last, times }) =>
      html`<tr>
        <td>${name}</td>
        <td data-name="Missing since">${since}</td>
        <td data-name="Last seen missing">${last}</td>
        <td class="n" data-name="Days with NXDOMAIN">${numberText(times ?? 0)}</td>
      </tr>`,
  );
  return html`<h2>Names that do not exist</h2>
    <p>
      Of ${countText(all, "line")} for names, ${numberText(asked)} have a name that a resolver was
      asked about within 45 days.
    </p>
    <ul>
      ${STATE_TEXTS.map(([state, text]) => html`<li>${numberText(states[state])} ${text}</li>`)}
    </ul>
    ${table("Names that do not exist, by source", ["Source", "#Lines", "#Dead", "#Held", "#Missing", "#Parked"], rows)}
    ${
      dead.length === 0
        ? undefined
        : html`<h3>Newest dead names</h3>
            ${table("Dead names", ["Name", "Missing since", "Last seen missing", "#Days with NXDOMAIN"], names)}`
    }
    ${unseen.length === 0 ? undefined : html`<p class="faint">${countText(unseen.length, "source file")} could not be searched, so that counts may be too low.</p>`}`;
}

function percentOf(count: number, of: number): string {
  return of === 0 ? "" : ` (${((100 * count) / of).toFixed(1)} %)`;
}
