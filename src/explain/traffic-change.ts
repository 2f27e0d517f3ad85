import type { Host } from "../host/host.ts";
import { type TrafficFile, TrafficReader } from "../traffic/traffic-reader.ts";
import { asciiName } from "./asked-name.ts";
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
}

/** Changed names that are kept. */
const MOST_NAMES = 100_000;

/** Counts the queries of logs whose answer differs between two lists. Rejects with a `CompilerError`. */
export async function trafficChange(
  old: ListState,
  fresh: ListState,
  logs: readonly string[],
  host: Host,
): Promise<TrafficChange> {
  const before = await PlainList.read(old.bytes);
  const now = await PlainList.read(fresh.bytes);
  const reader = new TrafficReader(logs, host);
  const sums = { queries: 0, blocked: 0, freed: 0 };
  const names = new Map<string, { queries: number; readonly change: Change }>();
  for await (const batch of reader.batches())
    for (const [logged, count] of batch) {
      sums.queries += count;
      const name = asciiName(logged);
      const { change } = compareName(name, before, now);
      if (change === undefined) continue;
      sums[change] += count;
      const known = names.get(name);
      if (known !== undefined) known.queries += count;
      else if (names.size < MOST_NAMES) names.set(name, { queries: count, change });
    }
  return {
    files: reader.files,
    ...sums,
    names: [...names]
      .map(([name, about]) => ({ name, ...about }))
      .toSorted((a, b) => b.queries - a.queries || (a.name < b.name ? -1 : 1)),
  };
}

/** How often names were asked for, and the number of all queries. Rejects with a `CompilerError`. */
export async function timesAsked(
  names: readonly string[],
  logs: readonly string[],
  host: Host,
): Promise<{ readonly times: ReadonlyMap<string, number>; readonly queries: number }> {
  const times = new Map(names.map((name) => [name, 0]));
  let queries = 0;
  for await (const batch of new TrafficReader(logs, host).batches())
    for (const [logged, count] of batch) {
      queries += count;
      const name = asciiName(logged);
      const known = times.get(name);
      if (known !== undefined) times.set(name, known + count);
    }
  return { times, queries };
}
