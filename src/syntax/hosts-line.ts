import { sameBytes } from "../bytes/hash.ts";
import {
  BRACKET,
  CLASS_OF,
  COLON,
  Class,
  DOT,
  HASH,
  PERCENT,
  ZERO,
  blankAt,
  decodeUtf8,
  encodeUtf8,
  isAlphanumeric,
  isDigit,
  isIpv4,
  skipBlanks,
  skipBlanksBack,
} from "../bytes/text.ts";

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

/** Reads addresses at the start of a hosts line, on bytes. */

/** 45 characters, a zone of the length of an interface name, and brackets. */
const LONGEST_ADDRESS = 80;

/** RFC 4291 text form in either case, with an optional `%zone` (RFC 4007), optionally in brackets. */
function isIpv6(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > LONGEST_ADDRESS) return false;
  if (bytes[start] === BRACKET && bytes[end - 1] === BRACKET + 2)
    return bytes[start + 1] !== BRACKET && isIpv6(bytes, start + 1, end - 1);
  let colons = 0;
  let addressEnd = end;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === COLON) colons++;
    else if (byte === PERCENT) {
      addressEnd = at;
      break;
    }
  }
  if (colons < 2 || addressEnd - start > 45) return false;
  if (addressEnd < end && !isZone(bytes, addressEnd + 1, end)) return false;
  return isIpv6Text(decodeUtf8(bytes, start, addressEnd));
}

function isZone(bytes: Uint8Array, start: number, end: number): boolean {
  if (start === end) return false;
  for (let at = start; at < end; at++) if (!isAlphanumeric(bytes[at]!)) return false;
  return true;
}

/** An IPv6 address without a zone. A string is fast enough, because these are rare. */
export function isIpv6Text(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const [half, part] of halves.entries()) {
    if (part === "") continue;
    const pieces = part.split(":");
    for (const [index, piece] of pieces.entries()) {
      const isTail = half === halves.length - 1 && index === pieces.length - 1;
      if (isTail && isIpv4Text(piece)) groups += 2;
      else if (/^[0-9a-fA-F]{1,4}$/.test(piece)) groups += 1;
      else return false;
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}

export function isIpv4Text(text: string): boolean {
  const octets = text.split(".");
  return (
    octets.length === 4 && octets.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)
  );
}

/** `0.0.0.0`, `127.…`, `::`, `::1`: hosts files block names with these. Any other address maps a name to a machine. */
function isSinkhole(bytes: Uint8Array, start: number, end: number): boolean {
  const text = decodeUtf8(bytes, start, end);
  return /^(?:0+\.0+\.0+\.0+|127\.\d+\.\d+\.\d+|::1?|(?:0{1,4}:){7}0{0,3}[01])$/.test(text);
}

/** The names of a hosts line, as strings: for lines with several names. */

/** Removes the names that `keep` rejects and leaves the other bytes unchanged. Undefined if no name is left. */
export function filterNames(line: string, keep: (name: string) => boolean): string | undefined {
  return mapNames(line, (name) => (keep(name) ? name : undefined));
}

/** Replaces the names, or removes them, and leaves the other bytes unchanged. Undefined if no name is left. */
export function mapNames(
  line: string,
  map: (name: string) => string | undefined,
): string | undefined {
  const hash = line.indexOf("#");
  const head = hash === -1 ? line : line.slice(0, hash);
  let mapped = "";
  let kept = 0;
  let end = 0;
  for (const token of head.matchAll(/\S+/g)) {
    const isAddress = end === 0;
    const word = isAddress ? token[0] : map(token[0]);
    if (word !== undefined) {
      mapped += head.slice(end, token.index) + word;
      if (!isAddress) kept++;
    }
    end = token.index + token[0].length;
  }
  return kept === 0 ? undefined : mapped + line.slice(end);
}

