import { sameBytes } from "./hash.ts";

/**
 * Numbers the distinct slices of some bytes, from 0 on, with numbers instead of an object or a string per slice. A slot of the table has
 * the hash of a slice and its number plus one; 0 is a free slot.
 */
export class SliceTable {
  /** The bytes that the slices are parts of. They may be moved, but not changed. */
  bytes: Uint8Array;
  /** The number of slices. */
  size = 0;
  private slots: Int32Array;
  private starts: Uint32Array;
  private ends: Uint32Array;

  constructor(bytes: Uint8Array, capacity = 16) {
    this.bytes = bytes;
    let slots = 16;
    while (slots * 2 < capacity * 3) slots *= 2;
    this.slots = new Int32Array(slots * 2);
    this.starts = new Uint32Array(capacity);
    this.ends = new Uint32Array(capacity);
  }

  /** The number of the slice with the same bytes as a part of `from`, which has this hash; -1 if it has no number. */
  find(from: Uint8Array, start: number, end: number, hash: number): number {
    const { slots, bytes, starts, ends } = this;
    const mask = slots.length - 2;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const number = slots[slot + 1]! - 1;
      if (number === -1) return -1;
      if (
        slots[slot] === hash &&
        sameBytes(bytes, starts[number]!, ends[number]!, from, start, end)
      )
        return number;
    }
  }

  /** Enters a slice that `find` does not find, and returns its number. */
  enter(start: number, end: number, hash: number): number {
    const number = this.size++;
    if (number === this.starts.length) {
      this.starts = grown(this.starts);
      this.ends = grown(this.ends);
    }
    this.starts[number] = start;
    this.ends[number] = end;
    if (this.size * 3 > this.slots.length) this.rebuild();
    place(this.slots, hash, number);
    return number;
  }

  startOf(number: number): number {
    return this.starts[number]!;
  }

  endOf(number: number): number {
    return this.ends[number]!;
  }

  private rebuild(): void {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 2);
    for (let slot = 0; slot < old.length; slot += 2)
      if (old[slot + 1] !== 0) place(this.slots, old[slot]!, old[slot + 1]! - 1);
  }
}

function place(slots: Int32Array, hash: number, number: number): void {
  const mask = slots.length - 2;
  let slot = (hash << 1) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
  slots[slot] = hash;
  slots[slot + 1] = number + 1;
}

function grown(column: Uint32Array): Uint32Array {
  const more = new Uint32Array(column.length * 2);
  more.set(column);
  return more;
}
