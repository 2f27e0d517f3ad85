import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { trafficChange } from "../../src/explain/traffic-change.ts";
import { trafficStats } from "../../src/explain/traffic-stats.ts";
import { TrafficReader } from "../../src/traffic/traffic-reader.ts";
import { type Config, memoryHost } from "../support/internals.ts";
import { isBlocked, naiveRules } from "../support/naive-matcher.ts";
import { propertyRuns } from "../support/property.ts";
import { logWriters } from "../support/query-logs.ts";
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
const query = fc.record({ name, client: fc.constantFrom("192.168.1.2", "fd00::7") });

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

test("changed queries of random logs match a brute-force comparison of two lists", async () => {
  const list = fc.array(adblockLine, { maxLength: 12 });
  const queries = fc.array(query, { minLength: 1, maxLength: 30 });
  const format = fc.constantFrom(...logWriters.keys());
  const sum = { blocked: 0, freed: 0 };
  await fc.assert(
    fc.asyncProperty(list, list, queries, format, async (old, fresh, asked, kind) => {
      const host = memoryHost({ files: { log: logWriters.get(kind)!(asked) } });
      const { names, ...counts } = await trafficChange(stateOf(old), stateOf(fresh), ["log"], host);
      const [before, now] = [naiveRules(old), naiveRules(fresh)];
      const expected = { blocked: new Map<string, number>(), freed: new Map<string, number>() };
      for (const { name: one } of asked) {
        const change = isBlocked(now, one) ? "blocked" : "freed";
        if (isBlocked(before, one) === isBlocked(now, one)) continue;
        expected[change].set(one, (expected[change].get(one) ?? 0) + 1);
        sum[change]++;
      }
      for (const change of ["blocked", "freed"] as const) {
        const found = names.filter((one) => one.change === change);
        assert.deepEqual(new Map(found.map((one) => [one.name, one.queries])), expected[change]);
        const all = [...expected[change].values()].reduce((total, count) => total + count, 0);
        assert.equal(counts[change], all);
      }
      assert.equal(counts.queries, asked.length);
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
  const given = fc.record({
    sources: fc.array(source, { minLength: 1, maxLength: 5 }),
    queries: fc.array(query, { minLength: 1, maxLength: 30 }),
    format: fc.constantFrom(...logWriters.keys()),
    mostNames: fc.constantFrom(1, 3, 1000),
    transformations,
  });
  const sum = { blocked: 0, alone: 0, shared: 0 };
  await fc.assert(
    fc.asyncProperty(
      given,
      async ({ sources, queries, format, mostNames, transformations: all }) => {
        const config = {
          name: "N",
          sources: sources.map(({ type }, index) => ({
            source: `${index}.txt`,
            name: `S${index}`,
            type,
          })),
          transformations: all,
        } as Config;
        const files = Object.fromEntries(
          sources.map(({ lines }, index) => [`${index}.txt`, `${lines.join("\n")}\n`] as const),
        );
        const host = memoryHost({ files: { ...files, log: logWriters.get(format)!(queries) } });
        const { result, record } = await compileRecorded(config, { host });
        const reader = new TrafficReader(["log"], host, mostNames);
        const stats = await trafficStats({ list: result.bytes, record }, reader, undefined, host);

        const read = (lines: readonly string[]): readonly string[] =>
          all.includes("Compress") ? lines.flatMap(compressed) : lines;
        const exceptions = sources.flatMap(({ lines }) => lines.filter(isException));
        const alone = sources.map(({ lines }) =>
          naiveRules([...exceptions, ...read(lines.filter((line) => !isException(line)))]),
        );
        const everything = naiveRules(sources.flatMap(({ lines }) => read(lines)));
        const expected = sources.map((_, index) => ({ source: `S${index}`, blocked: 0, alone: 0 }));
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
        sum.blocked += blocked;
        assert.deepEqual(stats.sources, expected);
        assert.equal(stats.blocked, blocked);
        assert.equal(stats.queries, queries.length);
        assert.deepEqual(stats.unseen, []);
      },
    ),
    propertyRuns(100),
  );
  // The cases are about something.
  assert.ok(sum.alone > 100 && sum.shared > 50, JSON.stringify(sum));
});
