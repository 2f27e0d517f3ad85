import { bufferOf } from "../bytes/search.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { eachLiveLine } from "./live-lines.ts";
import { type LineLocation, locationOf } from "./why.ts";

/** Where rules of a list come from, by their texts: the line that is in the list. */
export function ruleLocations(
  list: Uint8Array,
  record: BuildRecord,
  texts: ReadonlySet<string>,
): Map<string, LineLocation> {
  const places = new Map<string, LineLocation>();
  const buffer = bufferOf(list);
  for (const frame of record.frames)
    eachLiveLine(buffer, frame, (row, start, end) => {
      const text = buffer.toString("utf8", start, end).trim();
      if (texts.has(text) && !places.has(text)) places.set(text, locationOf(row, record));
    });
  return places;
}
