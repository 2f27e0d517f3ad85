import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";

/**
 * A comment speaks of the rule below it. When that rule is dropped, the comments and empty lines directly above go with
 * it, up to the first other line. Used on a walk from the last row to the first; banners are never taken for comments.
 */
export class LeadingComments {
  private isDropping = false;

  /** A rule was just dropped by the pass that walks. */
  dropped(): void {
    this.isDropping = true;
  }

  /** A line stays; what stands above it is not our business. */
  kept(): void {
    this.isDropping = false;
  }

  /** Whether the row is a comment or an empty line, and if so what becomes of it. */
  takes(chunk: Chunk, row: number): boolean {
    const kind = chunk.kind[row]!;
    const isEmpty = kind === Kind.Blank && chunk.start[row] === chunk.end[row];
    if (kind !== Kind.Comment && !isEmpty) return false;
    if ((chunk.flags[row]! & Flag.Banner) !== 0) this.isDropping = false;
    if (this.isDropping) chunk.drop(row, Fate.CommentAbove);
    return true;
  }
}
