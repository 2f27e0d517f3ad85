import { DOT } from "./text.ts";

/**
 * 32-bit hashes of names, computed label by label from right to left. At each dot, the running state is the hash of the
 * parent domain, so one walk yields the hashes of a name and all its parents. Each step takes four bytes of a label.
 */

/**
 * Random per process, so that list authors cannot choose names that collide. Stored and printed data does not depend on
 * it, except the filters of a build record, which stores the seed.
 */
export const HASH_SEED: number = (Math.random() * 0x1_0000_0000) | 0;

/** The multiplication spreads bits up, the shift spreads them down. So no two steps cancel out for letters and digits. */
function hashStep(state: number, word: number): number {
  const mixed = Math.imul(state ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** Adds one label, without its dots, to the hash. */
export function hashLabel(state: number, bytes: Uint8Array, start: number, end: number): number {
  let hash = state;
  let word = 0;
  let count = 0;
  for (let at = start; at < end; at++) {
    word |= bytes[at]! << (count << 3);
    if (++count < 4) continue;
    hash = hashStep(hash, word);
    word = count = 0;
  }
  return hashStep(hash, word ^ ((end - start) << 24));
}

/** Spreads the state over all bits; tables use the low ones. Signed, because V8 keeps signed 32-bit numbers unboxed. */
export function hashEnd(state: number): number {
  let hash = state ^ (state >>> 15);
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  hash = Math.imul(hash, 0x297a2d39);
  return hash ^ (hash >>> 15);
}

/** Hash of any bytes. */
export function hashBytes(seed: number, bytes: Uint8Array, start: number, end: number): number {
  let state = seed;
  for (let at = start; at < end; at++) {
    state = Math.imul(state ^ bytes[at]!, 0x9e3779b1);
    state ^= state >>> 15;
  }
  return hashEnd(state);
}

/** Hash of a whole name. */
export function hashName(
  bytes: Uint8Array,
  start: number,
  end: number,
  seed: number = HASH_SEED,
): number {
  let state = seed;
  let labelEnd = end;
  for (let at = end - 1; at >= start; at--) {
    if (bytes[at] !== DOT) continue;
    state = hashLabel(state, bytes, at + 1, labelEnd);
    labelEnd = at;
  }
  return hashEnd(hashLabel(state, bytes, start, labelEnd));
}

const encoder = new TextEncoder();
const scratch = new Uint8Array(1024);

/** Hash of a whole name that is a string. */
export function hashText(name: string): number {
  const isShort = name.length * 3 <= scratch.length;
  const bytes = isShort ? scratch : encoder.encode(name);
  return hashName(bytes, 0, isShort ? encoder.encodeInto(name, bytes).written : bytes.length);
}

/** Two secret factors. A text can contain any bytes, and with one factor, chosen differences could cancel out. */
const FACTORS = [randomOdd(), randomOdd()] as const;

function randomOdd(): number {
  return (Math.random() * 0x1_0000_0000) | 1;
}

/** Hash of any bytes. */
export function hashSlice(bytes: Uint8Array, start: number, end: number): number {
  const [first, second] = FACTORS;
  let state = HASH_SEED ^ (end - start);
  let word = 0;
  let count = 0;
  for (let at = start; at < end; at++) {
    word |= bytes[at]! << (count << 3);
    if (++count < 4 && at + 1 < end) continue;
    const mixed = Math.imul(state ^ word, first);
    state = Math.imul(mixed ^ (mixed >>> 15), second) ^ (mixed >>> 7);
    word = count = 0;
  }
  return hashEnd(state);
}

// oxlint-disable-next-line max-params -- numbers, not objects, in a loop over rows
export function sameBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) if (a[i] !== b[j]) return false;
  return true;
}

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
    placeSlot(this.slots, hash, number);
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
      if (old[slot + 1] !== 0) placeSlot(this.slots, old[slot]!, old[slot + 1]! - 1);
  }
}

function placeSlot(slots: Int32Array, hash: number, number: number): void {
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
