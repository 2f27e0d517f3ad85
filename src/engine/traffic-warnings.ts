import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { GUARD_CODES } from "../diagnostics/guard-codes.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import type { BrokenTraffic } from "../transformations/broken-traffic.ts";
import type { AskedNames } from "./compile-options.ts";

/** One for each source. The names stay in the log. */
export function trafficWarnings(
  { found }: BrokenTraffic,
  asked: AskedNames,
  labels: readonly string[],
): Diagnostic[] {
  return Array.from(found, ([source, { names, queries }]) => {
    const subject = printable(labels[source] ?? "");
    const message = `${subject} would newly block ${numberText(queries)} of ${countText(asked.queries, "query", "queries")} in the log, for ${countText(names, "name")}; its lines that do so were dropped`;
    const cause = asked.excess(queries);
    const { hint } = GUARD_CODES["breaks-traffic"];
    return warningOf("breaks-traffic", message, { ...(cause && { cause }), hint, subject });
  });
}
