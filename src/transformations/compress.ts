import { HOST_CLASSES } from "../bytes/ascii.ts";
import { skipBlanksBack } from "../bytes/blank.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { NameResolver } from "../kernel/name-resolver.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf, toBlockRule } from "../rules/row-text.ts";
import { maskOf, pointAtHost } from "../syntax/classify.ts";
import { judgeBlockName } from "../syntax/judge-row.ts";
import { hasUnderscore, isUnderscoreName } from "../syntax/listed-name.ts";
import { keepTrusted } from "./keep-trusted.ts";
import type { TransformationContext } from "./transformation-context.ts";
import { BarrierStage } from "./stage.ts";
import { HostsSplitter } from "./to-block-rule.ts";
import type { Transformation } from "./transformation.ts";

export const compress: Transformation = {
  summary: "Writes every name as `||name^` and drops what a parent domain covers",
  details:
    "Hosts lines and plain domains become `||name^`, one rule per name, in lower case. Of several rules for one name the first stays; a rule goes when a parent domain is blocked as well. A parent covers nothing if it would not itself survive: when the validator drops it, a later exclusion takes it or a `$badfilter` rule, of this source or another, cancels it. Addresses have no parents.",
  stages: (context) => [new Names(context)],
};

class Names extends BarrierStage {
  private readonly context: TransformationContext;
  private readonly splitter: HostsSplitter;
  private readonly names: NameResolver;
  /** Names that `$badfilter` rules cancel. */
  private readonly cancelled: Set<string>;
  private readonly finder: RowFinder;
  private readonly leavesUnderscores: boolean;

  constructor(context: TransformationContext) {
    const { pool, budget, finder } = context;
    super(pool.cache);
    this.context = context;
    this.finder = finder;
    this.cancelled = new Set(context.cancelledLater);
    this.leavesUnderscores = context.leavesUnderscores === true;
    this.splitter = new HostsSplitter(context);
    const { willBeFiltered, validator, comparison: slot } = context;
    this.names = new NameResolver(
      {
        separatesWidened: context.removesModifiers === true,
        survives: (name, isPlain, isVerbatim) => this.survives(name, isPlain, isVerbatim, context),
        conditions: () => [validator, [...this.cancelled].toSorted().join("\n")],
        ordinarySurvive: () => this.cancelled.size === 0 && willBeFiltered === undefined,
        losesByText:
          willBeFiltered === undefined
            ? undefined
            : (chunk, row) => willBeFiltered(textOf(chunk, row)),
      },
      budget,
      // Filters may change with their files.
      slot && willBeFiltered === undefined ? { slot, cache: pool.cache } : undefined,
    );
  }

  protected gather(chunk: Chunk): void {
    chunk.isChanged = true;
    // Most rows are ordinary names. `names.add` turns these into rules.
    for (const row of this.finder.specialOrSpare(chunk)) {
      if (!this.leavesUnderscores) readUnderscoreName(chunk, row);
      nameRow(chunk, row, this.splitter, this.cancelled);
    }
    this.names.add(chunk);
  }

  protected resolve(): void {
    this.names.resolve();
  }

  protected apply(chunk: Chunk): void {
    this.names.apply(chunk);
    keepTrusted(chunk, this.context);
    releaseOddNames(chunk, this.finder);
  }

  protected close(): void {
    this.names.close();
  }

  /** Whether a rule that would cover others is still present at the end. */
  private survives(
    name: Uint8Array,
    isPlain: boolean,
    isVerbatim: boolean,
    { validator, willBeFiltered }: TransformationContext,
  ): boolean {
    if (this.cancelled.size > 0 && this.cancelled.has(decodeUtf8(name))) return false;
    if (validator !== undefined && judgeBlockName(name, isPlain, validator) !== Fate.Kept)
      return false;
    return isVerbatim || willBeFiltered?.(`||${decodeUtf8(name)}^`) !== true;
  }
}

/** Turns a row with one host into `||host^`, and records the name that a `$badfilter` rule cancels. */
function nameRow(chunk: Chunk, row: number, splitter: HostsSplitter, cancelled: Set<string>): void {
  if (chunk.fate[row] === Fate.Spare) splitter.fill(chunk, row);
  if (chunk.fate[row] !== Fate.Kept) return;
  const kind = chunk.kind[row]!;
  if (kind === Kind.Hosts) splitter.split(chunk, row);
  else if (kind === Kind.Domain) toBlockRule(chunk, row);
  else if (kind === Kind.Rule && (chunk.flags[row]! & Flag.AsBlock) === 0) {
    if (isBadfilter(chunk, row)) cancelled.add(hostOf(chunk, row).toLowerCase());
    else splitter.readCommentedDomain(chunk, row);
  }
  const isFolded = (chunk.flags[row]! & Flag.UpperHost) === 0;
  if (!isFolded && chunk.kind[row] === Kind.Block) splitter.foldHost(chunk, row);
}

/** The scanner reads the rare names with an underscore as other text. Compress treats them as names. */
function readUnderscoreName(chunk: Chunk, row: number): void {
  if (chunk.fate[row] !== Fate.Kept || chunk.kind[row] !== Kind.Rule) return;
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  const hostStart = chunk.hostStart[row]!;
  const hostEnd = chunk.hostEnd[row]!;
  if ((chunk.flags[row]! & Flag.AsBlock) !== 0) {
    if (hasUnderscore(bytes, hostStart, hostEnd)) chunk.kind[row] = Kind.Block;
  } else if (hostStart < hostEnd) {
    const isBare = skipBlanksBack(bytes, hostEnd, end) === hostEnd + 1;
    const isAllow = (chunk.flags[row]! & Flag.Allow) !== 0;
    if (isBare && !isAllow && hasUnderscore(bytes, hostStart, hostEnd))
      chunk.kind[row] = Kind.Block;
  } else if (isUnderscoreName(bytes, start, end)) {
    pointAtHost(chunk, row, start, end);
    toBlockRule(chunk, row);
  }
}

function isBadfilter(chunk: Chunk, row: number): boolean {
  const tail = chunk.end[row]! - chunk.hostEnd[row]!;
  if (chunk.hostStart[row] === chunk.hostEnd[row] || tail < 11) return false;
  if ((chunk.flags[row]! & Flag.Allow) !== 0) return false;
  return textOf(chunk, row).trim() === `||${hostOf(chunk, row)}^$badfilter`;
}

/**
 * Hosts lines may contain any text as a name. As `||name^` only plain ASCII names read as rules for a name, so a second
 * Compress at the top level must skip the others.
 */
function releaseOddNames(chunk: Chunk, finder: RowFinder): void {
  if (!chunk.has.specialHosts) return;
  for (const row of finder.special(chunk)) {
    if (chunk.kind[row] !== Kind.Block || (chunk.flags[row]! & Flag.PlainHost) !== 0) continue;
    const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
    if ((mask & ~HOST_CLASSES) === 0) continue;
    chunk.kind[row] = Kind.Rule;
    chunk.isChanged = true;
  }
}
