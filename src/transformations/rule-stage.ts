import type { RowFinder } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import type { ChunkCache } from "../rules/chunk-cache.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/**
 * A stage that judges rule by rule. A comment describes the rule below it: when that rule is dropped, the comments and empty
 * lines directly above are dropped too, up to the first other line. Chunks that end in comments are held until the next rule
 * is known. Banners do not count as comments.
 */
export abstract class RuleStage implements Stage {
  private readonly cache: ChunkCache;
  private readonly finder: RowFinder;
  /** Chunks whose last lines, from a row on, wait for the rule below. */
  private held: { readonly chunk: Chunk; readonly from: number }[] = [];

  constructor({ pool, finder }: StageContext) {
    this.cache = pool.cache;
    this.finder = finder;
  }

  /** Whether rows of ordinary names stay without a call to `judge`. */
  protected abstract readonly keepsOrdinary: boolean;

  /** Called before the rows of a chunk. */
  protected begin?(chunk: Chunk): void;

  /** Whether the rule stays. `judge` itself drops a rule, with the reason. */
  protected abstract judge(chunk: Chunk, row: number): boolean;

  push(chunk: Chunk, pass: Pass): void {
    this.begin?.(chunk);
    const rows = this.keepsOrdinary ? this.finder.special(chunk) : this.finder.live(chunk);
    let waiting = -1;
    let next = 0;
    for (const row of rows) {
      if ((waiting !== -1 || this.held.length > 0) && hasLive(chunk, next, row)) {
        waiting = -1;
        this.settle(true, pass);
      }
      next = row + 1;
      if (isComment(chunk, row)) {
        if ((chunk.flags[row]! & Flag.Banner) === 0) {
          if (waiting === -1) waiting = row;
          continue;
        }
        waiting = -1;
        this.settle(true, pass);
        continue;
      }
      const isKept = this.judge(chunk, row);
      if (waiting !== -1 && !isKept) dropComments(chunk, waiting, row);
      waiting = -1;
      if (this.held.length > 0) this.settle(isKept, pass);
    }
    if ((waiting !== -1 || this.held.length > 0) && hasLive(chunk, next, chunk.length)) {
      waiting = -1;
      this.settle(true, pass);
    }
    if (waiting !== -1 || this.held.length > 0)
      this.held.push({ chunk, from: waiting === -1 ? chunk.length : waiting });
    else pass(chunk);
  }

  end(pass: Pass): void {
    this.settle(true, pass);
  }

  /** The line below the held comments is known. If it was dropped, they are dropped too. */
  private settle(isKept: boolean, pass: Pass): void {
    const { held, cache } = this;
    this.held = [];
    for (const { chunk, from } of held) {
      cache.use(chunk);
      if (!isKept) dropComments(chunk, from, chunk.length);
      pass(chunk);
      cache.done(chunk);
    }
  }
}

/** Whether one of these rows, which `judge` does not see, is in the list. */
function hasLive(chunk: Chunk, from: number, to: number): boolean {
  for (let row = from; row < to; row++) if (chunk.fate[row] === Fate.Kept) return true;
  return false;
}

/** A comment or an empty line, which belongs to the rule below. */
export function isComment(chunk: Chunk, row: number): boolean {
  const kind = chunk.kind[row]!;
  return kind === Kind.Comment || (kind === Kind.Blank && chunk.start[row] === chunk.end[row]);
}

/** These rows are live comments and lines that were already dropped. */
function dropComments(chunk: Chunk, from: number, to: number): void {
  for (let row = from; row < to; row++) chunk.drop(row, Fate.CommentAbove);
}
