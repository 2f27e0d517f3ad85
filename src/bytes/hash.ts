/**
 * 32-bit hashes of byte slices, taken from right to left: at each dot on the way the running state is the hash of the
 * parent domain, so a name and all its parents cost one walk.
 */

/**
 * Another one in every process: whoever writes a list cannot choose names that collide. Nothing that is kept or printed
 * depends on it.
 */
export const HASH_SEED: number = (Math.random() * 0x1_0000_0000) | 0;

/** One step of the walk. */
export function hashByte(state: number, byte: number): number {
  return Math.imul(state ^ byte, 0x01000193);
}

/** Spreads the state over all bits; tables take the low ones. Signed, because V8 keeps signed 32-bit numbers unboxed. */
export function hashEnd(state: number): number {
  let hash = state ^ (state >>> 15);
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  hash = Math.imul(hash, 0x297a2d39);
  return hash ^ (hash >>> 15);
}

export function hashSlice(bytes: Uint8Array, start: number, end: number): number {
  let state = HASH_SEED;
  for (let at = end - 1; at >= start; at--) state = hashByte(state, bytes[at]!);
  return hashEnd(state);
}

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
