import { errorOf } from "../../diagnostics/diagnostic.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { memoryOf } from "../state/last-publish.ts";
import { measureOf } from "../list-measure.ts";
import { outOfBounds } from "../../sources/size-bounds.ts";
import type { Guard } from "./guard.ts";

/** Checks the size of the list. Rules from sources that only one of the two builds has are not compared. */
export const listSize: Guard = {
  check({ report, limits, last }) {
    const { rules } = report;
    if (rules < limits.minRules)
      return [
        errorOf(
          "too-few-rules",
          `The list would have ${countText(rules, "rule")}; at least ${numberText(limits.minRules)} are expected`,
        ),
      ];
    const memory = memoryOf(last, measureOf(report, limits.settings), limits.settings);
    const found = outOfBounds(memory, limits.size);
    if (found === undefined) return [];
    const { way, limit, isLong, before, now } = found;
    const scope = now === rules ? "it has" : "what both lists are made from has";
    const then = isLong ? "the largest of the last 30 days" : "the published one";
    const cause =
      isLong && way === "grown"
        ? `${scope} ${countText(now, "rule")}; 30 days ago, or when it was first published, it had ${numberText(before)}`
        : `${scope} ${countText(now, "rule")}, ${then} has ${numberText(before)}`;
    return way === "shrunk"
      ? [
          errorOf(
            "list-shrunk",
            `The list would lose more than ${limit} % of its rules${isLong ? " within 30 days" : ""}`,
            { cause },
          ),
        ]
      : [
          errorOf(
            "list-grown",
            `The list would grow by more than ${limit} %${isLong ? " within 30 days" : ""}`,
            { cause },
          ),
        ];
  },
};
