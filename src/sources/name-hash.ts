import { hashEnd } from "../bytes/hash.ts";

const START = 0x3c6ef372;
/** Names in exceptions have other hashes than blocked ones. */
export const EXCEPTION = 0x5bd1e995;

/**
 * Hashes entries of lists, ignoring case: the bit that differs between cases is set in all other bytes of names anyway. `open` is the same
 * everywhere. `secret` cannot be predicted, not even from `open`,
 * so that no list can be made to look like another one.
 */
export class EntryHash {
  open = 0;
  secret = 0;
  private readonly salt: number;

  constructor(salt: number) {
    this.salt = salt;
  }

  of(bytes: Uint8Array, start: number, end: number, isException: boolean): void {
    let state = isException ? START ^ EXCEPTION : START;
    let other = ~state;
    for (let at = end - 1; at >= start; at--) {
      const byte = bytes[at]! | 32;
      state = Math.imul(state ^ byte, 0x9e3779b1);
      state ^= state >>> 15;
      other = Math.imul(other ^ byte, 0x85ebca6b);
      other ^= other >>> 13;
    }
    this.open = hashEnd(state);
    this.secret = hashEnd(state ^ Math.imul(other ^ this.salt, 0xc2b2ae35));
  }
}

/** Calls `found` with the hash of a name, then with that of each of its parents, until it returns true. */
export function someSuffix(
  bytes: Uint8Array,
  { start, end, seed }: { start: number; end: number; seed: number },
  found: (hash: number, isWhole: boolean) => boolean,
): boolean {
  let state = seed;
  for (let at = end - 1; at >= start; at--) {
    const byte = bytes[at]! | 32;
    if (byte === 46 && found(hashEnd(state), false)) return true;
    state = Math.imul(state ^ byte, 0x9e3779b1);
    state ^= state >>> 15;
  }
  return found(hashEnd(state), true);
}
