import { numberText } from "../diagnostics/number-text.ts";
import { type Html, html } from "./html.ts";

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
function lineChart(title: string, points: readonly ChartPoint[], unit: string): Html {
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
  const described = `${title}: from ${roundText(first)} to ${roundText(last)}${unit}, between ${roundText(Math.min(...values))} and ${roundText(Math.max(...values))}, over ${points.length} runs`;
  return html`<figure>
    <figcaption>${title} <b>${roundText(last)}${unit}</b></figcaption>
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
      <span>${points[0]!.label}</span
      ><span>scale from ${roundText(low)} to ${roundText(high)}${unit}</span
      ><span>${points.at(-1)!.label}</span>
    </p>
  </figure>`;
}

/** The size of a list at one point in time. */
export interface ListPoint {
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
  const size = points(({ bytes }) => (bytes === undefined ? undefined : bytes / 1000));
  return html`<div class="columns">
    ${lineChart("Rules", rules, "")} ${lineChart("Size", size, " kB")}
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

function roundText(value: number): string {
  return numberText(Math.round(value));
}
