import { BACKSLASH, BRACKET, COLON, COMMA, SPACE } from "../bytes/ascii.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";

/** A name in a DNS message has at most 255 bytes. A log writes some of them with four characters. */
export const LONGEST_NAME = 1024;

/** The name that the last scan found. A new object per line would cost more than the scan. */
export const foundName = { start: 0, end: 0 };

/**
 * Finds the name that a line asks for: in `foundName`, if the line has one. An unusual line is "unknown", and has to be read as text. A
 * scan takes a quarter of the time of reading a line as text.
 */
export type LineScan = (
  bytes: Uint8Array,
  start: number,
  end: number,
) => "name" | "none" | "unknown";

function found(start: number, end: number): "name" | "none" {
  if (end - start > LONGEST_NAME) return "none";
  foundName.start = start;
  foundName.end = end;
  return "name";
}

const QUOTE = 0x22;
const [Q, H] = [0x51, 0x48];

/** `{"T":"…","QH":"name",…`: reads texts up to the field only. Escapes, blanks and objects before the field are unusual. */
export const scanAdGuardHome: LineScan = (bytes, start, end) => {
  if (start === end || bytes[start] !== 0x7b) return "none";
  for (let at = start + 1; ;) {
    const keyEnd = textEnd(bytes, at, end);
    if (keyEnd === -1 || bytes[keyEnd + 1] !== COLON) return "unknown";
    const valueEnd = textEnd(bytes, keyEnd + 2, end);
    if (valueEnd === -1) return "unknown";
    if (keyEnd - at === 3 && bytes[at + 1] === Q && bytes[at + 2] === H)
      return found(keyEnd + 3, valueEnd);
    if (bytes[valueEnd + 1] !== COMMA) return "unknown";
    at = valueEnd + 2;
  }
};

/** The closing quote of a text that begins at a position; -1 if none begins there, or if it has a backslash. */
function textEnd(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end || bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) return -1;
  }
  return -1;
}

const QUERY = encodeUtf8("query[");
const FROM = encodeUtf8(" from ");
const CLOSING = 0x5d;

/** `… query[A] name from client`. Most other lines differ at the end. */
export const scanDnsmasq: LineScan = (bytes, start, end) => {
  let client = end;
  while (client > start && bytes[client - 1] !== SPACE) client--;
  const nameEnd = client - FROM.length;
  if (client === end || nameEnd < start || !isAt(bytes, nameEnd, FROM)) return "none";
  let type = start;
  while (type < end && !(bytes[type + 5] === BRACKET && isAt(bytes, type, QUERY))) type++;
  if (type === end || (type > start && bytes[type - 1] !== SPACE)) return "none";
  let nameStart = type + QUERY.length;
  while (nameStart < end && !(bytes[nameStart] === CLOSING && bytes[nameStart + 1] === SPACE))
    nameStart++;
  nameStart += 2;
  return nameEnd < nameStart ? "none" : found(nameStart, nameEnd);
};

function isAt(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++)
    if (bytes[start + index] !== text[index]) return false;
  return true;
}
