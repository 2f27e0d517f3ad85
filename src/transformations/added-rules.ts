import { encodeUtf8 } from "../bytes/utf8.ts";
import { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { Pass } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** Adds exceptions, one per line, as a chunk of generated rows. `origin` is that of an earlier chunk. */
export function addExceptions(
  lines: readonly string[],
  origin: number,
  { pool }: StageContext,
  pass: Pass,
): void {
  if (lines.length === 0) return;
  const bytes = encodeUtf8(lines.join("\n"));
  const chunk = pool.add(new Chunk(pool.arena, origin, bytes, { capacity: lines.length }));
  let at = 0;
  for (const line of lines) {
    const end = at + encodeUtf8(line).length;
    const row = chunk.push(at, end, 0);
    chunk.kind[row] = Kind.Rule;
    chunk.flags[row] = Flag.Generated | Flag.Allow;
    at = end + 1;
  }
  chunk.has.otherRows = true;
  pass(chunk);
  pool.cache.done(chunk);
}
