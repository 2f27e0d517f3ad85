import { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { Fate } from "../rules/fate.ts";
import { type LinePlace, placeOf } from "./why.ts";

/** Where rules of a list come from, by their texts: the line that is in the list. */
export function rulePlaces(
  list: Uint8Array,
  record: BuildRecord,
  texts: ReadonlySet<string>,
): Map<string, LinePlace> {
  const places = new Map<string, LinePlace>();
  const buffer = Buffer.from(list.buffer as ArrayBuffer, list.byteOffset, list.byteLength);
  for (const { base, length, offset, fates } of record.frames) {
    let at = offset;
    for (let row = 0; row < length; row++) {
      if (fates[row] !== Fate.Live) continue;
      const start = at + 1;
      const next = buffer.indexOf(LF, start);
      at = next === -1 ? buffer.length : next;
      const text = buffer.toString("utf8", start, at).trim();
      if (texts.has(text) && !places.has(text)) places.set(text, placeOf(base + row, record));
    }
  }
  return places;
}
