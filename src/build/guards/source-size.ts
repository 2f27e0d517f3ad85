import { type Diagnostic, warningOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { isDegraded } from "../../sources/acquire.ts";
import { outOfBounds } from "../../sources/size-bounds.ts";
import type { Guard } from "./guard.ts";

/**
 * Sources that are something else than they were, and are in the list: files, those without a copy, and those that were held
 * for long enough. They never refuse the list; its own size may.
 */
export const sourceSize: Guard = {
  check({ report, limits, last }) {
    const findings: Diagnostic[] = [];
    for (const { label, source, lines, state } of report.sources) {
      const before = last?.sources.find((one) => one.source === source)?.lines;
      if (before === undefined || isDegraded(state)) continue;
      const found = outOfBounds({ last: { before, now: lines }, days: [] }, limits.sourceSize);
      if (found === undefined) continue;
      const cause = `it has ${lines} lines; it had ${before} when the list was last published`;
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
