import type { RemoteSource } from "./acquire.ts";
import { sourceError } from "./source-error.ts";
import type { SourceMeasure } from "./source-gauge.ts";
import type { SourceList } from "./source-list.ts";

/** Throws a `CompilerError` for a text without entries, or in which no line can be a rule. */
export function refuseEmpty(
  { hasText }: Pick<SourceList, "hasText">,
  { label, mayBeEmpty, isLines }: Pick<RemoteSource, "label" | "mayBeEmpty" | "isLines">,
  measure: Pick<SourceMeasure, "entries" | "hasRules"> | undefined,
): void {
  const hasEntries = hasText && measure?.entries !== 0;
  const hasRules = !isLines || measure?.hasRules !== false;
  if (mayBeEmpty || (hasEntries && hasRules)) return;
  let cause = "the response has no text";
  if (hasText) cause = "it has only comments or local names";
  if (hasEntries) cause = "none of its lines is a rule";
  throw sourceError("source-empty", `${label} is empty`, cause);
}
