import { LF } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { Scratch } from "../host/host.ts";
import { ScratchPartitions } from "../host/scratch-partitions.ts";

/** Lines of one partition, about, of both files. */
const PARTITION_BYTES = 16 * 1024 * 1024;
const MOST_PARTITIONS = 1024;

/** The lines that only one of two files has, in bounded memory; the order of lines does not matter. */
export class LineDifference {
  private readonly before: ScratchPartitions;
  private readonly after: ScratchPartitions;

  /** `bytes` is the size of both files, about. */
  constructor(openScratch: () => Scratch, bytes: number) {
    const count = Math.min(MOST_PARTITIONS, Math.max(1, Math.ceil(bytes / PARTITION_BYTES)));
    this.before = new ScratchPartitions(openScratch, count);
    this.after = new ScratchPartitions(openScratch, count);
  }

  /** Adds a line of the file before or after. */
  add(side: "before" | "after", bytes: Uint8Array, start: number, end: number): void {
    const partitions = this[side];
    // The upper bits: `compare` uses the lower ones, which must not be the same for all lines of a partition.
    const index = Math.floor((hashOf(bytes, start, end) / 2 ** 32 + 0.5) * partitions.count);
    const lines = partitions.end(index);
    lines.append(bytes, start, end);
    lines.push(LF);
    partitions.settle(index);
  }

  /** Lines that only the file before has, and lines that only the file after has. */
  changes(): { readonly removed: string[]; readonly added: string[] } {
    const removed: string[] = [];
    const added: string[] = [];
    for (let index = 0; index < this.before.count; index++)
      compare(this.before.load(index), this.after.load(index), removed, added);
    return { removed, added };
  }

  close(): void {
    this.before.close();
    this.after.close();
  }
}

function compare(before: Uint8Array, after: Uint8Array, removed: string[], added: string[]): void {
  let count = 0;
  for (const byte of before) if (byte === LF) count++;
  const mask = 2 ** Math.ceil(Math.log2(count * 1.5 + 2)) - 1;
  /** Row of a line by hash, plus one; 0 is free. */
  const slots = new Int32Array(mask + 1);
  const starts = new Int32Array(count + 1);
  const isKept = new Uint8Array(count);
  let row = 0;
  for (let start = 0; start < before.length;) {
    const end = before.indexOf(LF, start);
    let slot = hashOf(before, start, end) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    starts[row] = start;
    slots[slot] = ++row;
    start = end + 1;
  }
  starts[row] = before.length;
  for (let start = 0; start < after.length;) {
    const end = after.indexOf(LF, start);
    let isFound = false;
    // Equal lines have one run of slots, so that all copies are found.
    for (let slot = hashOf(after, start, end) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const found = slots[slot]! - 1;
      const from = starts[found]!;
      if (starts[found + 1]! - from !== end + 1 - start) continue;
      let at = start;
      while (at < end && after[at] === before[from + at - start]) at++;
      if (at < end) continue;
      isKept[found] = 1;
      isFound = true;
    }
    if (!isFound) added.push(decodeUtf8(after, start, end));
    start = end + 1;
  }
  for (let one = 0; one < count; one++)
    if (isKept[one] === 0) removed.push(decodeUtf8(before, starts[one], starts[one + 1]! - 1));
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
}
