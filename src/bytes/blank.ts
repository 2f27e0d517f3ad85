/**
 * Blanks as JavaScript's `trim()` and `\s` define them, on UTF-8 bytes. The compiler trims and splits lists by these
 * rules, so it can detect a final no-break space without converting the line to a string.
 */

/** Length in bytes of the blank character that begins at `at`, or 0. */
export function blankAt(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  if (first === 32 || (first >= 9 && first <= 13)) return 1;
  if (first < 0xc2) return 0;
  if (first === 0xc2) return at + 1 < end && bytes[at + 1] === 0xa0 ? 2 : 0;
  if (first > 0xef || at + 2 >= end) return 0;
  return isBlankTriple(first, bytes[at + 1]!, bytes[at + 2]!) ? 3 : 0;
}

/** Length in bytes of the blank character that ends just before `end`, or 0. */
function blankBefore(bytes: Uint8Array, start: number, end: number): number {
  if (end <= start) return 0;
  const last = bytes[end - 1]!;
  if (last === 32 || (last >= 9 && last <= 13)) return 1;
  if (last < 0x80) return 0;
  if (end - start >= 2 && last === 0xa0 && bytes[end - 2] === 0xc2) return 2;
  if (end - start < 3) return 0;
  return isBlankTriple(bytes[end - 3]!, bytes[end - 2]!, last) ? 3 : 0;
}

/** U+1680, U+2000–200A, U+2028, U+2029, U+202F, U+205F, U+3000 and U+FEFF. */
function isBlankTriple(a: number, b: number, c: number): boolean {
  if (a === 0xe2) {
    if (b === 0x80) return (c >= 0x80 && c <= 0x8a) || c === 0xa8 || c === 0xa9 || c === 0xaf;
    return b === 0x81 && c === 0x9f;
  }
  if (a === 0xe3) return b === 0x80 && c === 0x80;
  if (a === 0xef) return b === 0xbb && c === 0xbf;
  return a === 0xe1 && b === 0x9a && c === 0x80;
}

/** The first position at or after `start` that is not blank. */
export function skipBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const length = blankAt(bytes, at, end);
    if (length === 0) break;
    at += length;
  }
  return at;
}

/** The last position at or before `end` that does not follow a blank. */
export function skipBlanksBack(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start) {
    const length = blankBefore(bytes, start, at);
    if (length === 0) break;
    at -= length;
  }
  return at;
}
