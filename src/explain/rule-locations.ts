import { bufferOf } from "../bytes/search.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { eachLiveLine } from "./live-lines.ts";
import { type LineLocation, locationOf } from "./why.ts";

/** The locations of rules of a list, by their texts. */
export function ruleLocations(
  list: Uint8Array,
  record: BuildRecord,
  texts: ReadonlySet<string>,
): Map<string, LineLocation> {
  const locations = new Map<string, LineLocation>();
  const buffer = bufferOf(list);
  for (const frame of record.frames)
    eachLiveLine(buffer, frame, (row, start, end) => {
      const text = buffer.toString("utf8", start, end).trim();
      if (texts.has(text) && !locations.has(text)) locations.set(text, locationOf(row, record));
    });
  return locations;
}
