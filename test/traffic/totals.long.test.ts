import type { ClientTraffic } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { trafficChange, trafficStats } from "../../src/explain/traffic.ts";
import type { Host } from "../../src/host/host.ts";
import { TrafficReader } from "../../src/traffic/traffic-reader.ts";
import { type Config, memoryHost } from "../support/internals.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";
import { propertyRuns } from "../support/property.ts";
import { type LoggedQuery, logWriters } from "../support/query-logs.ts";
import { compileRecorded } from "../support/recorded.ts";

const label = fc.constantFrom("a", "b", "ads", "x-1");
const domain = fc.constantFrom("one.com", "two.com", "six.co.uk");
const name = fc
  .tuple(fc.array(label, { maxLength: 3 }), domain)
  .map(([labels, end]) => [...labels, end].join("."));

/** A line in adblock syntax; most are plain blocks. */
const adblockLine = fc.oneof(
  { weight: 8, arbitrary: name.map((host) => `||${host}^`) },
  { weight: 2, arbitrary: name.map((host) => `@@||${host}^`) },
  { weight: 1, arbitrary: name.map((host) => `||${host}^$important`) },
  { weight: 1, arbitrary: name.map((host) => `@@||${host}^$important`) },
  { weight: 1, arbitrary: name.map((host) => `|${host}^`) },
  { weight: 1, arbitrary: label.map((part) => `||${part}.*.com^`) },
  { weight: 1, arbitrary: label.map((part) => `/^${part}[.].*one[.]com$/`) },
  { weight: 1, arbitrary: name.map((host) => `! ${host}`) },
);
const hostsLine = fc.oneof(
  { weight: 5, arbitrary: name.map((host) => `0.0.0.0 ${host}`) },
  { weight: 1, arbitrary: fc.tuple(name, name).map((hosts) => `0.0.0.0 ${hosts.join(" ")}`) },
);
const source = fc.oneof(
  fc.record({
    type: fc.constant("adblock" as const),
    lines: fc.array(adblockLine, { maxLength: 9 }),
  }),
  fc.record({
    type: fc.constant("hosts" as const),
    lines: fc.array(hostsLine, { minLength: 1, maxLength: 9 }),
  }),
);
const query = fc.record({ name, client: fc.constantFrom("192.168.1.2", "192.168.1.3", "fd00::7") });

/** What Compress makes of a line: every name of a hosts line becomes a rule with its subdomains. */
function compressed(line: string): string[] {
  const [address, ...names] = line.split(" ");
  return address === "0.0.0.0" ? names.map((host) => `||${host}^`) : [line];
}

function isException(line: string): boolean {
  return line.startsWith("@@");
}

function stateOf(lines: readonly string[]): { bytes: Uint8Array } {
  return { bytes: new TextEncoder().encode(`${lines.join("\n")}\n`) };
}

/** The host, and how often the log was opened to be read. */
function countingHost(files: Record<string, string>): { host: Host; opened: () => number } {
  const host = memoryHost({ files });
  let count = 0;
  const openFile: Host["openFile"] = async (path) => {
    if (path.endsWith("/log")) count++;
    return await host.openFile(path);
  };
  return { host: Object.assign(Object.create(host) as Host, { openFile }), opened: () => count };
}

type Sums = { queries: number; blocked: number; freed: number };

/** Sums by client; a log of names has none. */
function clientSums(
  asked: readonly LoggedQuery[],
  format: string,
  changeOf: (name: string) => "blocked" | "freed" | undefined,
): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const { name: one, client } of asked) {
    const who = format === "names" ? "" : client;
    const own = sums.get(who) ?? { queries: 0, blocked: 0, freed: 0 };
    sums.set(who, own);
    own.queries++;
    const change = changeOf(one);
    if (change !== undefined) own[change]++;
  }
  return sums;
}

function byClient(
  clients: readonly ClientTraffic[] | undefined,
): Map<string, Omit<ClientTraffic, "client">> {
  return new Map((clients ?? []).map(({ client, ...sums }) => [client, sums]));
}

const logged = fc.record({
  queries: fc.array(query, { minLength: 1, maxLength: 30 }),
  format: fc.constantFrom(...logWriters.keys()),
  mostNames: fc.constantFrom(1, 3, 1000, 1000),
  countsClients: fc.boolean(),
});

