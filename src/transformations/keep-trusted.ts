import type { Chunk } from "../rules/chunk.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import type { TransformationContext } from "./transformation-context.ts";

type Tiers = Pick<TransformationContext, "tiers" | "pool">;

/** Keeps rows that are redundant only because of a less trusted source, whose rules may be left out later. */
export function keepTrusted(chunk: Chunk, context: Tiers): void {
  if (context.tiers === undefined) return;
  const causes = chunk.causes();
  for (let row = 0; row < chunk.length; row++)
    if (hasCause(chunk.fate[row]!) && isLessTrusted(causes[row]!, chunk, context))
      chunk.fate[row] = Fate.Kept;
}

/** Whether a row, given by its id, is of a less trusted source than a chunk. */
export function isLessTrusted(id: number, chunk: Chunk, { tiers, pool }: Tiers): boolean {
  if (tiers === undefined) return false;
  const tierOf = (one: Chunk): number => tiers[pool.sourceOf(one)] ?? 0;
  return tierOf(pool.chunkOf(id)) > tierOf(chunk);
}
