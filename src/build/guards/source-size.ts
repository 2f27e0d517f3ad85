import { type Diagnostic, warningOf } from "../../diagnostics/diagnostic.ts";
import { countText, numberText } from "../../diagnostics/number-text.ts";
import { printable } from "../../diagnostics/printable.ts";
import { isDegraded } from "../../sources/acquire.ts";
import { outOfBounds } from "../../sources/size-bounds.ts";
import type { Guard } from "./guard.ts";

/**
 * Warns about sources in the list that changed too much: local files, sources without a copy, and sources whose holding time has
 * ended. It never refuses the list; the list size guard may.
 */
export const sourceSize: Guard = {
  check({ report, limits, last }) {
    const findings: Diagnostic[] = [];
    for (const { label, source, lines, state } of report.sources) {
      const before = last?.sources.find((one) => one.source === source)?.lines;
      if (before === undefined || isDegraded(state)) continue;
      const found = outOfBounds({ last: { before, now: lines }, days: [] }, limits.sourceSize);
      if (found === undefined) continue;
      const cause = `it has ${countText(lines, "line")}; it had ${numberText(before)} when the list was last published`;
      findings.push(
        found.way === "shrunk"
          ? warningOf(
              "source-lost-lines",
              `${printable(label)} lost more than ${found.limit} % of its lines`,
              { cause },
            )
          : warningOf("source-grown", `${printable(label)} grew by more than ${found.limit} %`, {
              cause,
            }),
      );
    }
    return findings;
  },
};
