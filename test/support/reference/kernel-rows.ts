import { Other } from "../../../src/kernel/kernel.ts";
import { FILTER_BYTES, addName, blockOf, blocksOf } from "../../../src/kernel/names.ts";
import type { BlockNames, HashFilter } from "../../../src/kernel/rows.ts";
import { CHUNK_SHIFT, type Chunk, Flag, Kind } from "../../../src/rules/chunk.ts";
import { Fate, hasCause } from "../../../src/rules/fate.ts";

/** Bytes of the longest difference of two row numbers. */
const LONGEST_VARINT = 5;

export function findHashes(chunk: Chunk, filter: HashFilter): Uint32Array {
  const rows: number[] = [];
  for (let row = 0; row < chunk.length; row++)
    if (filter.has(chunk.hostHash[row]!) && chunk.fate[row] === Fate.Kept) rows.push(row);
  return Uint32Array.from(rows);
}

export function findRows(chunk: Chunk, lastFate: number, without: number): Uint32Array {
  const rows: number[] = [];
  for (let row = 0; row < chunk.length; row++)
    if (chunk.fate[row]! <= lastFate && (chunk.flags[row]! & without) === 0) rows.push(row);
  return Uint32Array.from(rows);
}

export function blockNames({ length, flags, hostHash }: Chunk): BlockNames {
  const filters = new Uint8Array(blocksOf(length) * FILTER_BYTES);
  const others: number[] = [];
  for (let row = 0; row < length; row++) {
    const isOrdinary = (flags[row]! & Flag.Ordinary) !== 0;
    if (!isOrdinary || (flags[row]! & Flag.Rewritten) !== 0) others.push(row);
    if (isOrdinary) addName(filters, blockOf(row) * FILTER_BYTES, hostHash[row]!);
  }
  return { filters, others: Uint32Array.from(others) };
}

export function otherRows({ flags, kind, length }: Chunk): Uint8Array {
  const others = new Uint8Array(length);
  for (let row = 0; row < length; row++)
    others[row] =
      ((flags[row]! & Flag.Generated) === 0 ? 0 : Other.Generated) |
      ((flags[row]! & Flag.Continued) === 0 ? 0 : Other.Continued) |
      (kind[row]! < Kind.Hosts ? Other.NoRule : 0);
  return others;
}

export function causesOf({ id, fate, length }: Chunk, by: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(length * LONGEST_VARINT);
  let at = 0;
  let last = id << CHUNK_SHIFT;
  for (let row = 0; row < length; row++) {
    if (!hasCause(fate[row]!)) continue;
    const step = by[row]! - last;
    last = by[row]!;
    // Row numbers have 31 bits, so the double of a difference has 32, and as a number without sign it still fits.
    let value = ((step << 1) ^ (step >> 31)) >>> 0;
    for (; value > 127; value >>>= 7) bytes[at++] = (value & 127) | 128;
    bytes[at++] = value;
  }
  return bytes.subarray(0, at);
}

/** Adds the chunk's fates to the counters. Returns the number of live rules. */
export function countFates({ fate, kind, length }: Chunk, fates: Float64Array): number {
  let rules = 0;
  for (let row = 0; row < length; row++) {
    fates[fate[row]!]!++;
    if (fate[row] === Fate.Kept && kind[row]! >= Kind.Hosts) rules++;
  }
  return rules;
}
