import { AT, LF } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { PublishedRules } from "../engine/compile-options.ts";
import type { Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { readLines } from "../host/read-lines.ts";
import { readMemory } from "./state/list-memory.ts";
import { readLastPublish } from "./state/last-publish.ts";

/** What the guards compare a list with. Nothing, if it was not published or if its sources are unknown. */
export async function publishedRules(
  path: string | undefined,
  host: Host,
): Promise<PublishedRules> {
  const last = path === undefined ? undefined : await readLastPublish(path, host);
  if (path === undefined || last === undefined) return {};
  const { blocked, freed } = await readMemory(path, host);
  return {
    path,
    sources: new Map(last.sources.map(({ source, kinds = {} }) => [source, kinds])),
    blockedLately: blocked.map(([name]) => name),
    freed,
  };
}

/** The exceptions in a list. Undefined if it cannot be read. */
export async function exceptionsIn(path: string, host: Host): Promise<Set<string> | undefined> {
  const texts = new Set<string>();
  const take = (lines: Uint8Array): void => {
    for (let start = 0; start < lines.length;) {
      const found = lines.indexOf(LF, start);
      const end = found === -1 ? lines.length : found;
      if (lines[start] === AT && lines[start + 1] === AT) texts.add(decodeUtf8(lines, start, end));
      start = end + 1;
    }
  };
  return await ifAvailable(async () => {
    await readLines(path, host, take);
    return texts;
  });
}
