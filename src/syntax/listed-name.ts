import { CLASS_OF, HOST_CLASSES, UNDERSCORE } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { readHost } from "./host-name.ts";
import { Suffix } from "./public-suffix.ts";

export const LABEL = "[a-zA-Z0-9_](?:[a-zA-Z0-9_-]*[a-zA-Z0-9_])?";
export const PLAIN_DOMAIN: RegExp = new RegExp(`^${LABEL}(?:\\.${LABEL})+$`);

/** Names may contain underscores, but so do parts of URLs (`_300x250.gif`). Only names have a listed suffix. */
export function isListedName(text: string): boolean {
  return PLAIN_DOMAIN.test(text) && readHost(text)?.kind === Suffix.Icann;
}

/** The same for bytes that contain an underscore. The first bytes rule out most other text. */
export function isUnderscoreName(bytes: Uint8Array, start: number, end: number): boolean {
  return hasUnderscore(bytes, start, end) && isListedName(decodeUtf8(bytes, start, end));
}

/** Whether a slice only has bytes of names, including at least one underscore. */
export function hasUnderscore(bytes: Uint8Array, start: number, end: number): boolean {
  let isFound = false;
  for (let at = start; at < end; at++) {
    if (bytes[at] === UNDERSCORE) isFound = true;
    else if ((CLASS_OF[bytes[at]!]! & HOST_CLASSES) === 0) return false;
  }
  return isFound;
}
