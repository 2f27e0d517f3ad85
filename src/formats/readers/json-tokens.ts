import { CR, LF, SPACE, TAB } from "../../bytes/ascii.ts";
import { decodeUtf8 } from "../../bytes/utf8.ts";

/** Takes the tokens of a JSON text, and its line ends. */
export interface JsonTaker {
  text(value: string): void;
  /** A number, `true`, `false` or `null`. */
  literal(text: string): void;
  /** One of `{}[],:`. */
  sign(sign: string): void;
  /** Invalid JSON; the rest of the line is skipped. */
  bad(): void;
  lineEnd(): void;
}

/** Longer than any rule; limits the search for the end of a string. */
const LONGEST_TEXT = 65_536;
const SIGNS = "{}[],:";
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SIGN_BYTES = new Set(Array.from(SIGNS, (sign) => sign.charCodeAt(0)));
const LITERAL = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i;

/** Splits complete lines into tokens. In JSON, only objects and arrays can span lines. */
export function takeTokens(bytes: Uint8Array, taker: JsonTaker): void {
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) {
      taker.lineEnd();
      at += byte === CR && bytes[at + 1] === LF ? 2 : 1;
    } else if (byte === SPACE || byte === TAB) at++;
    else if (SIGN_BYTES.has(byte)) {
      taker.sign(String.fromCharCode(byte));
      at++;
    } else {
      const end = byte === QUOTE ? textEnd(bytes, at) : literalEnd(bytes, at);
      const isTaken =
        byte === QUOTE ? takeText(bytes, at, end, taker) : takeLiteral(bytes, at, end, taker);
      at = end;
      if (isTaken) continue;
      taker.bad();
      while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at++;
    }
  }
  const last = bytes.at(-1);
  if (last !== undefined && last !== LF && last !== CR) taker.lineEnd();
}

/** The end of a string that begins at a quote, after the closing quote if there is one. */
function textEnd(bytes: Uint8Array, start: number): number {
  const most = Math.min(bytes.length, start + LONGEST_TEXT);
  for (let at = start + 1; at < most; at++) {
    const byte = bytes[at]!;
    if (byte === LF || byte === CR) return at;
    if (byte === QUOTE) return at + 1;
    // A backslash does not escape the end of a line.
    if (byte === BACKSLASH && bytes[at + 1] !== LF && bytes[at + 1] !== CR) at++;
  }
  return most;
}

function literalEnd(bytes: Uint8Array, start: number): number {
  const most = Math.min(bytes.length, start + LONGEST_TEXT);
  let at = start;
  for (; at < most; at++) {
    const byte = bytes[at]!;
    if (byte <= SPACE || byte === QUOTE || SIGN_BYTES.has(byte)) return Math.max(at, start + 1);
  }
  return at;
}

function takeText(bytes: Uint8Array, start: number, end: number, taker: JsonTaker): boolean {
  try {
    taker.text(JSON.parse(decodeUtf8(bytes, start, end)) as string);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function takeLiteral(bytes: Uint8Array, start: number, end: number, taker: JsonTaker): boolean {
  const text = decodeUtf8(bytes, start, end);
  if (!LITERAL.test(text)) return false;
  taker.literal(text);
  return true;
}
