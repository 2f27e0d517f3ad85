import { CARET, PIPE } from "../bytes/ascii.ts";
import type { ByteBuffer } from "../bytes/byte-buffer.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Chunk } from "./chunk.ts";
import { Flag, Kind } from "./kind.ts";

/** Reading and writing the text of a row, whichever way it is stored. */

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

/** Gives the row new text. The caller classifies it again: kind, flags and host still describe the old text. */
export function rewriteText(chunk: Chunk, row: number, text: string): void {
  const bytes = encodeUtf8(text);
  const at = chunk.rewritten.append(bytes, 0, bytes.length);
  chunk.start[row] = at;
  chunk.end[row] = at + bytes.length;
  chunk.flags[row] = (chunk.flags[row]! | Flag.Rewritten) & ~Flag.AsBlock;
  chunk.isChanged = true;
}

/** From now on the row reads `||host^`. Nothing is copied: the flag says so. */
export function toBlockRule(chunk: Chunk, row: number): void {
  chunk.kind[row] = Kind.Block;
  chunk.flags[row]! |= Flag.AsBlock;
}
