import { type Diagnostic, warningOf } from "../diagnostics/diagnostic.ts";
import { countText, numberText } from "../diagnostics/number-text.ts";
import { printable } from "../diagnostics/printable.ts";
import { allNames, someOf } from "../diagnostics/some-of.ts";
import { type ChunkPool, rowOf } from "../rules/rule-table.ts";
import { textOf } from "../rules/row-text.ts";
import { ExceptionBudget } from "../transformations/exception-budget.ts";
import type { StageContext } from "../transformations/stage-context.ts";
import type { CompileOptions } from "./compile-options.ts";
import { placeOf } from "./list-findings.ts";
import type { PlannedSource } from "./plan.ts";
import type { SourceReader } from "./source-reader.ts";

/** The stage that limits new exceptions; undefined where none can be new, or all are accepted. */
export async function exceptionBudget(
  sources: readonly PlannedSource[],
  reader: SourceReader,
  { published, accept = [], compat }: CompileOptions,
  context: StageContext,
): Promise<ExceptionBudget | undefined> {
  if (compat === true || accept.includes("new-exceptions")) return undefined;
  // Those with less trust have no exceptions, those with more are believed.
  const judged = sources.filter((source) => reader.trustOf(source).level === "standard");
  const before = judged.length === 0 ? undefined : await published?.();
  if (before === undefined) return undefined;
  // All exceptions of a source that was added to the configuration are new, and meant.
  const isJudged = new Set(
    judged.filter(({ shown }) => before.sources.has(shown)).map(({ index }) => index),
  );
  const terms = { known: before.texts, isJudged: (source: number) => isJudged.has(source) };
  return isJudged.size === 0 ? undefined : new ExceptionBudget(terms, context);
}

/** One warning for each source that is over its budget. */
export function budgetWarnings(
  { over }: ExceptionBudget,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return over.map(({ source, rows, freed }) => {
    const count = countText(rows.length, "new exception");
    const message = `${printable(labels[source] ?? "")} has ${count}, which would free ${numberText(freed.length)} names that only other sources block; all were dropped: ${someOf(freed)}`;
    const at = placeOf({ row: rows[0]!, text: textAt(rows[0]!, pool) }, pool);
    return warningOf("new-exceptions", message, {
      ...(at === undefined ? {} : { at }),
      ...allNames(freed),
      hint: "If they are right, publish once with --accept new-exceptions. For good: trust: full at the source",
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
