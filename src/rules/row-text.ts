import { CARET, PIPE } from "../bytes/ascii.ts";
import type { ByteBuffer } from "../bytes/byte-buffer.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "./chunk.ts";
import { Flag, Kind } from "./kind.ts";

/** Reads and writes the text of a row, however it is stored. */

export function textOf(chunk: Chunk, row: number): string {
  if ((chunk.flags[row]! & Flag.AsBlock) !== 0) return `||${hostOf(chunk, row)}^`;
  return decodeUtf8(chunk.bytesOf(row), chunk.start[row], chunk.end[row]);
}

/** The host name of the row, or "". */
export function hostOf(chunk: Chunk, row: number): string {
  return decodeUtf8(chunk.bytesOf(row), chunk.hostStart[row], chunk.hostEnd[row]);
}

export function appendText(chunk: Chunk, row: number, out: ByteBuffer): void {
  const bytes = chunk.bytesOf(row);
  if ((chunk.flags[row]! & Flag.AsBlock) === 0) {
    out.append(bytes, chunk.start[row]!, chunk.end[row]!);
    return;
  }
  out.push(PIPE);
  out.push(PIPE);
  out.append(bytes, chunk.hostStart[row]!, chunk.hostEnd[row]!);
  out.push(CARET);
}

/** Replaces the text of the row. The caller must classify it again: kind, flags and host still describe the old text. */
export function rewriteText(chunk: Chunk, row: number, text: string): void {
  const bytes = encodeUtf8(text);
  const at = chunk.rewritten.append(bytes, 0, bytes.length);
  chunk.start[row] = at;
  chunk.end[row] = at + bytes.length;
  chunk.flags[row] = (chunk.flags[row]! | Flag.Rewritten) & ~Flag.AsBlock;
  chunk.isChanged = true;
}

/** Turns the row into `||host^`. This only sets a flag and copies nothing. */
export function toBlockRule(chunk: Chunk, row: number): void {
  chunk.kind[row] = Kind.Block;
  chunk.flags[row]! |= Flag.AsBlock;
}