test("changed queries of random logs match a brute-force comparison of old and new lists", async () => {
  const rules = fc.array(adblockLine, { maxLength: 12 });
  const pairs = fc.array(fc.tuple(rules, rules), { minLength: 1, maxLength: 3 });
  const sum = { blocked: 0, freed: 0 };
  await fc.assert(
    fc.asyncProperty(pairs, logged, async (lists, { queries: asked, format, ...how }) => {
      const { host, opened } = countingHost({ log: logWriters.get(format)!(asked) });
      const reader = new TrafficReader(["log"], host, {
        mostNames: how.mostNames,
        byClient: how.countsClients,
      });
      for (const [old, fresh] of lists) {
        const found = await trafficChange(stateOf(old), stateOf(fresh), reader);
        const [before, now] = [naiveRules(old), naiveRules(fresh)];
        const changeOf = (one: string): "blocked" | "freed" | undefined => {
          if (isBlocked(before, one) === isBlocked(now, one)) return undefined;
          return isBlocked(now, one) ? "blocked" : "freed";
        };
        const expected = { blocked: new Map<string, number>(), freed: new Map<string, number>() };
        for (const { name: one } of asked) {
          const change = changeOf(one);
          if (change === undefined) continue;
          expected[change].set(one, (expected[change].get(one) ?? 0) + 1);
          sum[change]++;
        }
        for (const change of ["blocked", "freed"] as const) {
          const names = found.names.filter((one) => one.change === change);
          assert.deepEqual(new Map(names.map((one) => [one.name, one.queries])), expected[change]);
          const all = [...expected[change].values()].reduce((total, count) => total + count, 0);
          assert.equal(found[change], all);
        }
        assert.equal(found.queries, asked.length);
        const touched = [...clientSums(asked, format, changeOf)].filter(
          ([, sums]) => sums.blocked + sums.freed > 0,
        );
        assert.deepEqual(byClient(found.clients), new Map(how.countsClients ? touched : []));
      }
      if (how.mostNames === 1000) assert.equal(opened(), 1);
    }),
    propertyRuns(500),
  );
  assert.ok(sum.blocked > 500 && sum.freed > 500, JSON.stringify(sum));
});

test("totals of random logs and lists match a brute-force count over the source lines", async () => {
  const transformations = fc.constantFrom<readonly string[]>(
    ["RemoveComments", "Compress", "Deduplicate"],
    ["Compress"],
    ["RemoveComments", "Deduplicate"],
    [],
  );
  /** Each list has some of the sources. */
  const given = fc.record({
    sources: fc.array(source, { minLength: 1, maxLength: 5 }),
    lists: fc.array(fc.record({ chosen: fc.nat(31), transformations }), {
      minLength: 1,
      maxLength: 3,
    }),
    log: logged,
  });
  const sum = { lists: 0, alone: 0, shared: 0, never: 0 };
  await fc.assert(
    fc.asyncProperty(given, async ({ sources: pool, lists, log }) => {
      const { queries, format, mostNames, countsClients } = log;
      const files = Object.fromEntries(
        pool.map(({ lines }, index) => [`${index}.txt`, `${lines.join("\n")}\n`] as const),
      );
      const { host, opened } = countingHost({ ...files, log: logWriters.get(format)!(queries) });
      const reader = new TrafficReader(["log"], host, { mostNames, byClient: countsClients });
      for (const { chosen, transformations: all } of lists) {
        const some = [...pool.keys()].filter((index) => (chosen >> index) % 2 === 1);
        const own = some.length === 0 ? [0] : some;
        const sources = own.map((index) => pool[index]!);
        const config = {
          name: "N",
          sources: own.map((index) => ({
            source: `${index}.txt`,
            name: `S${index}`,
            type: pool[index]!.type,
          })),
          transformations: all,
        } as Config;
        const { result, record } = await compileRecorded(config, { host });
        const stats = await trafficStats({ list: result.bytes, record }, reader, undefined, host);

        const read = (lines: readonly string[]): readonly string[] =>
          all.includes("Compress") ? lines.flatMap(compressed) : lines;
        const exceptions = sources.flatMap(({ lines }) => lines.filter(isException));
        const alone = sources.map(({ lines }) =>
          naiveRules([...exceptions, ...read(lines.filter((line) => !isException(line)))]),
        );
        const everything = naiveRules(sources.flatMap(({ lines }) => read(lines)));
        const expected = own.map((index) => ({ label: `S${index}`, blocked: 0, alone: 0 }));
        let blocked = 0;
        for (const { name: asked } of queries) {
          const who = [...alone.keys()].filter((index) => isBlocked(alone[index]!, asked));
          assert.equal(who.length > 0, isBlocked(everything, asked), "the two ways to count agree");
          if (who.length > 0) blocked++;
          for (const index of who) expected[index]!.blocked++;
          if (who.length === 1) expected[who[0]!]!.alone++;
          sum.shared += who.length > 1 ? 1 : 0;
          sum.alone += who.length === 1 ? 1 : 0;
        }
        sum.lists++;
        sum.never += expected.filter((one) => one.blocked === 0).length;
        assert.deepEqual(stats.sources, expected);
        assert.equal(stats.blocked, blocked);
        assert.equal(stats.queries, queries.length);
        assert.deepEqual(stats.unseen, []);
        const clients = clientSums(queries, format, (one) =>
          isBlocked(everything, one) ? "blocked" : undefined,
        );
        const counted = [...clients].map(
          ([client, sums]) => [client, { queries: sums.queries, blocked: sums.blocked }] as const,
        );
        assert.deepEqual(byClient(stats.clients), new Map(countsClients ? counted : []));
      }
      if (mostNames === 1000) assert.equal(opened(), 1);
    }),
    propertyRuns(500),
  );
  // The cases are about something.
  assert.ok(
    sum.lists > 750 && sum.alone > 500 && sum.shared > 250 && sum.never > 250,
    JSON.stringify(sum),
  );
});
