import { warningOf } from "../../diagnostics/diagnostic.ts";
import { GUARD_CODES } from "../../diagnostics/guard-codes.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import type { Guard, TrafficLimits } from "./guard.ts";

/** Tells if a list newly blocks too many of the queries in a log, although lines of sources were dropped. The names stay in the log. */
export const breaksTraffic: Guard = {
  check({ limits, traffic }) {
    const limit = limits.breaksTraffic;
    if (limit === undefined || traffic === undefined) return [];
    const { hint } = GUARD_CODES["traffic-unchecked"];
    if ("code" in traffic) {
      const message = "Cannot tell which queries the list newly blocks";
      const cause = [traffic.message, traffic.cause]
        .filter((text) => text !== undefined)
        .join(": ");
      return [warningOf("traffic-unchecked", message, { cause, hint })];
    }
    const { queries, blocked } = traffic;
    if (queries === 0) {
      const message = "The log has no queries, so guards.breaks_traffic did not check the list";
      return [warningOf("traffic-unchecked", message, { hint })];
    }
    const cause = excessOf(blocked, queries, limit);
    if (cause === undefined) return [];
    const message = `The list newly blocks ${numberText(blocked)} of ${countText(queries, "query", "queries")} in the log`;
    return [
      warningOf("traffic-blocked", message, { cause, hint: GUARD_CODES["traffic-blocked"].hint }),
    ];
  },
};

/** Why so many of the queries must not be newly blocked; undefined if they may. */
export function excessOf(
  blocked: number,
  queries: number,
  limit: TrafficLimits,
): string | undefined {
  if (blocked > limit.queries) return `at most ${numberText(limit.queries)} are allowed`;
  if (blocked * 100 > limit.percent * queries) return `at most ${limit.percent} % are allowed`;
  return undefined;
}
