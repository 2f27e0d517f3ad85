import { DOT, isDigit } from "../bytes/ascii.ts";
import { isIpv4 } from "../bytes/ipv4.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { CHUNK_ROWS, CHUNK_SHIFT, type Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { type RuleTable, rowOf } from "../rules/rule-table.ts";
import { type KernelMemory, startKernel } from "./memory.ts";
import type { NameOptions } from "./resolve-names.ts";

/**
 * `resolveNames` by the WebAssembly kernel. Names are dealt to 256 partitions by their last two labels, so that a name and
 * its parents meet in one, and a partition's table stays in the cache. Names of one label (`||com^`) are parents of names
 * in all partitions; they are few and looked after here.
 */
export function resolveNamesByWasm(rules: RuleTable, options: NameOptions): void {
  const partitions = new NamePartitions(rules);
  partitions.fill(rules);
  partitions.resolve(options);
  partitions.apply(rules, options);
}

const PARTITIONS = 256;
const RECORD = { Widened: 2, Barred: 4, Used: 8 };

class NamePartitions {
  private readonly kernel: KernelMemory = startKernel();
  /** Number of records before each partition, and after the last. */
  private readonly first = new Uint32Array(PARTITIONS + 1);
  private readonly nameBytes = new Uint32Array(PARTITIONS);
  private readonly total: number;
  /** Rows for a name of one label, a parent of names in all partitions. */
  private readonly topNames: number[] = [];
  private scratch = 0;
  private scratchSize = 0;
  private readonly widestChunk: number;
  private readonly at: Record<
    | "starts"
    | "ends"
    | "hashes"
    | "flags"
    | "by"
    | "ids"
    | "cursors"
    | "table" | "used"
    | "columns"
    | "bytes",
    number
  >;

  constructor(rules: RuleTable) {
    const counts = new Uint32Array(PARTITIONS);
    let widest = 0;
    for (const chunk of rules.chunks) {
      const { fate, kind, flags, hostPart, hostStart, hostEnd, length } = chunk;
      for (let row = 0; row < length; row++) {
        if (fate[row] !== Fate.Live || kind[row] !== Kind.Block) continue;
        if ((flags[row]! & Flag.PlainHost) === 0 && isOneLabel(chunk, row))
          this.topNames.push(chunk.idOf(row));
        counts[hostPart[row]!]!++;
        this.nameBytes[hostPart[row]!]! += hostEnd[row]! - hostStart[row]!;
      }
      widest = Math.max(widest, spanOf(chunk).length);
    }
    let total = 0;
    for (let part = 0; part < PARTITIONS; part++) {
      this.first[part] = total;
      total += counts[part]!;
    }
    this.first[PARTITIONS] = total;
    this.total = total;
    this.widestChunk = widest;
    const { kernel } = this;
    const most = counts.reduce((max, count) => Math.max(max, count), 0);
    this.at = {
      starts: kernel.allocate(total * 4),
      ends: kernel.allocate(total * 4),
      hashes: kernel.allocate(total * 4),
      flags: kernel.allocate(total),
      by: kernel.allocate(total * 4),
      ids: kernel.allocate(total * 4),
      cursors: kernel.allocate(PARTITIONS * 8),
      table: kernel.allocate(tableSize(most) * 8),
      used: kernel.allocate(most * 4),
      columns: kernel.allocate(CHUNK_ROWS * 17),
      bytes: kernel.allocate(this.nameBytes.reduce((sum, bytes) => sum + bytes, 0) + 8),
    };
  }

  /** Copies every name to its partition, in the order of the rows. */
  fill(rules: RuleTable): void {
    const { kernel, at } = this;
    const chunkBytes = kernel.allocate(this.widestChunk + 8);
    kernel.exports.useRecords(at.starts, at.ends, at.hashes, at.flags, at.by);
    const cursors = kernel.words(at.cursors, PARTITIONS * 2);
    let free = at.bytes;
    for (let part = 0; part < PARTITIONS; part++) {
      cursors[part * 2] = this.first[part]!;
      cursors[part * 2 + 1] = free;
      free += this.nameBytes[part]!;
    }
    for (const chunk of rules.chunks) this.fillFrom(chunk, chunkBytes);
  }

