import { hashEnd } from "./hash.ts";

const NONE = -1;
const WIDTH = 4;
const PLACE = 2;

/**
 * Numbers for texts, found by 64-bit hashes; the texts are not kept. It is unpredictable which texts would share a number, and a
 * table of a hundred million texts has no such pair with a probability of 99.9 %.
 */
export class HashPlaces {
  /** The number of texts. */
  size = 0;
  private readonly salts = [0, 0].map(() => (Math.random() * 0x1_0000_0000) | 0);
  private mask = 0xfff;
  /** Four numbers for each slot, to be read together: both halves of the hash, the number of the text plus one, nothing. */
  private slots = new Int32Array((this.mask + 1) * WIDTH);
  private wantedLow = 0;
  private wantedHigh = 0;

  /** The number of a text; -1 if it has none. */
  get(bytes: Uint8Array, start: number = 0, end: number = bytes.length): number {
    this.hash(bytes, start, end);
    return this.slots[this.slot() + PLACE]! + NONE;
  }

  /** Gives a number to the text that was last searched for. */
  set(place: number): void {
    const slot = this.slot();
    if (this.slots[slot + PLACE] === 0) this.size++;
    this.put(slot, place - NONE);
    if (this.size * 2 > this.mask) this.grow();
  }

  private hash(bytes: Uint8Array, start: number, end: number): void {
    let [low, high] = this.salts as [number, number];
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      low = Math.imul(low ^ byte, 0x9e3779b1);
      low ^= low >>> 15;
      high = Math.imul(high ^ byte, 0x85ebca6b);
      high ^= high >>> 13;
    }
    this.wantedLow = hashEnd(low);
    this.wantedHigh = hashEnd(high);
  }

  private put(slot: number, place: number): void {
    this.slots[slot] = this.wantedLow;
    this.slots[slot + 1] = this.wantedHigh;
    this.slots[slot + PLACE] = place;
  }

  private slot(): number {
    const { slots, mask, wantedLow, wantedHigh } = this;
    let at = wantedLow & mask;
    for (;;) {
      const slot = at * WIDTH;
      const isFree = slots[slot + PLACE] === 0;
      if (isFree || (slots[slot] === wantedLow && slots[slot + 1] === wantedHigh)) return slot;
      at = (at + 1) & mask;
    }
  }

  private grow(): void {
    const { slots } = this;
    this.mask = this.mask * 2 + 1;
    this.slots = new Int32Array((this.mask + 1) * WIDTH);
    for (let at = 0; at < slots.length; at += WIDTH) {
      if (slots[at + PLACE] === 0) continue;
      this.wantedLow = slots[at]!;
      this.wantedHigh = slots[at + 1]!;
      this.put(this.slot(), slots[at + PLACE]!);
    }
  }
}
