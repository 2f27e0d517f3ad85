import type { FeatureResult, FeatureRun, ListFeature, ListStages } from "../engine/feature.ts";
import { type Chunk, Flag, Kind } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { eachChunk } from "../transformations/stage.ts";

/**
 * Notices whether rules leave the list after Compress has dropped the names below them, whatever stage drops them. Only other formats
 * need to know.
 */
export const lateDrops: ListFeature = {
  name: "late-drops",
  open: ({ options }) => (options.names === undefined ? undefined : new LateDrops()),
};

class LateDrops implements FeatureRun {
  private before = 0;
  private after = 0;

  stages(): ListStages {
    const stage = eachChunk((chunk) => {
      this.before += blocksIn(chunk);
    });
    return { transformed: [{ name: "covers", stage }] };
  }

  take(chunk: Chunk): void {
    this.after += blocksIn(chunk);
  }

  result(): FeatureResult {
    return this.after < this.before ? { shape: { hasSureCovers: false } } : {};
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
