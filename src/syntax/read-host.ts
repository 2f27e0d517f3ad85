import { CLASS_OF, DOT, HOST_CLASSES, HYPHEN } from "../bytes/ascii.ts";
import { isSuffixHash } from "./public-suffix.ts";
import { HASH_SEED, hashEnd, hashLabel } from "../bytes/hash.ts";

/** Whether a slice is a domain name, and in which form. */
export const DomainShape = {
  No: 0,
  /** At least two labels of 1–63 letters, digits and inner hyphens (RFC 1123 §2.1), at most 255 bytes */
  Plain: 1,
  /** The same with a final dot; one label is then enough (`org.`) */
  FinalDot: 2,
} as const;

/** The result of the last `readHost`. Fields are faster than an object per line. */
export const host = {
  hash: 0,
  /** Hash of the text after its first dot. */
  parentHash: 0,
  /** Partition: the same for a name and all its parents, except wide ones. */
  part: 0,
  shape: 0,
  /** The union of the classes of its bytes. */
  mask: 0,
  dots: 0,
};

/**
 * Reads a slice as a host name in one pass from right to left: computes its hash and the classes of its bytes, and checks
 * its labels. Every line with a name passes through here once.
 */
export function readHost(bytes: Uint8Array, start: number, end: number): void {
  let state = HASH_SEED;
  let two = 0;
  let three = 0;
  let innerDots = 0;
  let mask = 0;
  let dots = 0;
  let isWellFormed = end > start && end - start <= 255;
  let labelEnd = end;
  for (let at = end - 1; at >= start; at--) {
    const byte = bytes[at]!;
    mask |= CLASS_OF[byte]!;
    if (byte !== DOT) continue;
    dots++;
    state = hashLabel(state, bytes, at + 1, labelEnd);
    // A final dot does not end a label.
    if (at + 1 !== end) {
      if (++innerDots === 2) two = state;
      else if (innerDots === 3) three = state;
      if (!isLabel(bytes, at + 1, labelEnd)) isWellFormed = false;
    }
    labelEnd = at;
  }
  host.parentHash = hashEnd(state);
  state = hashLabel(state, bytes, start, labelEnd);
  if (!isLabel(bytes, start, labelEnd)) isWellFormed = false;
  host.hash = hashEnd(state);
  host.part = partOf(innerDots, innerDots >= 2 ? two : state, innerDots >= 3 ? three : state);
  host.mask = mask;
  host.dots = dots;
  if (!isWellFormed || (mask & ~HOST_CLASSES) !== 0 || dots === 0) host.shape = DomainShape.No;
  else host.shape = bytes[end - 1] === DOT ? DomainShape.FinalDot : DomainShape.Plain;
}

function isLabel(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  return length > 0 && length < 64 && bytes[start] !== HYPHEN && bytes[end - 1] !== HYPHEN;
}

/** The partition of names that are parents of names in all partitions. */
const WIDE = 255;

/** The last two labels select the partition, or three if two may be a public suffix (`co.uk`). Shorter names are wide. */
function partOf(dots: number, two: number, three: number): number {
  if (dots === 0) return WIDE;
  const hash = hashEnd(two);
  const isBelowSuffix = isSuffixHash(hash);
  if (isBelowSuffix && dots === 1) return WIDE;
  return Math.min((isBelowSuffix ? hashEnd(three) : hash) >>> 24, WIDE - 1);
}
