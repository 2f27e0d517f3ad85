import { DOT, HYPHEN, LF, isDigit } from "../bytes/ascii.ts";
import type { FeedLines } from "./feed-lines.ts";

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

/** Bytes of names in lower case; 0 for all others. */
const LOWER = new Uint8Array(256);
for (const byte of new TextEncoder().encode("abcdefghijklmnopqrstuvwxyz0123456789-.")) {
  LOWER[byte] = byte;
  if (byte >= 97) LOWER[byte - 32] = byte;
}

/**
 * Writes the name that begins at `start`, as a line in lower case, and returns the position of the first byte that is not part of a
 * name. Writes nothing and returns -1 if there is no name: two labels or more, of letters, digits and inner hyphens.
 */
export function writePlainName(
  bytes: Uint8Array,
  start: number,
  end: number,
  lines: FeedLines,
): number {
  const from = lines.reserve(LONGEST_NAME + 2);
  const out = lines.bytes;
  const stop = Math.min(end, start + LONGEST_NAME + 1);
  let to = from;
  let previous = DOT;
  let labelStart = start;
  let dots = 0;
  let at = start;
  for (; at < stop; at++) {
    const byte = LOWER[bytes[at]!]!;
    if (byte === 0) break;
    if (byte === DOT) {
      if (previous === DOT || previous === HYPHEN || at - labelStart > LONGEST_LABEL) return -1;
      labelStart = at + 1;
      dots++;
    } else if (byte === HYPHEN && previous === DOT) return -1;
    out[to++] = byte;
    previous = byte;
  }
  // A final dot is not part of the line; names that need more than this are rare.
  if (previous === DOT || previous === HYPHEN || dots === 0) return -1;
  if (at - labelStart > LONGEST_LABEL || at - start > LONGEST_NAME) return -1;
  // A last label that is a number makes the whole an IPv4 address (WHATWG URL).
  if (isDigit(bytes[labelStart]!)) return -1;
  out[to++] = LF;
  lines.length = to;
  return at;
}
