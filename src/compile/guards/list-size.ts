import { errorOf } from "../../diagnostics/diagnostic.ts";
import type { Guard } from "./guard.ts";

/** A few rules more or less are no sign of anything. */
const SLACK = 100;

export const listSize: Guard = {
  check({ report, limits, last }) {
    const { rules } = report;
    if (rules < limits.minRules)
      return [
        errorOf(
          "too-few-rules",
          `The list would have ${rules} rules; at least ${limits.minRules} are expected`,
        ),
      ];
    if (last === undefined) return [];
    const before = last.rules;
    const since = `it has ${rules} rules, the published one has ${before}`;
    if (rules < before * (1 - limits.maxShrink / 100) && before - rules > SLACK)
      return [
        errorOf("list-shrunk", `The list would lose more than ${limits.maxShrink} % of its rules`, {
          cause: since,
        }),
      ];
    if (rules > before * (1 + limits.maxGrowth / 100) && rules - before > SLACK)
      return [
        errorOf("list-grown", `The list would grow by more than ${limits.maxGrowth} %`, {
          cause: since,
        }),
      ];
    return [];
  },
};
