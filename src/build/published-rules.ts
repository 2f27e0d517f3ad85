import { AT, LF } from "../bytes/ascii.ts";
import { decodeUtf8 } from "../bytes/utf8.ts";
import type { PublishedRules } from "../engine/compile-options.ts";
import type { Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { readLines } from "../host/read-lines.ts";
import type { ListPlan } from "./list-plan.ts";
import type { BuildSession } from "./session.ts";
import { readMemory } from "./state/list-memory.ts";
import { readLastPublish } from "./state/last-publish.ts";

/** What the guards compare a list with. Nothing, if it was not published or if its sources are unknown. */
export async function publishedRules(
  plan: ListPlan,
  session: BuildSession,
): Promise<PublishedRules> {
  const { host } = session;
  const path = plan.files[0]?.path;
  if (path === undefined || !(await host.exists(path))) return {};
  const last = await readLastPublish(path, host);
  // Where the state is lost, the file beside the list has what its sources block.
  const sources =
    last === undefined
      ? await session.publishedKinds(plan)
      : new Map(last.sources.map(({ source, kinds = {} }) => [source, kinds]));
  if (last === undefined && sources.size === 0) return {};
  const { blocked, freed } = await readMemory(path, host);
  return { path, sources, blockedLately: blocked.map(([name]) => name), freed };
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
