import { Buffer } from "node:buffer";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/**
 * The text of a field in a line of JSON, one character per byte; undefined if the line has no such text. Scans the line up to the field
 * only, and leaves anything unusual to `JSON.parse`: escapes, blanks, objects before the field.
 */
export function jsonField(line: string, field: string): string | undefined {
  if (line.charCodeAt(0) !== 0x7b) return undefined;
  return scanned(line, field) ?? parsed(line, field);
}

/** Undefined if the field does not come before anything unusual. */
function scanned(line: string, field: string): string | undefined {
  for (let at = 1; ;) {
    const keyEnd = textEnd(line, at);
    if (keyEnd === -1 || line.charCodeAt(keyEnd + 1) !== COLON) return undefined;
    const start = keyEnd + 2;
    const end = textEnd(line, start);
    if (end === -1) return undefined;
    const key = line.slice(at + 1, keyEnd);
    if (key === field) {
      const text = line.slice(start + 1, end);
      return text.includes("\\") ? undefined : text;
    }
    if (line.charCodeAt(end + 1) !== COMMA) return undefined;
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
