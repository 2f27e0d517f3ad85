import { BRACKET, DOT, HASH, ZERO, isDigit } from "../bytes/ascii.ts";
import { blankAt, skipBlanks, skipBlanksBack } from "../bytes/blank.ts";
import { sameBytes } from "../bytes/hash.ts";
import { isIpv4 } from "../bytes/ipv4.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import { isIpv6, isSinkhole } from "./ip.ts";

/**
 * A parsed line `0.0.0.0 name name … # comment`, as byte offsets. Fields are faster than an object per line.
 *
 *   0.0.0.0   ads.example  t.example   # note
 *          ^addressEnd                ^namesEnd
 *             ^nameStart ^nameEnd
 */
export const hostsLine = {
  addressEnd: 0,
  /** Names are between the address and the first `#` or the end. */
  namesEnd: 0,
  nameStart: 0,
  nameEnd: 0,
  isSinkhole: false,
};

/** Reads a line; false if it is not a hosts line: a valid address and two more characters before any `#`. */
export function readHostsLine(bytes: Uint8Array, start: number, end: number): boolean {
  const addressEnd = tokenEnd(bytes, start, end);
  if (addressEnd === end) return false;
  if (!isIpv4(bytes, start, addressEnd) && !isIpv6(bytes, start, addressEnd)) return false;
  const firstBlank = blankAt(bytes, addressEnd, end);
  const afterBlank = addressEnd + firstBlank;
  if (afterBlank >= end || bytes[afterBlank] === HASH) return false;
  let namesEnd = afterBlank;
  while (namesEnd < end && bytes[namesEnd] !== HASH) namesEnd++;
  hostsLine.addressEnd = addressEnd;
  hostsLine.namesEnd = skipBlanksBack(bytes, addressEnd, namesEnd);
  hostsLine.isSinkhole = isSinkhole(bytes, start, addressEnd);
  hostsLine.nameEnd = addressEnd;
  nextName(bytes);
  return true;
}

/** Moves to the next name. Returns false, with an empty name, if there are no more. */
export function nextName(bytes: Uint8Array): boolean {
  const { namesEnd } = hostsLine;
  const nameStart = skipBlanks(bytes, hostsLine.nameEnd, namesEnd);
  if (nameStart >= namesEnd) {
    hostsLine.nameStart = hostsLine.nameEnd = namesEnd;
    return false;
  }
  hostsLine.nameStart = nameStart;
  hostsLine.nameEnd = tokenEnd(bytes, nameStart, namesEnd);
  return true;
}

function tokenEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && blankAt(bytes, at, end) === 0) at++;
  return at;
}

/** Whether the address at the start of a hosts line is in brackets or has leading zeros. Some resolvers do not read these. */
export function isOddAddress(bytes: Uint8Array, start: number): boolean {
  if (bytes[start] === BRACKET) return true;
  for (let at = start; bytes[at] === DOT || isDigit(bytes[at]!); at++)
    if (bytes[at] === ZERO && isDigit(bytes[at + 1]!) && (at === start || bytes[at - 1] === DOT))
      return true;
  return false;
}

/** Where the name begins after `0.0.0.0 ` or `127.0.0.1 `, as in nine hosts lines in ten; -1 for all other lines. */
export function sinkholeNameStart(bytes: Uint8Array, start: number, end: number): number {
  for (const prefix of SINKHOLE_PREFIXES) {
    const nameStart = start + prefix.length;
    if (nameStart < end && sameBytes(bytes, start, nameStart, prefix, 0, prefix.length))
      return nameStart;
  }
  return -1;
}

const SINKHOLE_PREFIXES = ["0.0.0.0 ", "127.0.0.1 "].map(encodeUtf8);
