import type { TrafficFile, TrafficReader } from "../traffic/traffic-reader.ts";
import { asciiName } from "./asked-name.ts";
import { ClientSums, type ClientTraffic } from "./client-traffic.ts";
import { type Change, compareName } from "./effective-diff.ts";
import type { ListState } from "./list-change.ts";
import { PlainList } from "./plain-list.ts";

/** A name in a log whose answer changes. */
export interface ChangedTraffic {
  readonly name: string;
  readonly queries: number;
  readonly change: Change;
}

/** What a new list changes for the queries of a log. */
export interface TrafficChange {
  readonly files: readonly TrafficFile[];
  readonly queries: number;
  /** Queries that only the new list blocks. */
  readonly blocked: number;
  /** Queries that only the old list blocks. */
  readonly freed: number;
  /** The names of these queries, most queries first; those of the first changes if there are very many. */
  readonly names: readonly ChangedTraffic[];
  /** The clients with such queries, if they were counted; most of them first. */
  readonly clients?: readonly ClientTraffic[];
}

/** Changed names that are kept. */
const MOST_NAMES = 100_000;

/** Counts the queries of logs whose answer differs between two lists. Rejects with a `CompilerError`. */
export async function trafficChange(
  old: ListState,
  fresh: ListState,
  logs: TrafficReader,
): Promise<TrafficChange> {
  const before = await PlainList.read(old.bytes);
  const now = await PlainList.read(fresh.bytes);
  const sums = { queries: 0, blocked: 0, freed: 0 };
  const names = new Map<string, { queries: number; readonly change: Change }>();
  const clients = logs.byClient ? new ClientSums() : undefined;
  for await (const batch of logs.batches())
    for (const [logged, count, client] of batch) {
      sums.queries += count;
      const name = asciiName(logged);
      const { change } = compareName(name, before, now);
      clients?.add(client, count, change);
      if (change === undefined) continue;
      sums[change] += count;
      const known = names.get(name);
      if (known !== undefined) known.queries += count;
      else if (names.size < MOST_NAMES) names.set(name, { queries: count, change });
    }
  return {
    files: logs.files,
    ...sums,
    ...(clients && {
      clients: clients.sorted().filter(({ blocked, freed }) => blocked + freed > 0),
    }),
    names: [...names]
      .map(([name, about]) => ({ name, ...about }))
      .toSorted((a, b) => b.queries - a.queries || (a.name < b.name ? -1 : 1)),
  };
}

/** How often names were asked for, and the number of all queries. Rejects with a `CompilerError`. */
export async function timesAsked(
  names: readonly string[],
  logs: TrafficReader,
): Promise<{ readonly times: ReadonlyMap<string, number>; readonly queries: number }> {
  const times = new Map(names.map((name) => [name, 0]));
  let queries = 0;
  for await (const batch of logs.batches())
    for (const [logged, count] of batch) {
      queries += count;
      const name = asciiName(logged);
      const known = times.get(name);
      if (known !== undefined) times.set(name, known + count);
    }
  return { times, queries };
}
