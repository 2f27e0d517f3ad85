import { countText, numberText } from "../diagnostics/number-text.ts";
import type { FateName } from "../rules/fate.ts";
import { type Html, html } from "../pages/html.ts";

export interface Flow {
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
const MOST = 12;
const KEPT: FateName = "kept";
const OTHERS = "others";

interface Side {
  readonly label: string;
  readonly lines: number;
  readonly y: number;
  readonly height: number;
}

/** A flow diagram from sources to the fates of their lines. The height of a band is its share of the lines. */
export function fateFlow(names: readonly string[], flows: readonly Flow[]): Html {
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
  const available = HEIGHT - GAP * MOST;
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
  const shown = new Set(ranked.length > MOST ? ranked.slice(0, MOST - 1) : ranked);
  return (key) => (shown.has(key) ? key : OTHERS);
}

/** Kept lines come first, the combined ones last. */
function rank(key: string, lines: number): number {
  if (key === KEPT) return Infinity;
  return key === OTHERS ? -1 : lines;
}

function sideOf(flows: readonly Flow[], total: number, keyOf: KeyOf): Map<string, Side> {
  const sides = new Map<string, Side>();
  let y = 0;
  const sums = [...linesBy(flows, keyOf)];
  for (const [label, lines] of sums.toSorted(([a, x], [b, z]) => rank(b, z) - rank(a, x))) {
    const height = (lines / total) * (HEIGHT - GAP * MOST);
    sides.set(label, { label, lines, y, height });
    y += height + GAP;
  }
  return sides;
}

function node({ label, lines, y, height }: Side, x: number, anchor: "start" | "end"): Html {
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
