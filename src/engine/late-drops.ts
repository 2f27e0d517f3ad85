import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { eachChunk } from "../transformations/stage.ts";
import type { NamedStage } from "./pipeline.ts";

/** Notices whether rules leave the list after Compress has dropped the names below them, whatever stage drops them. */
export class LateDrops {
  private before = 0;
  private after = 0;

  /** Come after the transformations. */
  stages(): NamedStage[] {
    const stage = eachChunk((chunk) => {
      this.before += blocksIn(chunk);
    });
    return [{ name: "covers", stage }];
  }

  /** Takes the chunks that are written. */
  take(chunk: Chunk): void {
    this.after += blocksIn(chunk);
  }

  get found(): boolean {
    return this.after < this.before;
  }
}

/** How many live rules of sources block something. */
function blocksIn({ fate, kind, flags, length }: Chunk): number {
  let count = 0;
  for (let row = 0; row < length; row++)
    if (fate[row] === Fate.Kept && kind[row]! >= Kind.Hosts)
      if ((flags[row]! & (Flag.Allow | Flag.Generated)) === 0) count++;
  return count;
}
