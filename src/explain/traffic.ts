import type { Host } from "../host/host.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { asciiLabels, quickAscii } from "../syntax/written-names.ts";
import { type NameCounts, TrafficReader } from "../traffic/traffic-reader.ts";
import { compareName } from "./list-change.ts";
import type { ListState } from "./list-change.ts";
import { ListRules } from "./list-rules.ts";
import { PlainList } from "./plain-list.ts";
import { Carried, type Carriers, carriersOf, neededOf } from "./overlap.ts";
import { SourceLines } from "./source-lines.ts";
import { MappedNames } from "./why.ts";
import type {
  ClientTraffic,
  TrafficChange,
  TrafficFile,
  TrafficStats,
  Change,
} from "../documents/facts.ts";

/** A list and its record. */
interface RecordedList {
  readonly list: Uint8Array;
  readonly record: BuildRecord;
}

/** Counts which sources of a list block the queries of a log. Rejects with a `CompilerError`. */
export async function trafficStats(
  { list, record }: RecordedList,
  logs: TrafficReader,
  cacheDir: string | undefined,
  host: Host,
): Promise<TrafficStats> {
  const names = new MappedNames(list, record);
  const rules = await ListRules.of(record, names);
  const lines = new SourceLines(record, cacheDir, host);
  const clients = logs.byClient ? new ClientSums() : undefined;
  const tally = new TrafficTally(record, rules, lines, clients);
  for (const { row, first } of names.repeats) tally.merge(row, first);
  for await (const batch of logs.batches()) await tally.take(batch);
  return await tally.end(logs.files);
}

/** A blocked name whose sources are not all known yet. */
interface PendingName {
  count: number;
  /** The sources of the rules of the list that block it. */
  readonly group: number;
  /** The sources without any of which the list would not block it. */
  readonly needed: readonly number[];
}

/** Blocked names for which the source files are searched once. */
const MOST_BLOCKED = 1_000_000;

/**
 * Counts queries by the sources that block them. The record knows which sources have a rule of the list. Lines that a broader rule
 * covers are only in the source files, which are searched for the names that were blocked.
 */
class TrafficTally {
  private readonly record: BuildRecord;
  private readonly rules: ListRules;
  private readonly lines: SourceLines;
  private readonly clients: ClientSums | undefined;
  private readonly carriers: Carriers;
  private readonly blocked: number[];
  private readonly alone: number[];
  private readonly open = new Map<string, PendingName>();
  private readonly unseen = new Set<string>();
  private queries = 0;
  private blockedQueries = 0;

  constructor(
    record: BuildRecord,
    rules: ListRules,
    lines: SourceLines,
    clients: ClientSums | undefined,
  ) {
    this.clients = clients;
    this.record = record;
    this.rules = rules;
    this.lines = lines;
    const carriers = carriersOf(record);
    // `merge` changes the groups of rows.
    this.carriers = { ...carriers, groupOf: carriers.groupOf.slice() };
    this.blocked = record.header.sources.map(() => 0);
    this.alone = record.header.sources.map(() => 0);
  }

  /** Two rows have the same rule. */
  merge(row: number, first: number): void {
    const { groupOf, groups } = this.carriers;
    groupOf[first] = groups.union(groupOf[first]!, groupOf[row]!);
  }

  async take(batch: NameCounts): Promise<void> {
    for (const [logged, count, client] of batch) {
      this.queries += count;
      const name = asciiName(logged);
      const { rules, byName } = this.rules.blocking(name);
      this.clients?.add(client, count, rules.length === 0 ? undefined : "blocked");
      if (rules.length === 0) continue;
      this.blockedQueries += count;
      const { groupOf, groups } = this.carriers;
      let group = -1;
      let needed: readonly number[] | undefined;
      for (const { row } of rules) {
        group = groups.union(group, groupOf[row]!);
        needed = this.neededBy(groupOf[row]!, needed);
      }
      const blocked = { count, group, needed: needed ?? [] };
      if (!byName) this.count(blocked);
      else {
        const known = this.open.get(name);
        if (known === undefined) this.open.set(name, blocked);
        else known.count += count;
      }
    }
    if (this.open.size >= MOST_BLOCKED) await this.close();
  }

  private count({ count, group, needed }: PendingName): void {
    for (const source of this.carriers.groups.sourcesOf(group)) this.blocked[source]! += count;
    for (const source of needed) this.alone[source]! += count;
  }