  private fillFrom(chunk: Chunk, chunkBytes: number): void {
    const { kernel, at } = this;
    const { length } = chunk;
    const { start, length: span } = spanOf(chunk);
    kernel.bytes(chunkBytes, span).set(chunk.bytes.subarray(start, start + span));
    const hostStarts = at.columns;
    const hostEnds = hostStarts + CHUNK_ROWS * 4;
    const hashes = hostEnds + CHUNK_ROWS * 4;
    const flags = hashes + CHUNK_ROWS * 4;
    const kinds = flags + CHUNK_ROWS * 2;
    const fates = kinds + CHUNK_ROWS;
    const parts = fates + CHUNK_ROWS;
    kernel.words(hostStarts, length).set(chunk.hostStart.subarray(0, length));
    kernel.words(hostEnds, length).set(chunk.hostEnd.subarray(0, length));
    kernel.integers(hashes, length).set(chunk.hostHash.subarray(0, length));
    kernel.shorts(flags, length).set(chunk.flags.subarray(0, length));
    kernel.bytes(kinds, length).set(chunk.kind.subarray(0, length));
    kernel.bytes(fates, length).set(chunk.fate.subarray(0, length));
    kernel.bytes(parts, length).set(chunk.hostPart.subarray(0, length));
    let row = 0;
    while (row < length) {
      row = kernel.exports.packNames(
        row,
        length,
        chunk.id << CHUNK_SHIFT,
        chunkBytes - start,
        hostStarts,
        hostEnds,
        hashes,
        kinds,
        flags,
        fates,
        parts,
        at.cursors,
        at.ids,
        Flag.Rewritten,
      );
      if (row === length) break;
      this.packRewritten(chunk, row);
      row++;
    }
  }

  /** The text of this row is not among the file's bytes. */
  private packRewritten(chunk: Chunk, row: number): void {
    const { kernel, at } = this;
    const name = chunk.bytesOf(row).subarray(chunk.hostStart[row], chunk.hostEnd[row]);
    if (name.length > this.scratchSize) {
      this.scratchSize = name.length * 2;
      this.scratch = kernel.allocate(this.scratchSize);
    }
    kernel.bytes(this.scratch, name.length).set(name);
    kernel.exports.packOne(
      this.scratch,
      this.scratch + name.length,
      chunk.hostHash[row]!,
      chunk.flags[row]!,
      chunk.hostPart[row]!,
      chunk.idOf(row),
      at.cursors,
      at.ids,
    );
  }

  resolve(options: NameOptions): void {
    const { kernel, at, first } = this;
    const separates = options.separatesWidened ? 1 : 0;
    for (let part = 0; part < PARTITIONS; part++) {
      const from = first[part]!;
      const to = first[part + 1]!;
      if (from === to) continue;
      kernel.exports.resolveSame(from, to, at.table, tableSize(to - from));
      let used: number;
      do used = kernel.exports.resolveCovered(from, to, separates, at.used);
      while (this.barsSome(used, options));
    }
  }

  /** Bars the parents that will not survive; true when there was one, and what it covered must be looked at again. */
  private barsSome(used: number, options: NameOptions): boolean {
    const flags = this.kernel.bytes(this.at.flags, this.total);
    const ids = this.kernel.words(this.at.ids, this.total);
    let isBarred = false;
    for (const record of this.kernel.words(this.at.used, used)) {
      const survives = options.survives(ids[record]!);
      flags[record] = (flags[record]! & ~RECORD.Used) | (survives ? 0 : RECORD.Barred);
      if (!survives) isBarred = true;
    }
    return isBarred;
  }

