import type { Buffer } from "node:buffer";
import { LF } from "../bytes/ascii.ts";
import type { Frame } from "../record/build-record.ts";
import { Fate } from "../rules/fate.ts";

/** Visits the live rows of a frame with their lines in the list, which have the same order. */
export function eachLiveLine(
  list: Buffer,
  { base, length, offset, fates }: Frame,
  visit: (row: number, start: number, end: number) => void,
): void {
  let at = offset;
  for (let row = 0; row < length; row++) {
    if (fates[row] !== Fate.Kept) continue;
    const start = at + 1;
    const next = list.indexOf(LF, start);
    at = next === -1 ? list.length : next;
    visit(base + row, start, at);
  }
}
