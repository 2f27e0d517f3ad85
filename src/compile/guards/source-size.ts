import { type Diagnostic, errorOf } from "../../diagnostics/diagnostic.ts";
import { printable } from "../../diagnostics/printable.ts";
import { isDegraded } from "../../sources/acquire.ts";
import type { Guard } from "./guard.ts";

const SLACK = 100;

/** Sources that failed have been dealt with; this is about those that are there and are something else than they were. */
export const sourceSize: Guard = {
  check({ report, limits, last }) {
    const findings: Diagnostic[] = [];
    for (const { label, source, lines, state } of report.sources) {
      const before = last?.sources.find((one) => one.source === source)?.lines;
      if (before === undefined || isDegraded(state)) continue;
      const cause = `it has ${lines} lines; when the list was last published it had ${before}`;
      if (lines < before * (1 - limits.maxSourceShrink / 100) && before - lines > SLACK)
        findings.push(
          errorOf(
            "source-lost-lines",
            `${printable(label)} lost more than ${limits.maxSourceShrink} % of its lines`,
            { cause },
          ),
        );
      if (lines > before * (1 + limits.maxGrowth / 100) && lines - before > SLACK)
        findings.push(
          errorOf("source-grown", `${printable(label)} grew by more than ${limits.maxGrowth} %`, {
            cause,
          }),
        );
    }
    return findings;
  },
};
