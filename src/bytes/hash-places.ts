import { hashEnd } from "./hash.ts";

const NONE = -1;

/**
 * Numbers for texts, found by 64-bit hashes; the texts are not kept. It is unpredictable which texts would share a number, and a
 * table of a hundred million texts has no such pair with a probability of 99.9 %.
 */
export class HashPlaces {
  /** The number of texts. */
  size = 0;
  private readonly salts = [0, 0].map(() => (Math.random() * 0x1_0000_0000) | 0);
  private mask = 0xfff;
  private low = new Int32Array(this.mask + 1);
  private high = new Int32Array(this.mask + 1);
  /** The number of each text, plus one. */
  private places = new Int32Array(this.mask + 1);
  private wantedLow = 0;
  private wantedHigh = 0;

  /** The number of a text; -1 if it has none. */
  get(bytes: Uint8Array, start: number = 0, end: number = bytes.length): number {
    this.hash(bytes, start, end);
    return this.places[this.slot()]! + NONE;
  }

  /** Gives a number to the text that was last searched for. */
  set(place: number): void {
    const slot = this.slot();
    if (this.places[slot] === 0) {
      this.low[slot] = this.wantedLow;
      this.high[slot] = this.wantedHigh;
      this.size++;
    }
    this.places[slot] = place - NONE;
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

  private slot(): number {
    let at = this.wantedLow & this.mask;
    while (
      this.places[at] !== 0 &&
      (this.low[at] !== this.wantedLow || this.high[at] !== this.wantedHigh)
    )
      at = (at + 1) & this.mask;
    return at;
  }

  private grow(): void {
    const { low, high, places } = this;
    this.mask = this.mask * 2 + 1;
    this.low = new Int32Array(this.mask + 1);
    this.high = new Int32Array(this.mask + 1);
    this.places = new Int32Array(this.mask + 1);
    for (let at = 0; at < places.length; at++) {
      if (places[at] === 0) continue;
      this.wantedLow = low[at]!;
      this.wantedHigh = high[at]!;
      const slot = this.slot();
      this.low[slot] = low[at]!;
      this.high[slot] = high[at]!;
      this.places[slot] = places[at]!;
    }
  }
}
