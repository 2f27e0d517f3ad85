import { encodeUtf8 } from "../bytes/utf8.ts";
import { Chunk } from "../rules/chunk.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { NameMatcher } from "../meaning/name-matcher.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** Shows all rules to a matcher, and adds exceptions at the end of the list. `label` says what added them. */
export function exceptionsAtEnd(
  watch: NameMatcher,
  context: StageContext,
  exceptions: () => readonly string[],
  label?: string,
): Stage {
  let origin = 0;
  return {
    push: (chunk: Chunk, pass: Pass) => {
      origin = chunk.origin;
      watch.take(chunk);
      pass(chunk);
    },
    end: (pass: Pass) => {
      const lines = exceptions();
      const { pool } = context;
      if (label !== undefined && lines.length > 0)
        origin = pool.addOrigin({ source: pool.origins[origin]!.source, file: label });
      addExceptions(lines, origin, context, pass);
    },
  };
}

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
    chunk.flags[row] = Flag.Generated | (line.startsWith("@@") ? Flag.Allow : 0);
    at = end + 1;
  }
  chunk.has.otherRows = true;
  pass(chunk);
  pool.cache.done(chunk);
}
