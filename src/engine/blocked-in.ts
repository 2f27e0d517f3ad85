import type { Host } from "../host/host.ts";
import { RowFinder } from "../kernel/row-finder.ts";
import { NameMatcher } from "../meaning/name-matcher.ts";
import type { Chunk } from "../rules/chunk.ts";
import { ChunkPool } from "../rules/rule-table.ts";
import { SourceList } from "../sources/source-list.ts";
import type { BlockedBefore } from "../transformations/newly-blocked.ts";
import { prepareRegex } from "../transformations/trust.ts";
import type { Engine } from "./engine.ts";
import { SourceSink } from "./source-sink.ts";

/** Reads a published list chunk by chunk. Rejects with a `HostError` if it cannot be read. */
export async function readList(
  path: string,
  take: (chunk: Chunk) => void,
  host: Host,
  { kernel, scanner }: Engine,
): Promise<void> {
  const sink = new SourceSink(
    new ChunkPool(kernel),
    { index: 0, type: "adblock", feed: undefined, splitHosts: false },
    { scanner, preparing: [{ prepare: prepareRegex }] },
    (chunk) => {
      take(chunk);
      chunk.leave();
    },
  );
  const list = new SourceList({ location: { kind: "file", path }, label: path }, host, {});
  try {
    await list.readInto(sink);
    await sink.end();
  } finally {
    list.close();
  }
}

/** The rules for names in a published list. */
export async function rulesIn(
  path: string,
  names: readonly string[],
  host: Host,
  engine: Engine,
): Promise<NameMatcher> {
  const watch = new NameMatcher(names, new RowFinder(engine.kernel), true);
  await readList(path, (chunk) => watch.take(chunk), host, engine);
  return watch;
}

/** Which of the names it blocks or rewrites, and how. */
export function blockedIn(watch: NameMatcher): ReadonlyMap<string, BlockedBefore> {
  return new Map(
    Array.from(watch.blocked(), ({ name, isForAll }) => [
      name,
      { isForAll, rules: new Set(watch.matching(name).map(({ text }) => text)) },
    ]),
  );
}
