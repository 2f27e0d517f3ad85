import { countText, numberText } from "../diagnostics/number-text.ts";
import { differenceText, percentText } from "../pages/difference-text.ts";
import { type Html, html } from "../pages/html.ts";
import { growthCharts } from "../pages/line-chart.ts";
import { table } from "../pages/table.ts";
import { agoText } from "./ago-text.ts";
import { type History, type Run } from "./history.ts";

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
export function lastRunSection({ runs }: History, now: number): Html {
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
export function runsSection({ runs, lastRefusal }: History, now: number): Html {
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
