import { DOT, HOST_CLASSES, isDigit } from "../bytes/ascii.ts";
import { HASH_SEED, hashByte, hashEnd, sameBytes } from "../bytes/hash.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { RowSet } from "../rules/row-set.ts";
import { hostOf, textOf } from "../rules/row-text.ts";
import { type ChunkPool, type RuleTable, rowOf } from "../rules/rule-table.ts";
import { maskOf } from "../syntax/classify.ts";
import { isIpv4 } from "../syntax/ip.ts";
import { judgeBlockRow } from "../syntax/judge-row.ts";
import type { Outlook } from "./outlook.ts";
import { HostsSplitter, toBlockRule } from "./to-block-rule.ts";
import type { Transformation } from "./transformation.ts";

export const compress: Transformation = {
  summary: "Writes every name as `||name^` and drops what a parent domain covers",
  details:
    "Hosts lines and plain domains become `||name^`, one rule a name, in lower case. Of several rules for one name the first stays; a rule goes when a parent domain is blocked as well. A parent covers nothing if it would not itself survive: when the validator drops it, a later exclusion takes it or a `$badfilter` rule cancels it. Addresses have no parents.",
  run(rules, outlook) {
    const names = new NameIndex(rules);
    nameRows(rules, names, outlook);
    dropCovered(rules, names, outlook);
    releaseOddNames(rules);
  },
};

/** The names that rows stand for, and what `$badfilter` rules take back. */
class NameIndex {
  readonly cancelled = new Set<string>();
  /** Whether a name may be something else than two or more plain labels; `||com^` is the one that matters. */
  hasOddNames = false;
  private readonly pool: ChunkPool;
  private readonly rows: RowSet;

  constructor(rules: RuleTable) {
    this.pool = rules.pool;
    this.rows = new RowSet(rules.length);
  }

  /** Makes the row stand for its name, or drops it when another one does already. */
  add(chunk: Chunk, row: number): void {
    const flags = chunk.flags[row]!;
    const hash = chunk.hostHash[row]!;
    if ((flags & Flag.PlainHost) === 0) this.hasOddNames = true;
    const first = this.find(hash, chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
    if (first === -1) {
      this.rows.add(hash, chunk.idOf(row));
      return;
    }
    chunk.dropFor(row, Fate.SameHost, first);
    if ((flags & Flag.Widened) === 0)
      this.pool.chunkOf(first).flags[rowOf(first)]! &= ~Flag.Widened;
  }

  /** The row that stands for the name in this slice, or -1. */
  find(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const { rows, pool } = this;
    for (let slot = rows.first(hash); slot !== -1; slot = rows.next(slot, hash)) {
      const id = rows.idAt(slot);
      const chunk = pool.chunkOf(id);
      const row = rowOf(id);
      const other = chunk.bytesOf(row);
      if (sameBytes(bytes, start, end, other, chunk.hostStart[row]!, chunk.hostEnd[row]!))
        return id;
    }
    return -1;
  }
}

/** Turns every row that names one host into `||host^` and enters it into the index. */
function nameRows(rules: RuleTable, names: NameIndex, outlook: Outlook): void {
  const splitter = new HostsSplitter(rules, outlook);
  for (const [index, chunk] of rules.chunks.entries()) {
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.fate[row] === Fate.Spare) splitter.fill(chunk, row);
      if (chunk.fate[row] !== Fate.Live) continue;
      const kind = chunk.kind[row]!;
      if (kind === Kind.Hosts) splitter.split(index, chunk, row);
      else if (kind === Kind.Domain) toBlockRule(chunk, row);
      else if (kind === Kind.Rule && (chunk.flags[row]! & Flag.AsBlock) === 0) {
        if (isBadfilter(chunk, row)) names.cancelled.add(hostOf(chunk, row).toLowerCase());
        else splitter.readCommentedDomain(chunk, row);
      }
      if (chunk.kind[row] !== Kind.Block || chunk.fate[row] !== Fate.Live) continue;
      if ((chunk.flags[row]! & Flag.UpperHost) !== 0) splitter.foldHost(chunk, row);
      names.add(chunk, row);
    }
  }
}

function isBadfilter(chunk: Chunk, row: number): boolean {
  const tail = chunk.end[row]! - chunk.hostEnd[row]!;
  if (chunk.hostStart[row] === chunk.hostEnd[row] || tail < 11) return false;
  if ((chunk.flags[row]! & Flag.Allow) !== 0) return false;
  return textOf(chunk, row).trim() === `||${hostOf(chunk, row)}^$badfilter`;
}

function dropCovered(rules: RuleTable, names: NameIndex, outlook: Outlook): void {
  const { pool } = rules;
  const verdicts = new Map<number, boolean>();

  function survives(id: number): boolean {
    let verdict = verdicts.get(id);
    if (verdict === undefined) {
      const chunk = pool.chunkOf(id);
      const row = rowOf(id);
      verdict =
        !(names.cancelled.size > 0 && names.cancelled.has(hostOf(chunk, row))) &&
        (outlook.validator === undefined ||
          judgeBlockRow(chunk, row, outlook.validator) === Fate.Live) &&
        outlook.willBeFiltered?.(textOf(chunk, row)) !== true;
      verdicts.set(id, verdict);
    }
    return verdict;
  }

  /** What a rule says only since it lost its modifiers does not make the rules of others redundant. */
  function mayCover(parent: number, chunk: Chunk, row: number): boolean {
    if (outlook.removesModifiers !== true || (chunk.flags[row]! & Flag.Widened) !== 0) return true;
    return (pool.chunkOf(parent).flags[rowOf(parent)]! & Flag.Widened) === 0;
  }

  // Nine names in ten have no parent but a top-level domain; those are asked about only if one is in the list.
  const skipped = names.hasOddNames ? -1 : Flag.PlainHost;
  const shape = Flag.PlainHost | Flag.DeepHost;
  for (const chunk of rules.chunks) {
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.fate[row] !== Fate.Live || chunk.kind[row] !== Kind.Block) continue;
      if ((chunk.flags[row]! & shape) === skipped) continue;
      const bytes = chunk.bytesOf(row);
      const start = chunk.hostStart[row]!;
      const end = chunk.hostEnd[row]!;
      if (isDigit(bytes[end - 1]!) && isIpv4(bytes, start, end)) continue;
      // From the right: the first parent met is the widest, and it is covered by nothing itself.
      let state = HASH_SEED;
      let isTopLevel = !names.hasOddNames;
      for (let at = end - 1; at >= start; at--) {
        const byte = bytes[at]!;
        if (byte === DOT && at + 1 < end) {
          const parent = isTopLevel ? -1 : names.find(hashEnd(state), bytes, at + 1, end);
          isTopLevel = false;
          if (parent !== -1 && mayCover(parent, chunk, row) && survives(parent)) {
            chunk.dropFor(row, Fate.Covered, parent);
            break;
          }
        }
        state = hashByte(state, byte);
      }
    }
  }
}

/**
 * Names of hosts lines may be anything. As `||name^` only plain ASCII ones read as rules for a name, so a second Compress,
 * at the top level, must leave the others alone.
 */
function releaseOddNames(rules: RuleTable): void {
  for (const chunk of rules.chunks) {
    for (let row = 0; row < chunk.length; row++) {
      const flags = chunk.flags[row]! & (Flag.AsBlock | Flag.PlainHost);
      if (flags !== Flag.AsBlock) continue;
      const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
      if ((mask & ~HOST_CLASSES) !== 0) chunk.kind[row] = Kind.Rule;
    }
  }
}
