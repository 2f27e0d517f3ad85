import { DOT } from "./ascii.ts";

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
