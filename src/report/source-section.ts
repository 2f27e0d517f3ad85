import { countText, numberText } from "../diagnostics/number-text.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { ListStats, SourceStats } from "../explain/stats.ts";
import { differenceText } from "../pages/difference-text.ts";
import { type Html, html } from "../pages/html.ts";
import { table } from "../pages/table.ts";
import { LABELS } from "../explain/glossary.ts";
import type { LastChange } from "./last-change.ts";

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
export function sourceSection(stats: ListStats, change: LastChange | undefined): Html {
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
  const rows = byRules.map((one) => row(one, most, change && linesBefore));
  return html`<h2>Sources</h2>
    <p class="faint">
      ${spareText(stats)} The darker part of a bar is the rules that would leave the list without
      the source.
    </p>
    ${table("Sources", columns, rows)}`;
}

/** Which sources could be removed. */
function spareText({ sources, cover }: ListStats): string {
  const spare = sources.map(({ source }) => source).filter((one) => !cover.sources.includes(one));
  if (spare.length === 0)
    return cover.isSmallest ? "The list would lose rules without any of the sources." : "";
  return `${countText(cover.sources.length, "source has", "sources have")} all rules of the list. It would lose none without ${someOf(spare)}.`;
}

function row(
  one: SourceStats,
  most: number,
  linesBefore: ReadonlyMap<string, number> | undefined,
): Html {
  const { source, state, lines, kept, redundant, rules, onlyHere } = one;
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
