import { HOST_CLASSES } from "../bytes/ascii.ts";
import { resolveNames } from "../kernel/resolve-names.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import { type ChunkPool, type RuleTable, rowOf } from "../rules/rule-table.ts";
import { maskOf } from "../syntax/classify.ts";
import { judgeBlockRow } from "../syntax/judge-row.ts";
import type { Outlook } from "./outlook.ts";
import { HostsSplitter, toBlockRule } from "./to-block-rule.ts";
import type { Transformation } from "./transformation.ts";

export const compress: Transformation = {
  summary: "Writes every name as `||name^` and drops what a parent domain covers",
  details:
    "Hosts lines and plain domains become `||name^`, one rule a name, in lower case. Of several rules for one name the first stays; a rule goes when a parent domain is blocked as well. A parent covers nothing if it would not itself survive: when the validator drops it, a later exclusion takes it or a `$badfilter` rule cancels it. Addresses have no parents.",
  run(rules, outlook) {
    const cancelled = nameRows(rules, outlook);
    resolveNames(rules, {
      separatesWidened: outlook.removesModifiers === true,
      survives: (id) => survives(rules.pool, id, cancelled, outlook),
    });
    releaseOddNames(rules);
  },
};

/** Turns every row that names one host into `||host^`. Returns the names that `$badfilter` rules take back. */
function nameRows(rules: RuleTable, outlook: Outlook): ReadonlySet<string> {
  const cancelled = new Set<string>();
  const splitter = new HostsSplitter(rules, outlook);
  for (const [index, chunk] of rules.chunks.entries()) {
    const { fate, kind, flags, hostStart, hostEnd, length } = chunk;
    for (let row = 0; row < length; row++) {
      if (fate[row] !== Fate.Live && fate[row] !== Fate.Spare) continue;
      // Nearly every row is a plain name in lower case; the rest is not worth slowing these down for.
      const isPlain = (flags[row]! & NAME_FLAGS) === Flag.PlainHost && kind[row] !== Kind.Rule;
      const hostLength = hostEnd[row]! - hostStart[row]!;
      if (!isPlain || hostLength === LOCAL_DOMAIN_LENGTH)
        nameRow(index, chunk, row, splitter, cancelled);
      else if (kind[row] !== Kind.Block) toBlockRule(chunk, row);
    }
  }
  return cancelled;
}

const NAME_FLAGS =
  Flag.PlainHost | Flag.UpperHost | Flag.SeveralNames | Flag.RealAddress | Flag.Continued;
/** `localhost.localdomain`, the one local name of a hosts file that has a dot. */
const LOCAL_DOMAIN_LENGTH = 21;

function nameRow(
  index: number,
  chunk: Chunk,
  row: number,
  splitter: HostsSplitter,
  cancelled: Set<string>,
): void {
  if (chunk.fate[row] === Fate.Spare) splitter.fill(chunk, row);
  if (chunk.fate[row] !== Fate.Live) return;
  const kind = chunk.kind[row]!;
  if (kind === Kind.Hosts) splitter.split(index, chunk, row);
  else if (kind === Kind.Domain) toBlockRule(chunk, row);
  else if (kind === Kind.Rule && (chunk.flags[row]! & Flag.AsBlock) === 0) {
    if (isBadfilter(chunk, row)) cancelled.add(hostOf(chunk, row).toLowerCase());
    else splitter.readCommentedDomain(chunk, row);
  }
  const isFolded = (chunk.flags[row]! & Flag.UpperHost) === 0;
  if (!isFolded && chunk.kind[row] === Kind.Block) splitter.foldHost(chunk, row);
}

function isBadfilter(chunk: Chunk, row: number): boolean {
  const tail = chunk.end[row]! - chunk.hostEnd[row]!;
  if (chunk.hostStart[row] === chunk.hostEnd[row] || tail < 11) return false;
  if ((chunk.flags[row]! & Flag.Allow) !== 0) return false;
  return textOf(chunk, row).trim() === `||${hostOf(chunk, row)}^$badfilter`;
}

/** Whether a rule that would cover others will still be there at the end. */
function survives(
  pool: ChunkPool,
  id: number,
  cancelled: ReadonlySet<string>,
  outlook: Outlook,
): boolean {
  const chunk = pool.chunkOf(id);
  const row = rowOf(id);
  if (cancelled.size > 0 && cancelled.has(hostOf(chunk, row))) return false;
  const { validator } = outlook;
  if (validator !== undefined && judgeBlockRow(chunk, row, validator) !== Fate.Live) return false;
  return outlook.willBeFiltered?.(textOf(chunk, row)) !== true;
}

/**
 * Names of hosts lines may be anything. As `||name^` only plain ASCII ones read as rules for a name, so a second Compress,
 * at the top level, must leave the others alone.
 */
function releaseOddNames(rules: RuleTable): void {
  for (const chunk of rules.chunks) {
    if (!chunk.has.oddHosts) continue;
    for (let row = 0; row < chunk.length; row++) {
      const flags = chunk.flags[row]! & (Flag.AsBlock | Flag.PlainHost);
      if (flags !== Flag.AsBlock) continue;
      const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
      if ((mask & ~HOST_CLASSES) !== 0) chunk.kind[row] = Kind.Rule;
    }
  }
}
