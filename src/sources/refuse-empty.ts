import type { RemoteSource } from "./acquire.ts";
import { sourceError } from "./source-error.ts";
import type { SourceMeasure } from "./source-gauge.ts";
import type { SourceList } from "./source-list.ts";

/** Throws a `CompilerError` for a text without entries. */
export function refuseEmpty(
  list: Pick<SourceList, "hasText">,
  { label, mayBeEmpty }: Pick<RemoteSource, "label" | "mayBeEmpty">,
  measure: Pick<SourceMeasure, "entries"> | undefined,
): void {
  if (mayBeEmpty || (list.hasText && measure?.entries !== 0)) return;
  const cause = list.hasText ? "it has only comments or local names" : "the response has no text";
  throw sourceError("source-empty", `${label} is empty`, cause);
}
