import { bufferOf } from "../bytes/search.ts";
import { eachLiveLine } from "../explain/live-lines.ts";
import { soleName } from "../meaning/line.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { registrableDomain } from "../syntax/host-name.ts";

/** The domains with the most rules. */
export function largestParents(
  list: Uint8Array,
  record: BuildRecord,
  most: number,
): { readonly name: string; readonly rules: number }[] {
  const buffer = bufferOf(list);
  const counts = new Map<string, number>();
  for (const frame of record.frames)
    eachLiveLine(buffer, frame, (_row, start, end) => {
      const name = soleName(buffer.toString("latin1", start, end).trim())?.name;
      if (name === undefined) return;
      const domain = registrableDomain(name) ?? name;
      counts.set(domain, (counts.get(domain) ?? 0) + 1);
    });
  return [...counts]
    .filter(([, rules]) => rules > 1)
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([name, rules]) => ({ name, rules }));
}
