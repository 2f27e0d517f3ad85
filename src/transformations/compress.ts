import { HOST_CLASSES } from "../bytes/ascii.ts";
import { skipBlanksBack } from "../bytes/blank.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { type NameResolver, nameResolver } from "../kernel/name-resolver.ts";
import type { RowFinder } from "../kernel/row-finder.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf, toBlockRule } from "../rules/row-text.ts";
import { maskOf, pointAtHost } from "../syntax/classify.ts";
import { judgeBlockName } from "../syntax/judge-row.ts";
import { hasUnderscore, isUnderscoreName } from "../syntax/listed-name.ts";
import type { Outlook } from "./outlook.ts";
import { Gathering } from "./stage.ts";
import { HostsSplitter } from "./to-block-rule.ts";
import type { Transformation, Workshop } from "./transformation.ts";

export const compress: Transformation = {
  summary: "Writes every name as `||name^` and drops what a parent domain covers",
  details:
    "Hosts lines and plain domains become `||name^`, one rule per name, in lower case. Of several rules for one name the first stays; a rule goes when a parent domain is blocked as well. A parent covers nothing if it would not itself survive: when the validator drops it, a later exclusion takes it or a `$badfilter` rule, of this source or another, cancels it. Addresses have no parents.",
  stages: (outlook, workshop) => [new Names(outlook, workshop)],
};

class Names extends Gathering {
  private readonly splitter: HostsSplitter;
  private readonly names: NameResolver;
  /** Names that `$badfilter` rules take back. */
  private readonly cancelled: Set<string>;
  private readonly finder: RowFinder;
  private readonly leavesUnderscores: boolean;

  constructor(outlook: Outlook, { pool, room, finder }: Workshop) {
    super(pool.shelf);
    this.finder = finder;
    this.cancelled = new Set(outlook.cancelledLater);
    this.leavesUnderscores = outlook.leavesUnderscores === true;
    this.splitter = new HostsSplitter(outlook);
    const { willBeFiltered } = outlook;
    this.names = nameResolver(
      {
        separatesWidened: outlook.removesModifiers === true,
        survives: (name, isPlain, isVerbatim) => this.survives(name, isPlain, isVerbatim, outlook),
        ordinarySurvive: () => this.cancelled.size === 0 && willBeFiltered === undefined,
        losesByText:
          willBeFiltered === undefined
            ? undefined
            : (chunk, row) => willBeFiltered(textOf(chunk, row)),
      },
      room,
    );
  }

  protected gather(chunk: Chunk): void {
    chunk.isChanged = true;
    // Rows of ordinary names, nearly all, are turned into rules when they are added to the others.
    for (const row of this.finder.oddOrSpare(chunk)) {
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
    releaseOddNames(chunk, this.finder);
  }

  protected close(): void {
    this.names.close();
  }

  /** Whether a rule that would cover others will still be there at the end. */
  private survives(
    name: Uint8Array,
    isPlain: boolean,
    isVerbatim: boolean,
    { validator, willBeFiltered }: Outlook,
  ): boolean {
    if (this.cancelled.size > 0 && this.cancelled.has(decodeUtf8(name))) return false;
    if (validator !== undefined && judgeBlockName(name, isPlain, validator) !== Fate.Live)
      return false;
    return isVerbatim || willBeFiltered?.(`||${decodeUtf8(name)}^`) !== true;
  }
}

/** Turns a row that names one host into `||host^`, and notes the name that a `$badfilter` rule takes back. */
function nameRow(chunk: Chunk, row: number, splitter: HostsSplitter, cancelled: Set<string>): void {
  if (chunk.fate[row] === Fate.Spare) splitter.fill(chunk, row);
  if (chunk.fate[row] !== Fate.Live) return;
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

/** Names with an underscore are rare enough to be read as other text; here they are names like all others. */
function readUnderscoreName(chunk: Chunk, row: number): void {
  if (chunk.fate[row] !== Fate.Live || chunk.kind[row] !== Kind.Rule) return;
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
 * Names of hosts lines may be anything. As `||name^` only plain ASCII ones read as rules for a name, so a second Compress,
 * at the top level, must leave the others alone.
 */
function releaseOddNames(chunk: Chunk, finder: RowFinder): void {
  if (!chunk.has.oddHosts) return;
  for (const row of finder.odd(chunk)) {
    if (chunk.kind[row] !== Kind.Block || (chunk.flags[row]! & Flag.PlainHost) !== 0) continue;
    const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
    if ((mask & ~HOST_CLASSES) === 0) continue;
    chunk.kind[row] = Kind.Rule;
    chunk.isChanged = true;
  }
}
