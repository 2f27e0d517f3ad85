import { BRACKET, COLON, PERCENT, isAlphanumeric } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";

/** Reads addresses at the start of a hosts line, on bytes. */

/** 45 characters, a zone of the length of an interface name, and brackets. */
const LONGEST_ADDRESS = 80;

/** RFC 4291 text form in either case, with an optional `%zone` (RFC 4007), optionally in brackets. */
export function isIpv6(bytes: Uint8Array, start: number, end: number): boolean {
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
export function isSinkhole(bytes: Uint8Array, start: number, end: number): boolean {
  const text = decodeUtf8(bytes, start, end);
  return /^(?:0+\.0+\.0+\.0+|127\.\d+\.\d+\.\d+|::1?|(?:0{1,4}:){7}0{0,3}[01])$/.test(text);
}
