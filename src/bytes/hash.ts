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
export function hashStep(state: number, word: number): number {
  const mixed = Math.imul(state ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** A step of a second hash, which shares no collisions with the first: together, they have 64 bits. */
export function otherHashStep(state: number, word: number): number {
  const mixed = Math.imul(state ^ word, 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
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

/** Hash of any bytes, which is the same everywhere. */
export function hashBytes(seed: number, bytes: Uint8Array, start: number, end: number): number {
  let state = seed;
  for (let at = start; at < end; at++) state = hashStep(state, bytes[at]!);
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

/** Longer than any name. */
const LONGEST = 1024;

/** Whether a character is usual in names: a lower-case letter, a digit, or one of `.-_`. */
const IS_USUAL = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9._-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * A name with the hashes of its ends: one walk for all tables that are asked for the name, without a string for each of the names above
 * it. One object reads many names.
 */
export class HashedName {
  readonly bytes: Uint8Array = new Uint8Array(LONGEST);
  length = 0;
  /** The number of ends: one for each dot, shortest first, and the name itself. */
  ends = 0;
  /** Where each end begins, and its hash. */
  readonly starts: Uint16Array = new Uint16Array(LONGEST + 1);
  readonly hashes: Int32Array = new Int32Array(LONGEST + 1);

  /** False for a name that is too long, ends with a dot or contains an unusual character. */
  read(name: string): boolean {
    const { bytes, starts, hashes } = this;
    const { length } = name;
    this.length = this.ends = 0;
    if (length === 0 || length > LONGEST) return false;
    for (let at = 0; at < length; at++) {
      const code = name.charCodeAt(at);
      if (code > 0x7f || IS_USUAL[code] === 0) return false;
      bytes[at] = code;
    }
    if (bytes[length - 1] === DOT) return false;
    let ends = 0;
    let state = HASH_SEED;
    let labelEnd = length;
    for (let at = length - 1; at >= 0; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      starts[ends] = at + 1;
      hashes[ends++] = hashEnd(state);
      labelEnd = at;
    }
    starts[ends] = 0;
    hashes[ends++] = hashEnd(hashLabel(state, bytes, 0, labelEnd));
    this.length = length;
    this.ends = ends;
    return true;
  }
}

/** Two secret factors. A text can contain any bytes, and with one factor, chosen differences could cancel out. */
const FACTORS = [randomOdd(), randomOdd()] as const;

function randomOdd(): number {
  return (Math.random() * 0x1_0000_0000) | 1;
}

/** Hash of any bytes, which other processes cannot predict. */
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

/** Hash of a few characters of a string. 30 bits, so that it is a small integer. */
export function hashGram(text: string, at: number, length: number): number {
  let gram = length;
  for (let next = at; next < at + length; next++)
    gram = (Math.imul(gram, 0x01000193) ^ text.charCodeAt(next)) & 0x3fffffff;
  return gram ^ (gram >>> 15);
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

/**
 * Values by 32-bit hashes, in open addressing: the only such table outside the kernel. A slot has a hash and its value beside each
 * other; the value 0 is a free slot. Several entries may share a hash; the classes below tell them apart.
 */
export class HashTable {
  /** The number of entries. */
  size = 0;
  private slots: Int32Array;

  constructor(capacity = 16) {
    let slots = 16;
    while (slots * 2 < capacity * 3) slots *= 2;
    this.slots = new Int32Array(slots * 2);
  }

  /** The value of the first entry with a hash; 0 without one. */
  get(hash: number): number {
    const { slots } = this;
    const mask = slots.length - 2;
    let slot = (hash << 1) & mask;
    while (slots[slot] !== hash && slots[slot + 1] !== 0) slot = (slot + 2) & mask;
    return slots[slot + 1]!;
  }

  /** Where the first entry with a hash is, or the next one after `slot`. The value there is 0 without one. */
  slotOf(hash: number, slot: number = hash << 1): number {
    const { slots } = this;
    const mask = slots.length - 2;
    let at = slot & mask;
    while (slots[at] !== hash && slots[at + 1] !== 0) at = (at + 2) & mask;
    return at;
  }

  valueAt(slot: number): number {
    return this.slots[slot + 1]!;
  }

  /** Changes the value of the first entry with a hash, which is added if it is new. */
  set(hash: number, value: number): void {
    const slot = this.slotOf(hash);
    if (this.slots[slot + 1] === 0) this.add(hash, value);
    else this.slots[slot + 1] = value;
  }

  /** Adds an entry, also beside another one with the same hash. */
  add(hash: number, value: number): void {
    if (++this.size * 3 > this.slots.length) {
      const old = this.slots;
      this.slots = new Int32Array(old.length * 2);
      for (let slot = 0; slot < old.length; slot += 2)
        if (old[slot + 1] !== 0) this.put(old[slot]!, old[slot + 1]!);
    }
    this.put(hash, value);
  }

  private put(hash: number, value: number): void {
    const { slots } = this;
    const mask = slots.length - 2;
    let slot = (hash << 1) & mask;
    while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
    slots[slot] = hash;
    slots[slot + 1] = value;
  }
}

/**
 * Numbers distinct texts, from 0 on, by 64-bit hashes; the texts are not kept. It is unpredictable which texts would share a number,
 * and a table of a hundred million texts has no such pair with a probability of 99.9 %.
 */
export class TextNumbers {
  private readonly table = new HashTable(4096);
  private readonly salts = [0, 0].map(() => (Math.random() * 0x1_0000_0000) | 0);
  /** The upper halves of the hashes. */
  private highs = new Uint32Array(4096);
  private wantedLow = 0;
  private wantedHigh = 0;

  /** The number of a text; -1 if it has none. `fold` is set in every byte: 32 ignores the case of names. */
  find(bytes: Uint8Array, start: number, end: number, fold: 0 | 32 = 0): number {
    let low = this.salts[0]! ^ fold;
    let high = this.salts[1]! ^ fold;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]! | fold;
      low = hashStep(low, byte);
      high = otherHashStep(high, byte);
    }
    low = hashEnd(low);
    high = hashEnd(high) >>> 0;
    this.wantedLow = low;
    this.wantedHigh = high;
    const { table, highs } = this;
    for (let slot = table.slotOf(low); ; slot = table.slotOf(low, slot + 2)) {
      const number = table.valueAt(slot) - 1;
      if (number === -1 || highs[number] === high) return number;
    }
  }

  /** Numbers the text that `find` did not find just now. */
  enter(): number {
    const number = this.table.size;
    if (number === this.highs.length) this.highs = grown(this.highs);
    this.highs[number] = this.wantedHigh;
    this.table.add(this.wantedLow, number + 1);
    return number;
  }
}

/** Numbers the distinct slices of some bytes, from 0 on, with numbers instead of an object or a string per slice. */
export class SliceTable {
  /** The bytes that the slices are parts of. They may be moved, but not changed. */
  bytes: Uint8Array;
  private readonly table: HashTable;
  private starts: Uint32Array;
  private ends: Uint32Array;

  constructor(bytes: Uint8Array, capacity = 16) {
    this.bytes = bytes;
    this.table = new HashTable(capacity);
    this.starts = new Uint32Array(Math.max(1, capacity));
    this.ends = new Uint32Array(Math.max(1, capacity));
  }

  /** The number of slices. */
  get size(): number {
    return this.table.size;
  }

  /** The number of the slice with the same bytes as a part of `from`, which has this hash; -1 if it has no number. */
  find(from: Uint8Array, start: number, end: number, hash: number): number {
    const { table, bytes, starts, ends } = this;
    for (let slot = table.slotOf(hash); ; slot = table.slotOf(hash, slot + 2)) {
      const number = table.valueAt(slot) - 1;
      if (number === -1 || sameBytes(bytes, starts[number]!, ends[number]!, from, start, end))
        return number;
    }
  }

  /** Enters a slice that `find` does not find, and returns its number. */
  enter(start: number, end: number, hash: number): number {
    const number = this.size;
    if (number === this.starts.length) {
      this.starts = grown(this.starts);
      this.ends = grown(this.ends);
    }
    this.starts[number] = start;
    this.ends[number] = end;
    this.table.add(hash, number + 1);
    return number;
  }

  /** The number of a slice of the bytes, which is entered if it is new: then the number is the `size` before. */
  numberOf(start: number, end: number, hash: number): number {
    const number = this.find(this.bytes, start, end, hash);
    return number === -1 ? this.enter(start, end, hash) : number;
  }

  startOf(number: number): number {
    return this.starts[number]!;
  }

  endOf(number: number): number {
    return this.ends[number]!;
  }
}

/** A column of twice the length. */
export function grown(column: Uint32Array): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(column.length * 2);
  longer.set(column);
  return longer;
}
