import { LF } from "../bytes/ascii.ts";
import { bufferOf } from "../bytes/search.ts";
import { encodeUtf8 } from "../bytes/utf8.ts";
import type { Host } from "../host/host.ts";
import { readFully } from "../host/read-fully.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { readRecorded } from "./read-recorded.ts";
import type { SourceLine } from "./source-lines.ts";

/** When lines of sources that keep rules were first seen, as `2026-01-31T00:00:00.000Z`, by row. */
export async function firstSeen(
  lines: Iterable<SourceLine>,
  record: BuildRecord,
  cacheDir: string | undefined,
  host: Host,
): Promise<ReadonlyMap<number, string>> {
  const { sources } = record.header;
  const bySource = Map.groupBy(lines, ({ row }) => record.fileOf(row).source);
  const found = new Map<number, string>();
  for (const [source, some] of bySource) {
    const sha256 = sources[source]?.ledger;
    if (sha256 === undefined) continue;
    await readRecorded({ source, file: "", sha256 }, cacheDir, host, async (file) => {
      const ledger = bufferOf(await readFully(file, new Uint8Array(file.size), 0));
      for (const { row, text } of some) {
        const seconds = found.has(row) ? undefined : secondsOf(text.trim(), ledger);
        if (seconds !== undefined) found.set(row, new Date(seconds * 1000).toISOString());
      }
    });
  }
  return found;
}

/** The first number of the line with this text; see `sources/ledger`. */
function secondsOf(text: string, ledger: Buffer): number | undefined {
  const needle = encodeUtf8(` ${text}\n`);
  for (let at = ledger.indexOf(needle); at !== -1; at = ledger.indexOf(needle, at + 1)) {
    const start = ledger.lastIndexOf(LF, at) + 1;
    const [first = "", last, ...more] = ledger.toString("latin1", start, at).split(" ");
    if (last !== undefined && more.length === 0) return Number.parseInt(first, 36);
  }
  return undefined;
}
