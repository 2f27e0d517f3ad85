import { HOST_CLASSES } from "../bytes/ascii.ts";
import { loadDigest } from "../kernel/long-text-digest.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import { TextResolver } from "../kernel/text-resolver.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { rewriteText, textOf } from "../rules/row-text.ts";
import { maskOf } from "../syntax/classify.ts";
import { isPlainName } from "../syntax/judge-row.ts";
import { RuleStage, isComment } from "./rule-stage.ts";
import { BarrierStage } from "./stage.ts";
import { isLessTrusted } from "./keep-trusted.ts";
import type { StageContext } from "./stage-context.ts";
import type { TransformationContext } from "./transformation-context.ts";
import type { Transformation } from "./transformation.ts";

export const deduplicate: Transformation = {
  summary: "Drops duplicate lines",
  details:
    "The last copy stays, with the comments above it; the comments and empty lines above a dropped copy go with it. Text is compared byte by byte. Comments and empty lines are never duplicates.",
  prepare: ({ has }) => (has.longLines || has.nonAscii ? loadDigest() : undefined),
  stages(context) {
    const texts = new TextResolver(context.budget);
    const isUnique = context.compresses === true;
    return [new Copies(context, texts, isUnique), new CopyDropping(context, texts, isUnique)];
  },
};

/** Collects every line whose text may occur again. */
class Copies extends BarrierStage {
  private readonly texts: TextResolver;
  /** Compress left one row per name. Only addresses are rewritten after it. */
  private readonly namesAreUnique: boolean;
  private readonly finder: RowFinder;

  constructor({ pool, finder }: StageContext, texts: TextResolver, namesAreUnique: boolean) {
    super(pool.cache);
    this.finder = finder;
    this.texts = texts;
    this.namesAreUnique = namesAreUnique;
  }

  protected gather(chunk: Chunk): void {
    const rows = this.namesAreUnique ? this.finder.special(chunk) : this.finder.live(chunk);
    for (const row of rows) {
      if (isComment(chunk, row)) continue;
      if (this.namesAreUnique && isPlainName(chunk, row) && isBlockText(chunk, row)) continue;
      if (isOddBlock(chunk, row)) writeOut(chunk, row);
      // Rows that read `||host^`, stored or implied, are compared by host. No text is both.
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

/** Drops all copies of a line except the last. */
class CopyDropping extends RuleStage {
  protected readonly keepsOrdinary: boolean;
  private readonly texts: TextResolver;
  private readonly context: TransformationContext;
  private copies: Int32Array = new Int32Array(0);

  constructor(context: TransformationContext, texts: TextResolver, keepsOrdinary: boolean) {
    super(context);
    this.context = context;
    this.texts = texts;
    this.keepsOrdinary = keepsOrdinary;
  }

  protected override begin(chunk: Chunk): void {
    this.copies = this.texts.copiesOf(chunk);
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const copy = this.copies[row]!;
    if (copy === -1 || isLessTrusted(copy, chunk, this.context)) return true;
    chunk.dropFor(row, Fate.Duplicate, copy);
    return false;
  }
}

/** Writes the text of a special `||name^`, and points at the name in it. */
function writeOut(chunk: Chunk, row: number): void {
  rewriteText(chunk, row, textOf(chunk, row));
  chunk.hostStart[row] = chunk.start[row]! + 2;
  chunk.hostEnd[row] = chunk.end[row]! - 1;
}

/** Whether a converted name would not be read back from `||…^`. Its text must be written to be compared. */
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
