import { DOT, isDigit } from "../bytes/ascii.ts";
import { HASH_SEED, hashByte, hashEnd, sameBytes } from "../bytes/hash.ts";
import { isIpv4 } from "../bytes/ipv4.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { RowSet } from "../rules/row-set.ts";
import { type ChunkPool, type RuleTable, rowOf } from "../rules/rule-table.ts";
import type { NameOptions } from "./resolve-names.ts";

/** The plain form of `resolveNames`: one index of all names. The twin of `names-by-wasm.ts`. */
export function resolveNamesByScript(rules: RuleTable, options: NameOptions): void {
  const names = new NameIndex(rules);
  for (const chunk of rules.chunks) {
    for (let row = 0; row < chunk.length; row++)
      if (chunk.fate[row] === Fate.Live && chunk.kind[row] === Kind.Block) names.add(chunk, row);
  }
  for (const chunk of rules.chunks) {
    for (let row = 0; row < chunk.length; row++) {
      if (chunk.fate[row] !== Fate.Live || chunk.kind[row] !== Kind.Block) continue;
      const parent = names.widestParent(chunk, row, options);
      if (parent !== -1) chunk.dropFor(row, Fate.Covered, parent);
    }
  }
}

class NameIndex {
  private readonly pool: ChunkPool;
  private readonly rows: RowSet;
  private readonly verdicts = new Map<number, boolean>();

  constructor(rules: RuleTable) {
    this.pool = rules.pool;
    this.rows = new RowSet(rules.length);
  }

  /** Makes the row stand for its name, or drops it when another one does already. */
  add(chunk: Chunk, row: number): void {
    const hash = chunk.hostHash[row]!;
    const first = this.find(hash, chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
    if (first === -1) {
      this.rows.add(hash, chunk.idOf(row));
      return;
    }
    chunk.dropFor(row, Fate.SameHost, first);
    if ((chunk.flags[row]! & Flag.Widened) === 0)
      this.pool.chunkOf(first).flags[rowOf(first)]! &= ~Flag.Widened;
  }

  /** From the right: the first parent met is the widest, and it is covered by nothing itself. */
  widestParent(chunk: Chunk, row: number, options: NameOptions): number {
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    if (isDigit(bytes[end - 1]!) && isIpv4(bytes, start, end)) return -1;
    let state = HASH_SEED;
    for (let at = end - 1; at >= start; at--) {
      const byte = bytes[at]!;
      if (byte === DOT && at + 1 < end) {
        const parent = this.find(hashEnd(state), bytes, at + 1, end);
        if (parent !== -1 && this.mayCover(parent, chunk, row, options)) return parent;
      }
      state = hashByte(state, byte);
    }
    return -1;
  }

  private mayCover(parent: number, chunk: Chunk, row: number, options: NameOptions): boolean {
    const parentFlags = this.pool.chunkOf(parent).flags[rowOf(parent)]!;
    if (options.separatesWidened && (parentFlags & ~chunk.flags[row]! & Flag.Widened) !== 0)
      return false;
    let verdict = this.verdicts.get(parent);
    if (verdict === undefined) {
      verdict = options.survives(parent);
      this.verdicts.set(parent, verdict);
    }
    return verdict;
  }

  /** The row that stands for the name in this slice, or -1. */
  private find(hash: number, bytes: Uint8Array, start: number, end: number): number {
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
