/** Named byte constants, and a table of the class of each byte. */

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const BANG = 33;
export const HASH = 35;
export const DOLLAR = 36;
export const PERCENT = 37;
export const STAR = 42;
export const COMMA = 44;
export const BACKSLASH = 92;
export const HYPHEN = 45;
export const DOT = 46;
export const SLASH = 47;
export const ZERO = 48;
const NINE = 57;
export const COLON = 58;
export const AT = 64;
export const BRACKET = 91;
export const CARET = 94;
export const UNDERSCORE = 95;
export const PIPE = 124;

/** Bits of a byte's class. A line's mask is the union over its bytes and shows what the line cannot be. */
export const Class = {
  /** a–z, 0–9 */
  Word: 1,
  /** A–Z */
  Upper: 2,
  Dot: 4,
  Hyphen: 8,
  /** Space, tab, vertical tab, form feed. Line ends never reach a mask. */
  Blank: 16,
  /** Every other ASCII byte */
  Mark: 32,
  /** Part of a multi-byte character */
  NonAscii: 64,
} as const;

/** The classes that a plain domain may use. */
export const HOST_CLASSES: number = Class.Word | Class.Upper | Class.Dot | Class.Hyphen;

export const CLASS_OF: Uint8Array = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) CLASS_OF[byte] = classOf(byte);

function classOf(byte: number): number {
  if ((byte >= 97 && byte <= 122) || (byte >= ZERO && byte <= NINE)) return Class.Word;
  if (byte >= 65 && byte <= 90) return Class.Upper;
  if (byte === DOT) return Class.Dot;
  if (byte === HYPHEN) return Class.Hyphen;
  if (byte === SPACE || byte === TAB || byte === 11 || byte === 12) return Class.Blank;
  return byte < 128 ? Class.Mark : Class.NonAscii;
}

/** Letters and digits of either case. */
export function isAlphanumeric(byte: number): boolean {
  return (CLASS_OF[byte]! & (Class.Word | Class.Upper)) !== 0;
}

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Folds A–Z to a–z and keeps every other byte: the only case folding in DNS. */
export function lowerByte(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte | 32 : byte;
}