  /** The sources that a line of this group needs, among those that all lines before it need. */
  private neededBy(group: number, before: readonly number[] | undefined): readonly number[] {
    const { minSources: least = 1 } = this.record.header;
    const needed = neededOf({ sources: this.carriers.groups.sourcesOf(group), least });
    return before === undefined ? needed : needed.filter((source) => before.includes(source));
  }

  /** Finds the covered lines for the blocked names, and counts these names. */
  private async close(): Promise<void> {
    const { record, open } = this;
    const { groups, state } = this.carriers;
    const wanted = new Set<string>();
    for (const name of open.keys()) for (const parent of withParents(name)) wanted.add(parent);
    const covered = new Map<string, number>();
    const unseen = await this.lines.visit(
      (host) => wanted.has(formOf(host)),
      (row) => state[row] === Carried.Narrower,
      (row, host) => {
        const name = formOf(host);
        const { source } = record.fileOf(row);
        covered.set(name, groups.with(covered.get(name) ?? -1, source));
      },
    );
    for (const { file } of unseen) this.unseen.add(file);
    for (const [name, blocked] of open) {
      let { group, needed } = blocked;
      for (const parent of withParents(name)) {
        const line = covered.get(parent);
        if (line === undefined) continue;
        group = groups.union(group, line);
        needed = this.neededBy(line, needed);
      }
      this.count({ ...blocked, group, needed });
    }
    open.clear();
  }

  async end(files: readonly TrafficFile[]): Promise<TrafficStats> {
    if (this.open.size > 0) await this.close();
    return {
      files,
      queries: this.queries,
      blocked: this.blockedQueries,
      sources: this.record.header.sources.map(({ label }, index) => ({
        label,
        blocked: this.blocked[index]!,
        alone: this.alone[index]!,
      })),
      unseen: [...this.unseen],
      ...(this.clients && {
        clients: this.clients
          .sorted()
          .map(({ client, queries, blocked }) => ({ client, queries, blocked })),
      }),
    };
  }
}

function formOf(host: string): string {
  return /[^ -~]/.test(host) ? asciiLabels(host) : host;
}

/** The name in what a person asks about: `||ads.example.com^`, `0.0.0.0 ads.example.com` and URLs are accepted. */
export function askedName(question: string): string {
  const address = question.trim().replace(/^\w+:\/\/(?:[^/?#@]*@)?([^/?#]*).*$/, "$1");
  const bare = address
    .trim()
    .replace(/^@@/, "")
    .replace(/^\|{0,2}(?:[0-9.:]+\s+)?/, "");
  // Browsers show addresses without their scheme.
  return asciiName(bare.replace(/[\^$].*$/, "").replace(/(?<=\w)[/?#:].*$/, ""));
}

/** A name in lower case and ASCII, without the final dot. */
export function asciiName(text: string): string {
  const typed = text.trim().toLowerCase().replace(/\.$/, "");
  return /[^\u0020-\u007e]/.test(typed) ? quickAscii(typed).toLowerCase() : typed;
}

/** Clients that are counted. The queries of others are summed up as those of a client without address. */
const MOST_CLIENTS = 100_000;

/** Sums of queries by client. */
class ClientSums {
  private readonly sums = new Map<string, { queries: number; blocked: number; freed: number }>();

  add(client: string, count: number, change: "blocked" | "freed" | undefined): void {
    const sums = this.sums.get(client) ?? this.enter(client);
    sums.queries += count;
    if (change !== undefined) sums[change] += count;
  }

  private enter(client: string): { queries: number; blocked: number; freed: number } {
    const key = this.sums.size < MOST_CLIENTS ? client : "";
    const sums = this.sums.get(key) ?? { queries: 0, blocked: 0, freed: 0 };
    this.sums.set(key, sums);
    return sums;
  }

  /** The clients whose queries are blocked or freed most, first. */
  sorted(): (ClientTraffic & { readonly freed: number })[] {
    return [...this.sums]
      .map(([client, sums]) => ({ client, ...sums }))
      .toSorted(
        (a, b) =>
          b.blocked + b.freed - a.blocked - a.freed ||
          b.queries - a.queries ||
          (a.client < b.client ? -1 : 1),
      );
  }
}

/** The logs that a user named, to be read once for all lists; undefined without any. */
export function trafficLogs(
  files: readonly string[],
  host: Host,
  byClient = false,
): TrafficReader | undefined {
  return files.length === 0 ? undefined : new TrafficReader(files, host, { byClient });
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
