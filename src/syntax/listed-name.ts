import { parse } from "tldts";
import { CLASS_OF, HOST_CLASSES, UNDERSCORE } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";

export const LABEL = "[a-zA-Z0-9_](?:[a-zA-Z0-9_-]*[a-zA-Z0-9_])?";
export const PLAIN_DOMAIN: RegExp = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);

/** Underscores occur in names, but more often in pieces of addresses (`_300x250.gif`); a listed suffix tells them apart. */
export function isListedName(text: string): boolean {
  return PLAIN_DOMAIN.test(text) && parse(text).isIcann === true;
}

/** The same for bytes, if there is an underscore among them. Most that are not one are told from their first bytes. */
export function isUnderscoreName(bytes: Uint8Array, start: number, end: number): boolean {
  return hasUnderscore(bytes, start, end) && isListedName(decodeUtf8(bytes, start, end));
}

/** Whether a slice is made of the bytes of a name, underscores included, and has one. */
export function hasUnderscore(bytes: Uint8Array, start: number, end: number): boolean {
  let isFound = false;
  for (let at = start; at < end; at++) {
    if (bytes[at] === UNDERSCORE) isFound = true;
    else if ((CLASS_OF[bytes[at]!]! & HOST_CLASSES) === 0) return false;
  }
  return isFound;
}
