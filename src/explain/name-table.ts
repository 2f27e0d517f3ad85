import { ByteBuffer } from "../bytes/byte-buffer.ts";
import { hashName, sameBytes } from "../bytes/hash.ts";

/** Distinct names, numbered from 0. No name becomes a string: a million take 40 MB. */
export class NameTable {
  length = 0;
  private readonly text = new ByteBuffer(1 << 16);
  /** Where each name ends. */
  private ends: Uint32Array;
  private hashes: Int32Array;
  /** Number + 1 by hash; 0 is free. */
  private slots: Int32Array;

  /** `expected` is about how many names there will be. */
  constructor(expected = 1024) {
    this.ends = new Uint32Array(expected);
    this.hashes = new Int32Array(expected);
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(expected * 2)));
  }

  get bytes(): Uint8Array {
    return this.text.bytes;
  }

  startOf(index: number): number {
    return index === 0 ? 0 : this.ends[index - 1]!;
  }

  endOf(index: number): number {
    return this.ends[index]!;
  }

  /** Where names end, each at the start of the next one. */
  endsOf(from: number, to: number): Uint32Array {
    return this.ends.subarray(from, to);
  }

  /** The number of a name with this hash (`hashName`); it is added if it is new. */
  // oxlint-disable-next-line max-params -- numbers, not objects, in a loop over rows
  add(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slot = this.slotOf(hash, bytes, start, end);
    const known = this.slots[slot]!;
    if (known > 0) return known - 1;
    if (this.length === this.ends.length) this.grow();
    this.text.append(bytes, start, end);
    this.ends[this.length] = this.text.length;
    this.hashes[this.length] = hash;
    this.slots[slot] = ++this.length;
    if (this.length * 2 > this.slots.length) this.spread();
    return this.length - 1;
  }

  /** The number of a name; -1 if it is not here. */
  find(bytes: Uint8Array): number {
    const hash = hashName(bytes, 0, bytes.length);
    return this.slots[this.slotOf(hash, bytes, 0, bytes.length)]! - 1;
  }

  private slotOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot]! - 1;
      if (index === -1) return slot;
      if (hashes[index] !== hash) continue;
      if (sameBytes(bytes, start, end, this.bytes, this.startOf(index), this.endOf(index)))
        return slot;
    }
  }

  private grow(): void {
    const ends = new Uint32Array(this.length * 2);
    ends.set(this.ends);
    this.ends = ends;
    const hashes = new Int32Array(this.length * 2);
    hashes.set(this.hashes);
    this.hashes = hashes;
  }

  private spread(): void {
    const mask = this.slots.length * 2 - 1;
    this.slots = new Int32Array(mask + 1);
    for (let index = 0; index < this.length; index++) {
      let slot = this.hashes[index]! & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = index + 1;
    }
  }
}
