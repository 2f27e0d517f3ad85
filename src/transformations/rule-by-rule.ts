import type { Chunk } from "../rules/chunk.ts";
import type { ChunkShelf } from "../rules/chunk-shelf.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import type { Pass, Stage } from "./stage.ts";

/**
 * A station that judges rule by rule. A comment speaks of the rule below it: when that rule is dropped, the comments and
 * empty lines directly above go with it, up to the first other line. Chunks that end in comments are held back until
 * the next rule is known. Banners are never taken for comments.
 */
export abstract class RuleByRule implements Stage {
  private readonly shelf: ChunkShelf;
  /** Chunks whose last lines, from a row on, wait for the rule below. */
  private held: { readonly chunk: Chunk; readonly from: number }[] = [];

  constructor(shelf: ChunkShelf) {
    this.shelf = shelf;
  }

  /** Whether rows of ordinary names stay without being asked about. */
  protected abstract readonly keepsOrdinary: boolean;

  /** A chunk's rows come next. */
  protected begin?(chunk: Chunk): void;

  /** Whether the rule stays. One that does not is dropped by the judge, who knows why. */
  protected abstract judge(chunk: Chunk, row: number): boolean;

  push(chunk: Chunk, pass: Pass): void {
    this.begin?.(chunk);
    const { has, length } = chunk;
    const mayHaveComments = has.comments || has.blanks;
    const kept = this.keepsOrdinary ? Flag.Ordinary : 0;
    let waiting = -1;
    for (let row = 0; row < length; row++) {
      // Not by a view kept from before: a verdict may make the arena grow.
      if (chunk.fate[row] !== Fate.Live) continue;
      const isSure = (chunk.flags[row]! & kept) !== 0;
      if (isSure && waiting === -1 && this.held.length === 0) continue;
      if (mayHaveComments && isComment(chunk, row)) {
        if ((chunk.flags[row]! & Flag.Banner) === 0) {
          if (waiting === -1) waiting = row;
          continue;
        }
        waiting = -1;
        this.settle(true, pass);
        continue;
      }
      const isKept = isSure || this.judge(chunk, row);
      if (waiting !== -1) {
        if (!isKept) dropComments(chunk, waiting, row);
        waiting = -1;
      }
      if (this.held.length > 0) this.settle(isKept, pass);
    }
    if (waiting !== -1 || this.held.length > 0)
      this.held.push({ chunk, from: waiting === -1 ? length : waiting });
    else pass(chunk);
  }

  end(pass: Pass): void {
    this.settle(true, pass);
  }

  /** The line below the comments that wait is known: it stays, or it goes and takes them along. */
  private settle(isKept: boolean, pass: Pass): void {
    const { held, shelf } = this;
    this.held = [];
    for (const { chunk, from } of held) {
      shelf.use(chunk);
      if (!isKept) dropComments(chunk, from, chunk.length);
      pass(chunk);
      shelf.done(chunk);
    }
  }
}

function isComment(chunk: Chunk, row: number): boolean {
  const kind = chunk.kind[row]!;
  return kind === Kind.Comment || (kind === Kind.Blank && chunk.start[row] === chunk.end[row]);
}

/** Between these rows there are live comments and lines that are out of the list already. */
function dropComments(chunk: Chunk, from: number, to: number): void {
  for (let row = from; row < to; row++) chunk.drop(row, Fate.CommentAbove);
}
