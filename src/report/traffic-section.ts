import { countText, numberText } from "../diagnostics/number-text.ts";
import type { TrafficStats } from "../explain/traffic-stats.ts";
import { type Html, html } from "../pages/html.ts";
import { bars } from "./bars.ts";

/** Which sources block the queries of logs. */
export function trafficSection({ files, queries, blocked, sources, unseen }: TrafficStats): Html {
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
      byBlocked.map((one) => ({ label: one.source, value: one.blocked, part: one.alone })),
      "by it alone",
    )}`;
}
