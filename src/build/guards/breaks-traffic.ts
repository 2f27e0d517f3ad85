import { errorOf, warningOf } from "../../diagnostics/diagnostic.ts";
import { GUARD_CODES } from "../../diagnostics/guard-codes.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import type { Guard } from "./guard.ts";

/** Refuses a list that would newly block too many of the queries in a log. The names stay in the log. */
export const breaksTraffic: Guard = {
  check({ limits, traffic }) {
    const limit = limits.breaksTraffic;
    if (limit === undefined || traffic === undefined) return [];
    if ("code" in traffic) {
      const message = "Cannot tell which queries the list would newly block";
      const hint = "Check guards.breaks_traffic.logs, or publish once with --accept breaks-traffic";
      const cause = [traffic.message, traffic.cause]
        .filter((text) => text !== undefined)
        .join(": ");
      return [errorOf("breaks-traffic", message, { cause, hint })];
    }
    const { queries, blocked } = traffic;
    if (queries === 0) {
      const message = "The log has no queries, so guards.breaks_traffic did not check the list";
      return [warningOf("traffic-empty", message, { hint: GUARD_CODES["traffic-empty"].hint })];
    }
    const isTooMany = blocked > limit.queries;
    if (!isTooMany && blocked * 100 <= limit.percent * queries) return [];
    const message = `The list would newly block ${numberText(blocked)} of ${countText(queries, "query", "queries")} in the log`;
    const cause = isTooMany
      ? `at most ${numberText(limit.queries)} are allowed`
      : `at most ${limit.percent} % are allowed`;
    return [errorOf("breaks-traffic", message, { cause })];
  },
};
