import { timestampText, numberText } from "../diagnostics/text.ts";

/** HTML that is safe to send. Only `html` should create it from data. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A template that escapes every value, unless it is `Html` already. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!;
  for (const [index, part] of parts.entries()) text += textOf(part) + strings[index + 1]!;
  return new Html(text);
}

function textOf(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(textOf).join("");
  return String(part).replace(/[&<>"']/g, (one) => ENTITIES[one]!);
}

/** A page with the style of all pages, and no script. */
export function htmlPage(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${new Html(`<style>${PAGE_STYLE}</style>`)}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}

/**
 * The style of all pages. In both colour schemes, text has a contrast of at least 4.5:1, on the ground and on cards. Paper has
 * the colours of the light scheme.
 */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:#fff;--card:#f6f7f9;--ink:#16181d;--faint:#565c6b;--line:#d5d9e0;--good:#17693a;--warn:#8a5300;--bad:#b3261e;--blue:#1f5fbf}
@media screen and (prefers-color-scheme:dark){:root{--ground:#121419;--card:#1b1e25;--ink:#e8eaf0;--faint:#a9afbd;--line:#343945;--good:#63d392;--warn:#f0b35a;--bad:#ff8f86;--blue:#7db0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main,header{max-width:64rem;margin:0 auto;padding:1rem}
main{padding-top:0;padding-bottom:4rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline}
header nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin-left:auto}
h1{font-size:1.4rem;line-height:1.25;margin:0;overflow-wrap:anywhere}
h2{font-size:1.2rem;line-height:1.25;margin:2.75rem 0 .5rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.5rem 0;max-width:48rem}
.faint{color:var(--faint)}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.5rem 0;overflow-wrap:anywhere}
.headline{padding:1.25rem;border-left-width:.4rem}
.headline.good,.attention .good{border-left-color:var(--good)}.headline.warn,.attention .warn{border-left-color:var(--warn)}.headline.bad,.attention .bad{border-left-color:var(--bad)}
.headline,.attention>li{color:var(--ink)}
.state{font-size:1.2rem;font-weight:600}
.headline .state{display:block;font-size:1rem;margin-bottom:.25rem}
.lead{font-size:1.35rem;line-height:1.35;font-weight:600;margin:0}
ul.attention{list-style:none;margin:0;padding:0}
.attention>li{border-left-width:.4rem}.attention p{margin:.15rem 0}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1rem;margin:1rem 0 0}
dt{color:var(--faint);font-size:.85rem}dd{margin:0;font-weight:600;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.headline dd{font-size:1.3rem;line-height:1.3}dd small{display:block;color:var(--faint);font-size:.85rem;font-weight:400}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 2rem}
.columns>*{min-width:0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.4rem 1rem .4rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
th{color:var(--faint);font-weight:500;font-size:.85rem;vertical-align:bottom}
td:first-child{overflow-wrap:anywhere}
td.n,th.n{text-align:right}td.n{white-space:nowrap}
.bar-box{width:100%;min-width:4rem;height:.3rem;border:0;color:var(--blue)}
figure{margin:1rem 0}figcaption{color:var(--faint)}figcaption b{color:var(--ink)}
svg{width:100%;height:9rem;display:block;border-bottom:1px solid var(--line)}
polyline{fill:none;stroke:var(--blue);stroke-width:2;vector-effect:non-scaling-stroke}
polygon{fill:var(--blue);opacity:.12}
rect.bad{fill:var(--bad);opacity:.6}
.axis{display:flex;justify-content:space-between;gap:1rem;color:var(--faint);font-size:.8rem;margin:.25rem 0 0;max-width:none}
.axis span:first-child,.axis span:last-child{white-space:nowrap}
a{color:var(--blue)}
form{display:flex;gap:.5rem;flex-wrap:wrap;margin:.5rem 0}
input,select,button{font:inherit;max-width:100%;padding:.5rem .75rem;border:1px solid var(--faint);border-radius:.35rem;background:var(--ground);color:var(--ink)}
input{flex:1 1 14rem;min-width:0}
input::placeholder{color:var(--faint);opacity:1}
button{background:var(--card);padding:.5rem 1rem;cursor:pointer}
:focus-visible{outline:2px solid var(--blue);outline-offset:2px}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
@media (max-width:40rem){
h2{margin-top:2.25rem}.lead{font-size:1.15rem}
dl{grid-template-columns:1fr 1fr}
thead{display:none}
tr{display:grid;grid-template-columns:1fr 1fr;gap:.25rem 1rem;border-bottom:1px solid var(--line);padding:.6rem 0}
td,td.n{border:0;padding:0;text-align:left;min-width:0;overflow-wrap:anywhere;white-space:normal}
td:first-child,td.whole{grid-column:1/-1}
td:first-child{font-weight:600}td:empty{display:none}
header nav{margin-left:0}
td[data-name]::before{content:attr(data-name);display:block;color:var(--faint);font-size:.8rem;font-weight:400}
}
@media print{
:root{color-scheme:light}
body{font-size:10pt}main,header{max-width:none;padding-left:0;padding-right:0}
nav,form{display:none}
.scroll{overflow:visible}table{font-size:8pt}th,td{padding-right:.5rem}.bar-box{min-width:2rem}
h2,h3{break-after:avoid}.card,figure,tr,li{break-inside:avoid}
a{color:inherit}
}
`;

/** `#` marks columns of numbers. On narrow screens, `data-name` of a cell replaces the column header. */
export function table(label: string, columns: readonly string[], rows: readonly Html[]): Html {
  const headers = columns.map((column) =>
    column.startsWith("#")
      ? html`<th scope="col" class="n">${column.slice(1)}</th>`
      : html`<th scope="col">${column}</th>`,
  );
  return tableOf(label, headers, rows);
}

/** A table in a box that scrolls horizontally, with the keyboard too. */
export function tableOf(
  label: string,
  headers: readonly Html[],
  rows: readonly Html[],
  kind?: string,
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="${kind}">
      <thead>
        <tr>
          ${headers}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

interface ChartPoint {
  readonly label: string;
  /** Undefined if nothing was measured. */
  readonly value: number | undefined;
  readonly mark?: "bad" | undefined;
}

const WIDTH = 720;
const HEIGHT = 150;
const TOP = 10;

/** A line chart as SVG. Two shapes and an axis do not need a library. */
function lineChart(
  title: string,
  points: readonly ChartPoint[],
  shownAs: (value: number) => string,
): Html {
  const values = points.flatMap(({ value }) => value ?? []);
  const [low, high] = bounds(values);
  const x = (index: number): number => round((index / (points.length - 1)) * WIDTH);
  const y = (value: number): number =>
    round(TOP + (1 - (value - low) / (high - low)) * (HEIGHT - 2 * TOP));
  const line = points.flatMap(({ value }, index) =>
    value === undefined ? [] : [`${x(index)},${y(value)}`],
  );
  const [start = "", end = ""] = [line[0], line.at(-1)].map((point) => point?.split(",")[0]);
  const bad = points.flatMap(({ mark, label }, index) =>
    mark === "bad"
      ? [
          html`<rect class="bad" x="${x(index) - 2}" y="0" width="4" height="${HEIGHT}"
            ><title>${label}</title></rect
          >`,
        ]
      : [],
  );
  const first = values[0]!;
  const last = values.at(-1)!;
  const described = `${title}: from ${shownAs(first)} to ${shownAs(last)}, between ${shownAs(Math.min(...values))} and ${shownAs(Math.max(...values))}, over ${points.length} runs`;
  return html`<figure>
    <figcaption>${title} <b>${shownAs(last)}</b></figcaption>
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      aria-label="${described}"
      preserveAspectRatio="none"
    >
      ${bad}
      <polygon points="${start},${HEIGHT} ${line.join(" ")} ${end},${HEIGHT}" />
      <polyline points="${line.join(" ")}" />
    </svg>
    <p class="axis">
      <span>${points[0]!.label}</span><span>scale from ${shownAs(low)} to ${shownAs(high)}</span
      ><span>${points.at(-1)!.label}</span>
    </p>
  </figure>`;
}

/** The size of a list at one point in time. */
interface ListPoint {
  readonly at: string;
  readonly rules?: number | undefined;
  readonly bytes?: number | undefined;
  readonly mark?: ChartPoint["mark"];
}

/** The growth of a list: rules and bytes over time. `run` is the noun for one point. */
export function growthCharts(states: readonly ListPoint[], run: string): Html {
  if (states.filter(({ rules }) => rules !== undefined).length < 2)
    return html`<p class="faint">Charts appear here after the second ${run}.</p>`;
  const points = (valueOf: (state: ListPoint) => number | undefined): ChartPoint[] =>
    states.map((state) => ({
      label: state.at.slice(0, 10),
      value: valueOf(state),
      mark: state.mark,
    }));
  const rules = points((state) => state.rules);
  const size = points(({ bytes }) => bytes);
  return html`<div class="columns">
    ${lineChart("Rules", rules, numberText)} ${lineChart("Size", size, sizeText)}
  </div>`;
}

/** A margin above and below keeps a flat line away from the border. */
function bounds(values: readonly number[]): [number, number] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = Math.max((high - low) * 0.1, high * 0.005, 1);
  return [Math.max(0, Math.floor(low - margin)), Math.ceil(high + margin)];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** `+1,250`, `−3` or `0`. */
export function differenceText(before: number, now: number): string {
  return signed(now - before, numberText(Math.abs(now - before)));
}

/** `+0.5 %`; empty if there was nothing before. */
export function percentText(before: number, now: number): string {
  if (before === 0) return "";
  const percent = (now / before - 1) * 100;
  const text = Math.abs(percent).toFixed(1);
  return text === "0.0" ? "less than 0.1 %" : signed(percent, `${text} %`);
}

function signed(value: number, text: string): string {
  if (value === 0) return "0";
  return `${value < 0 ? "−" : "+"}${text}`;
}

/** A number of bytes as people read it: `120 bytes`, `5.8 kB`, `5.96 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  if (bytes < 999_995_000) return `${(bytes / 1e6).toFixed(2)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

type Tone = "good" | "warn" | "bad";

/** What a reader must know first. */
interface Headline {
  readonly tone: Tone;
  /** One word. */
  readonly state: string;
  /** One sentence. */
  readonly sentence: string;
  readonly detail?: Html | string | undefined;
  /** Entries of a definition list. */
  readonly figures: readonly Html[];
}

/** The card at the top of a page. */
export function headline({ tone, state, sentence, detail, figures }: Headline): Html {
  return html`<section class="card headline ${tone}" aria-label="Summary">
    <span class="state ${tone}">${state}</span>
    <p class="lead">${sentence}</p>
    ${detail === undefined ? undefined : html`<p>${detail}</p>`}
    <dl>${figures}</dl>
  </section>`;
}

/** Something that a person should look at. */
export interface Attention {
  readonly tone: Tone;
  readonly title: string;
  readonly details: readonly (Html | string)[];
}

/** A condition as a page shows it. */
interface Lasting {
  readonly message: string;
  readonly cause?: string;
  readonly hint?: string;
  readonly since: string;
}

export function conditionAttention({ message, cause, hint, since }: Lasting): Attention {
  const details = [
    html`Since ${timestampText(since)}.`,
    ...(cause === undefined ? [] : [html`Because: ${cause}`]),
    ...(hint === undefined ? [] : [html`Hint: ${hint}`]),
  ];
  return { tone: "warn", title: message, details };
}

/** What a person should look at, or one sentence that says why there is nothing. */
export function attentionSection(items: readonly Attention[], nothing: string): Html {
  return html`<h2 id="attention">Needs attention</h2>
    ${
      items.length === 0
        ? html`<p class="faint">${nothing}</p>`
        : html`<ul class="attention">
            ${items.map(attentionItem)}
          </ul>`
    }`;
}

function attentionItem({ tone, title, details }: Attention): Html {
  return html`<li class="card ${tone}">
    <b class="${tone}">${title}</b>
    ${details.map((one) => html`<p>${one}</p>`)}
  </li>`;
}

/** A number with its unit, and what is worth knowing beside it. */
export function figure(label: string, value: Html | string, note = ""): Html {
  return html`<div>
    <dt>${label}</dt>
    <dd>${value}${note === "" ? undefined : html` <small>${note}</small>`}</dd>
  </div>`;
}
