import { Buffer } from "node:buffer";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** What the scanner returns for a line that it cannot read. */
const UNUSUAL = Symbol("unusual");

/**
 * The text of a field in a line of JSON, one character per byte; undefined if the line has no such text. Scans the line up to the field
 * only, and leaves anything unusual to `JSON.parse`: escapes, blanks, objects before the field.
 */
export function jsonField(line: string, field: string): string | undefined {
  if (line.charCodeAt(0) !== 0x7b) return undefined;
  const text = scanned(line, field);
  return text === UNUSUAL ? parsed(line, field) : text;
}

function scanned(line: string, field: string): string | undefined | typeof UNUSUAL {
  for (let at = 1; ;) {
    const keyEnd = textEnd(line, at);
    if (keyEnd === -1 || line.charCodeAt(keyEnd + 1) !== COLON) return UNUSUAL;
    const start = keyEnd + 2;
    const end = textEnd(line, start);
    if (end === -1) return UNUSUAL;
    const key = line.slice(at + 1, keyEnd);
    if (key === field) {
      const text = line.slice(start + 1, end);
      return text.includes("\\") ? UNUSUAL : text;
    }
    if (key.includes("\\") || line.charCodeAt(end + 1) !== COMMA) return UNUSUAL;
    at = end + 2;
  }
}

/** The closing quote of a text that begins at a position; -1 if none begins there, or if a backslash stands before the quote. */
function textEnd(line: string, start: number): number {
  if (line.charCodeAt(start) !== QUOTE) return -1;
  const end = line.indexOf('"', start + 1);
  return line.charCodeAt(end - 1) === BACKSLASH ? -1 : end;
}

function parsed(line: string, field: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(line, "latin1").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const text = (value as Readonly<Record<string, unknown>>)[field];
  return typeof text === "string" ? Buffer.from(text).toString("latin1") : undefined;
}
