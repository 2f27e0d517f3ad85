import { BANG, CARET, COLON, DOLLAR, DOT, HASH, PIPE, SLASH, SPACE, TAB } from "../bytes/ascii.ts";

/**
 * Detects text that must not get from a third-party list into ours: characters that affect terminals, editors and parsers,
 * and comments that control the software of our subscribers.
 */

/** The result of one pass over a line. Nearly all lines then need no second pass and no string. */
export const Sign = {
  /** May contain characters that `hasUnsafeCharacters` detects. */
  Unsafe: 1,
  /** May be metadata: it begins with a comment sign or contains a colon. */
  Metadata: 2,
  /** May have modifiers. */
  Dollar: 4,
  /** A dot before a blank, an anchor or the end, as in `name.`. */
  FinalDot: 8,
  /** Begins or ends with a blank. */
  OuterBlank: 16,
  /** An upper-case letter before any path or selector. */
  Upper: 32,
  /** A note directly behind a name, or the mark of a browser rule. */
  Hash: 64,
} as const;

export function signsOf(bytes: Uint8Array, start: number, end: number): number {
  let signs = 0;
  let at = start;
  while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
  if (bytes[at] === BANG || bytes[at] === HASH) signs = Sign.Metadata;
  const last = bytes[end - 1];
  if (at > start || last === SPACE || last === TAB) signs |= Sign.OuterBlank;
  let upper: number = Sign.Upper;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    // Most are lower-case letters.
    if (byte >= 97 && byte <= 122) continue;
    if (byte === COLON) signs |= Sign.Metadata;
    else if (byte === DOLLAR) signs |= Sign.Dollar;
    else if (byte === DOT) {
      const next = at + 1 === end ? SPACE : bytes[at + 1]!;
      if (next <= SPACE || next === CARET || next === PIPE) signs |= Sign.FinalDot;
    } else if (byte === SLASH) {
      if (bytes[at + 1] !== SLASH && bytes[at - 1] !== SLASH) upper = 0;
    } else if (byte === HASH) {
      if (at > start && bytes[at - 1]! > SPACE) signs |= Sign.Hash;
      upper = 0;
    } else if (byte >= 65 && byte <= 90) signs |= upper;
    else if ((byte < SPACE && byte !== TAB) || byte > 126) signs |= Sign.Unsafe | Sign.Metadata;
  }
  return signs;
}

/** Whether it has control characters (C0 except tab, DEL, C1), line separators, direction marks, or a byte order mark. */
export function hasUnsafeCharacters(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < 127) {
      if (byte < 32 && byte !== 9) return true;
      continue;
    }
    const next = bytes[at + 1]!;
    if (byte === 127 || (byte === 0xc2 && next < 0xa0)) return true;
    // U+061C, U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069, U+FEFF.
    if (byte === 0xd8 && next === 0x9c) return true;
    const last = bytes[at + 2]!;
    if (byte === 0xef && next === 0xbb && last === 0xbf) return true;
    if (byte !== 0xe2) continue;
    if (next === 0x80 && (last === 0x8e || last === 0x8f || (last >= 0xa8 && last <= 0xae)))
      return true;
    if (next === 0x81 && last >= 0xa6 && last <= 0xa9) return true;
  }
  return false;
}

/** Directives (`!#include`), hints (`!+ NOT_PLATFORM`), and header fields that list managers read. */
const OBEYED =
  /^![#+]|^[!#][\s!#]*(?:title|expires|homepage|version|checksum|redirect|redirection|last[ -]?modified|time[ -]?updated|diff-\w+)\s*:/i;

/** Updaters search for this anywhere in a line. */
const UPDATE_ADDRESS = /diff-(?:path|expires|name)\s*:/i;

/** Whether a line, comment or not, contains instructions or information for the software that loads the list. */
export function isMetadata(text: string): boolean {
  return OBEYED.test(text.trim()) || UPDATE_ADDRESS.test(text);
}