/** Names that every hosts file maps to the machine itself. They are not meant as blocked names. */
const LOCAL_NAMES: ReadonlySet<string> = new Set([
  "localhost",
  "localhost.localdomain",
  "local",
  "broadcasthost",
  "ip6-localhost",
  "ip6-loopback",
  "ip6-localnet",
  "ip6-mcastprefix",
  "ip6-allnodes",
  "ip6-allrouters",
  "ip6-allhosts",
]);

const LONGEST = Math.max(...Array.from(LOCAL_NAMES, (name) => name.length));

/** Whether a name may be local, by its first byte and length. Rules out most names without creating a string. */
export function mayBeLocalName(firstByte: number, length: number): boolean {
  const lower = firstByte | 32;
  return length <= LONGEST && (lower === 108 || lower === 98 || lower === 105);
}

export function isLocalName(name: string): boolean {
  return LOCAL_NAMES.has(name.toLowerCase());
}

/** The only local name with a dot. */
const WITH_DOT = "localhost.localdomain".length;

/** Whether a line with so many names is one of a hosts file for the machine itself, such as `::1 localhost`. */
export function isLocalLine(names: number, bytes: Uint8Array, start: number, end: number): boolean {
  let last = end;
  while (last > start && isBlank(bytes, last - 1)) last--;
  let at = last - WITH_DOT;
  if (names === 0) for (at = last; at > start && !isBlank(bytes, at - 1);) at--;
  if (at <= start || !isBlank(bytes, at - 1)) return false;
  return mayBeLocalName(bytes[at]!, last - at) && isLocalName(decodeUtf8(bytes, at, last));
}

function isBlank(bytes: Uint8Array, at: number): boolean {
  return CLASS_OF[bytes[at]!] === Class.Blank;
}

/** The pattern of a rule for an address or a part of one: `||1.2.3.4^`, `1.2.3.`, `|1.2.*`. */
export interface IpPattern {
  readonly prefix: "" | "|" | "||";
  /** `^`, `^|` or `|` at the end: the pattern ends where the address ends. */
  readonly isEnded: boolean;
  readonly groups: readonly string[];
  /** A final `.` or `.*` after the groups. */
  readonly isOpen: boolean;
  readonly hasWildcard: boolean;
}

const IP_PATTERN = /^(\|\|?)?(\d{1,3}(?:\.\d{1,3}){0,3})(\.)?(\.\*)?(\^\|?|\|)?$/;

export function parseIpPattern(pattern: string): IpPattern | undefined {
  const match = IP_PATTERN.exec(pattern);
  if (match === null) return undefined;
  const groups = match[2]!.split(".");
  if (groups.some((group) => Number(group) > 255)) return undefined;
  return {
    prefix: (match[1] ?? "") as IpPattern["prefix"],
    isEnded: match[5] !== undefined,
    groups,
    isOpen: match[3] !== undefined || match[4] !== undefined,
    hasWildcard: match[4] !== undefined,
  };
}

/** The form of an address pattern that resolvers match as a whole, or undefined if the pattern is not an address. */
export function normaliseIpPattern(pattern: string): string | undefined {
  const ip = parseIpPattern(pattern);
  if (ip === undefined) {
    const v6 = ipv6Of(pattern);
    return v6 === undefined ? undefined : `||${v6}^`;
  }
  const address = ip.groups.join(".");
  if (ip.groups.length === 4 && !ip.isOpen) return `||${address}^`;
  if (ip.groups.length === 3 && ip.isOpen && !ip.isEnded && ip.prefix !== "||")
    return `||${address}.${ip.hasWildcard ? "*" : ""}`;
  return undefined;
}

/** The IPv6 address in a pattern, without its anchors. */
export function ipv6Of(pattern: string): string | undefined {
  const text = pattern.replace(/^\|\|?/, "").replace(/(?:\^\|?|\|)$/, "");
  return text.includes(":") && isIpv6Text(text) ? text : undefined;
}
