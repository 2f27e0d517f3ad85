import { HOST_CLASSES } from "../bytes/ascii.ts";
import { loadDigest } from "../kernel/long-text-digest.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import { type TextResolver, textResolver } from "../kernel/text-resolver.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { maskOf } from "../syntax/classify.ts";
import { isPlainName } from "../syntax/judge-row.ts";
import { RuleByRule, isComment } from "./rule-by-rule.ts";
import { Gathering } from "./stage.ts";
import type { Transformation, Workshop } from "./transformation.ts";

export const deduplicate: Transformation = {
  summary: "Drops duplicate lines",
  details:
    "The last copy stays, with the comments above it; the comments and empty lines above a dropped copy go with it. Text is compared byte by byte. Comments and empty lines are never duplicates.",
  prepare: ({ has }) => (has.longLines || has.nonAscii ? loadDigest() : undefined),
  stages({ compresses }, workshop) {
    const texts = textResolver(workshop.room);
    const isUnique = compresses === true;
    return [new Copies(workshop, texts, isUnique), new CopyDropping(workshop, texts, isUnique)];
  },
};

/** Enters every line whose text may stand in the list again. */
class Copies extends Gathering {
  private readonly texts: TextResolver;
  /** Compress left one row a name; only addresses are written anew after it. */
  private readonly namesAreUnique: boolean;
  private readonly finder: RowFinder;

  constructor({ pool, finder }: Workshop, texts: TextResolver, namesAreUnique: boolean) {
    super(pool.shelf);
    this.finder = finder;
    this.texts = texts;
    this.namesAreUnique = namesAreUnique;
  }

  protected gather(chunk: Chunk): void {
    const rows = this.namesAreUnique ? this.finder.odd(chunk) : this.finder.live(chunk);
    for (const row of rows) {
      if (isComment(chunk, row)) continue;
      if (this.namesAreUnique && isPlainName(chunk, row) && isBlockText(chunk, row)) continue;
      if (isOddBlock(chunk, row)) writeOut(chunk, row);
      // Rows that read `||host^`, stored so or standing for it, are compared by host. No text is both.
      this.texts.add(chunk, row, isBlockText(chunk, row));
    }
  }

  protected resolve(): void {
    this.texts.resolve();
  }

  protected apply(): void {}

  protected close(): void {
    this.texts.close();
  }
}

/** Drops all copies of a line but the last. */
class CopyDropping extends RuleByRule {
  protected readonly keepsOrdinary: boolean;
  private readonly texts: TextResolver;
  private copies: Int32Array = new Int32Array(0);

  constructor(workshop: Workshop, texts: TextResolver, keepsOrdinary: boolean) {
    super(workshop);
    this.texts = texts;
    this.keepsOrdinary = keepsOrdinary;
  }

  protected override begin(chunk: Chunk): void {
    this.copies = this.texts.copiesOf(chunk);
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const copy = this.copies[row]!;
    if (copy !== -1) chunk.dropFor(row, Fate.Duplicate, copy);
    return copy === -1;
  }
}

/** Gives an odd `||name^` its text, and points at the name in it. */
function writeOut(chunk: Chunk, row: number): void {
  rewriteText(chunk, row, textOf(chunk, row));
  chunk.hostStart[row] = chunk.start[row]! + 2;
  chunk.hostEnd[row] = chunk.end[row]! - 1;
}

/** A converted name that `||…^` in a list would not be read as: its text has to be written out to be compared. */
function isOddBlock(chunk: Chunk, row: number): boolean {
  if ((chunk.flags[row]! & (Flag.AsBlock | Flag.PlainHost)) !== Flag.AsBlock) return false;
  const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
  return (mask & ~HOST_CLASSES) !== 0;
}

function isBlockText(chunk: Chunk, row: number): boolean {
  const flags = chunk.flags[row]!;
  if ((flags & Flag.AsBlock) !== 0) return true;
  return (
    chunk.kind[row] === Kind.Block &&
    (flags & Flag.UpperHost) === 0 &&
    chunk.hostStart[row] === chunk.start[row]! + 2 &&
    chunk.hostEnd[row] === chunk.end[row]! - 1
  );
}
