import { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import type { Pass, Stage } from "./stage.ts";
import type { Transformation } from "./transformation.ts";

export const insertFinalNewLine: Transformation = {
  summary: "Ends the list with a line feed",
  details: "Adds one empty line at the end unless the last line is blank already.",
  stages: ({ pool }) => [new FinalLine(pool)],
};

class FinalLine implements Stage {
  private readonly pool: ChunkPool;
  private lastKind: number | undefined;
  private lastOrigin = 0;

  constructor(pool: ChunkPool) {
    this.pool = pool;
  }

  push(chunk: Chunk, pass: Pass): void {
    this.lastOrigin = chunk.origin;
    this.lastKind = lastLiveKind(chunk) ?? this.lastKind;
    pass(chunk);
  }

  end(pass: Pass): void {
    if (this.lastKind === Kind.Blank) return;
    const chunk = this.pool.add(
      new Chunk(this.pool.arena, this.lastOrigin, new Uint8Array(0), { capacity: 1 }),
    );
    chunk.flags[chunk.push(0, 0, 0)] = Flag.Generated;
    chunk.has.blanks = chunk.has.otherRows = true;
    pass(chunk);
    this.pool.cache.done(chunk);
  }
}

function lastLiveKind(chunk: Chunk): number | undefined {
  for (let row = chunk.length - 1; row >= 0; row--)
    if (chunk.fate[row] === Fate.Kept) return chunk.kind[row];
  return undefined;
}
