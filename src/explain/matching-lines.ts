import { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";

/** A line, and the position of its first byte. */
export interface FoundText {
  readonly text: string;
  readonly start: number;
}

/** All lines with their numbers, or those whose number is marked. */
export function* allLines(
  bytes: Uint8Array,
  marks?: Uint8Array,
): Generator<FoundText & { readonly line: number }> {
  const buffer = bufferOf(bytes);
  let line = 1;
  for (let start = 0; start < buffer.length; line++) {
    const end = buffer.indexOf(LF, start);
    const stop = end === -1 ? buffer.length : end;
    if (marks === undefined || marks[line] === 1)
      yield { text: textAt(buffer, start, stop), start, line };
    start = stop + 1;
  }
}

/** Lines that contain one of a few texts. The search ignores case, unless the bytes are known to be in lower case. */
export function* linesWithAny(
  bytes: Uint8Array,
  needles: readonly string[],
  isPlain: boolean,
): Generator<FoundText> {
  const buffer = bufferOf(bytes);
  const text = isPlain ? undefined : buffer.toString("latin1").toLowerCase();
  for (const needle of needles) {
    const find = text === undefined ? finderOf(buffer, needle) : finderInAnyCase(text, needle);
    for (let at = find(0); at !== -1;) {
      const start = buffer.lastIndexOf(LF, at) + 1;
      const end = buffer.indexOf(LF, at);
      const stop = end === -1 ? buffer.length : end;
      yield { text: textAt(buffer, start, stop), start };
      at = end === -1 ? -1 : find(stop);
    }
  }
}

function textAt(buffer: Buffer, start: number, stop: number): string {
  return buffer.toString("utf8", start, stop).replace(/\r$/, "");
}

function finderOf(buffer: Buffer, needle: string): (from: number) => number {
  const wanted = Buffer.from(needle);
  return (from) => buffer.indexOf(wanted, from);
}

/** The text is in lower case and has one character per byte, so that positions are those of the bytes. */
function finderInAnyCase(text: string, needle: string): (from: number) => number {
  const wanted = Buffer.from(needle).toString("latin1").toLowerCase();
  return (from) => text.indexOf(wanted, from);
}
