import type { RemoteSource } from "./acquire.ts";
import { sourceError } from "./source-error.ts";
import type { SourceMeasure } from "./source-gauge.ts";
import type { SourceList } from "./source-list.ts";

/** Throws a `CompilerError` for a text without entries. */
export function refuseEmpty(
  list: SourceList,
  { label, mayBeEmpty }: RemoteSource,
  measure: SourceMeasure | undefined,
): void {
  if (mayBeEmpty || (list.hasText && measure?.entries !== 0)) return;
  const cause = list.hasText ? "it has only comments" : "the response has no text";
  throw sourceError("source-empty", `${label} is empty`, cause);
}