  /** Writes the results to the rows. */
  apply(rules: RuleTable, options: NameOptions): void {
    const { chunks } = rules.pool;
    const ids = this.kernel.integers(this.at.ids, this.total);
    const by = this.kernel.integers(this.at.by, this.total);
    if (this.topNames.length > 0) this.dropSame(rules, ids, by);
    if (options.separatesWidened) this.clearWidened(rules, ids);
    const top = this.topLevelNames(rules, options);
    for (let record = 0; record < this.total; record++) {
      const cause = by[record]!;
      if (cause === -1 && top.size === 0) continue;
      const id = ids[record]!;
      const chunk = chunks[id >> CHUNK_SHIFT]!;
      const row = rowOf(id);
      if (cause >= 0) {
        chunk.dropFor(row, Fate.SameHost, ids[cause]!);
        continue;
      }
      const widest = top.size === 0 ? -1 : topParent(chunk, row, top, rules, options);
      if (widest !== -1) chunk.dropFor(row, Fate.Covered, widest);
      else if (cause !== -1) chunk.dropFor(row, Fate.Covered, ids[-2 - cause]!);
    }
  }

  /** First of all, where names of one label may be: only the first rule of a name can cover others. */
  private dropSame(rules: RuleTable, ids: Int32Array, by: Int32Array): void {
    for (let record = 0; record < this.total; record++) {
      if (by[record]! < 0) continue;
      const id = ids[record]!;
      rules.pool.chunkOf(id).dropFor(rowOf(id), Fate.SameHost, ids[by[record]!]!);
    }
  }

  /** A rule that another one says without ever having had modifiers is not widened. */
  private clearWidened(rules: RuleTable, ids: Int32Array): void {
    const flags = this.kernel.bytes(this.at.flags, this.total);
    for (let record = 0; record < this.total; record++) {
      if ((flags[record]! & RECORD.Widened) !== 0) continue;
      rules.pool.chunkOf(ids[record]!).flags[rowOf(ids[record]!)]! &= ~Flag.Widened;
    }
  }

  /** Names of one label that survive, each with its row. */
  private topLevelNames(rules: RuleTable, options: NameOptions): Map<string, number> {
    const top = new Map<string, number>();
    for (const id of this.topNames) {
      const chunk = rules.pool.chunkOf(id);
      const row = rowOf(id);
      if (chunk.fate[row] !== Fate.Live || !options.survives(id)) continue;
      top.set(decodeUtf8(chunk.bytesOf(row), chunk.hostStart[row], chunk.hostEnd[row]), id);
    }
    return top;
  }
}

/** The rule for the last label of the row's name, if that one may cover it. */
function topParent(
  chunk: Chunk,
  row: number,
  top: ReadonlyMap<string, number>,
  rules: RuleTable,
  options: NameOptions,
): number {
  const bytes = chunk.bytesOf(row);
  const start = chunk.hostStart[row]!;
  const end = chunk.hostEnd[row]!;
  if (isDigit(bytes[end - 1]!) && isIpv4(bytes, start, end)) return -1;
  let dot = end - 2;
  while (dot >= start && bytes[dot] !== DOT) dot--;
  if (dot < start) return -1;
  const parent = top.get(decodeUtf8(bytes, dot + 1, end)) ?? -1;
  if (parent === -1 || !options.separatesWidened || (chunk.flags[row]! & Flag.Widened) !== 0)
    return parent;
  return (rules.pool.chunkOf(parent).flags[rowOf(parent)]! & Flag.Widened) === 0 ? parent : -1;
}

/** No dot, but for a final one. */
function isOneLabel(chunk: Chunk, row: number): boolean {
  const bytes = chunk.bytesOf(row);
  for (let at = chunk.hostEnd[row]! - 2; at >= chunk.hostStart[row]!; at--)
    if (bytes[at] === DOT) return false;
  return true;
}

/** The part of its file's bytes that a chunk's rows point into. */
function spanOf(chunk: Chunk): { start: number; length: number } {
  let low = 0;
  while (low < chunk.length && (chunk.flags[low]! & Flag.Rewritten) !== 0) low++;
  let high = chunk.length - 1;
  while (high >= low && (chunk.flags[high]! & Flag.Rewritten) !== 0) high--;
  if (high < low) return { start: 0, length: 0 };
  const start = Math.min(chunk.start[low]!, chunk.hostStart[low]!);
  return { start, length: Math.max(chunk.end[high]!, chunk.hostEnd[high]!) - start };
}

function tableSize(records: number): number {
  let size = 16;
  while (size < records * 2) size *= 2;
  return size;
}
