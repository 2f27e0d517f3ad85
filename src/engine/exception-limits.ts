import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { allNames, someOf } from "../diagnostics/some-of.ts";
import { type ChunkPool, rowOf } from "../rules/rule-table.ts";
import { textOf } from "../rules/row-text.ts";
import { ExceptionBudget } from "../transformations/exception-budget.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { CompileOptions, PublishedExceptions } from "./compile-options.ts";
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
  published: PublishedExceptions | undefined,
  context: StageContext,
): ExceptionBudget | undefined {
  if (published === undefined) return undefined;
  // A source that the user just added has only new exceptions, and they are intended.
  const isJudged = new Set(
    limited.filter(({ shown }) => published.sources.has(shown)).map(({ index }) => index),
  );
  const { texts: known, freed } = published;
  const shown = new Map(limited.map((one) => [one.index, one.shown]));
  const terms = {
    known,
    isJudged: (source: number) => isJudged.has(source),
    freedBefore: (source: number) =>
      new Set(freed.flatMap((one) => (one.source === shown.get(source) ? one.names : []))),
  };
  return isJudged.size === 0 ? undefined : new ExceptionBudget(terms, context);
}

/** One warning per source over its budget. */
export function budgetWarnings(
  { over }: ExceptionBudget,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return over.map(({ source, rows, freed, freedBefore }) => {
    const count = countText(rows.length, "new exception");
    const message = `${printable(labels[source] ?? "")} has ${count}, which would unblock ${countText(freed.length, "name")} that only other sources block${freedBefore === 0 ? "" : `, after ${numberText(freedBefore)} others within 30 days`}; all of them were dropped: ${someOf(freed)}`;
    const at = findingLocation({ row: rows[0]!, text: textAt(rows[0]!, pool) }, pool);
    return warningOf("new-exceptions", message, {
      ...(at === undefined ? {} : { at }),
      subject: printable(labels[source] ?? ""),
      ...allNames(freed),
      hint: "If they are intended, publish once with --accept new-exceptions, or set trust: full on the source",
    });
  });
}

function textAt(row: number, pool: ChunkPool): string {
  const chunk = pool.chunkOf(row);
  pool.cache.use(chunk);
  const text = textOf(chunk, rowOf(row));
  pool.cache.done(chunk);
  return text;
}
