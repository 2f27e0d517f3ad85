import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { someOf } from "../diagnostics/some-of.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { ExceptionBudget } from "../transformations/exception-budget.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { CompileOptions, PublishedRules } from "./compile-options.ts";
import { findingLocation } from "./list-findings.ts";
import type { PlannedSource } from "./plan.ts";
import type { SourceReader } from "./source-reader.ts";

/** The sources whose new exceptions are limited. Less trusted sources have no exceptions; more trusted ones have no limit. */
export function limitedSources(
  sources: readonly PlannedSource[],
  reader: SourceReader,
  { accept = [], compat }: CompileOptions,
): readonly PlannedSource[] {
  if (compat === true || accept.includes("new-exceptions")) return [];
  return sources.filter((source) => reader.trustOf(source).level === "standard");
}

/** The stage that limits new exceptions; undefined if no exception can be new. */
export function exceptionBudget(
  limited: readonly PlannedSource[],
  { exceptions: known, sources, freed = [] }: PublishedRules,
  context: StageContext,
): ExceptionBudget | undefined {
  // A source that the user just added has only new exceptions, and they are intended.
  const judged = new Map(
    limited.filter(({ shown }) => sources?.has(shown)).map(({ index, shown }) => [index, shown]),
  );
  if (known === undefined || judged.size === 0) return undefined;
  const terms = {
    known,
    isJudged: (source: number) => judged.has(source),
    freedBefore: (source: number) =>
      new Set(freed.flatMap((one) => (one.source === judged.get(source) ? one.names : []))),
  };
  return new ExceptionBudget(terms, context);
}

/** One warning per source over its budget. */
export function budgetWarnings(
  { over }: ExceptionBudget,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return over.map(({ source, rows, freed, freedBefore }) => {
    const count = countText(rows.length, "new exception");
    const subject = printable(labels[source] ?? "");
    const after =
      freedBefore === 0 ? "" : `, after ${numberText(freedBefore)} others within 30 days`;
    const message = `${subject} has ${count}, which would unblock ${countText(freed.length, "name")} that only other sources block${after}; all of them were dropped: ${someOf(freed)}`;
    const hint =
      "If they are intended, publish once with --accept new-exceptions, or set trust: full on the source";
    const at = findingLocation({ row: rows[0]! }, pool);
    return warningOf("new-exceptions", message, { ...(at && { at }), subject, all: freed, hint });
  });
}
