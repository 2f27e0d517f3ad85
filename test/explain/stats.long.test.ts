import assert from "node:assert/strict";
import { test } from "node:test";
import { type CarriedRules, smallestCover } from "../../src/explain/overlap.ts";
import { statsOf } from "../../src/explain/glossary.ts";
import { statsMarkdown, statsTable } from "../../src/cli/output/stats-text.ts";
import { NO_STYLE } from "../../src/diagnostics/render.ts";
import { type Config, memoryHost } from "../support/internals.ts";
import { Random } from "../support/random.ts";
import { compileRecorded } from "../support/recorded.ts";
import { isNightly } from "../support/nightly.ts";

/** Names without those that a parent covers: what a list of them blocks. */
function effective(names: Iterable<string>): Set<string> {
  const all = new Set(names);
  const isCovered = (name: string): boolean =>
    name.split(".").some((_, index, labels) => index > 0 && all.has(labels.slice(index).join(".")));
  return new Set([...all].filter((name) => !isCovered(name)));
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function configOf(sources: number, least = 1): Config {
  return {
    name: "N",
    min_sources: least,
    sources: Array.from({ length: sources }, (_, index) => ({
      source: `${index}.txt`,
      name: `S${index}`,
      type: index % 2 === 0 ? ("adblock" as const) : ("hosts" as const),
    })),
    transformations: ["RemoveComments", "Compress", "Validate", "Deduplicate"],
  };
}

test("random lists: overlap, unique rules and the smallest cover match a brute-force search", async () => {
  for (let seed = 1; seed <= (isNightly ? 500 : 150); seed++) {
    const random = new Random(seed);
    const count = 2 + random.below(5);
    const labels = ["a", "b", "c", "d"];
    const lists = Array.from({ length: count }, () =>
      Array.from({ length: 1 + random.below(9) }, () =>
        [
          ...Array.from({ length: random.below(3) }, () => random.pick(labels)),
          `${random.pick(["one", "two", "six"])}.com`,
        ].join("."),
      ),
    );
    const files: Record<string, string> = {};
    for (const [index, names] of lists.entries())
      files[`${index}.txt`] = names
        .map((name) => (index % 2 === 0 ? `||${name}^` : `0.0.0.0 ${name}`))
        .join("\n");
    const least = 1 + random.below(Math.min(3, count));
    /** What these sources publish. */
    const published = (sources: readonly number[]): Set<string> => {
      const names = sources.map((source) => new Set(lists[source]));
      const all = names.flatMap((own) => [...own]);
      return effective(all.filter((name) => names.filter((own) => own.has(name)).length >= least));
    };
    const { record, result } = await compileRecorded(configOf(count, least), {
      host: memoryHost({ files }),
    });
    const stats = statsOf(record);
    const every = [...lists.keys()];
    const all = published(every);
    const what = `seed ${seed}, min_sources ${least}: ${JSON.stringify(lists)}\n${new TextDecoder().decode(result.bytes)}`;
    assert.equal(stats.rules, all.size, what);
    const carries = (source: number, name: string): boolean => lists[source]!.includes(name);
    for (const a of lists.keys()) {
      const rest = published(every.filter((source) => source !== a));
      const only = [...all].filter((name) => !rest.has(name));
      assert.equal(stats.sources[a]!.onlyHere, only.length, what);
      for (const b of lists.keys()) {
        const shared = [...all].filter((name) => carries(a, name) && carries(b, name));
        assert.equal(stats.overlap[a]![b], shared.length, what);
      }
    }
    // Every set of sources, the small ones first: the first that blocks the same is the smallest.
    const subsets = Array.from({ length: 2 ** count }, (_, index) =>
      every.filter((source) => (index & (1 << source)) !== 0),
    ).toSorted((x, y) => x.length - y.length);
    const smallest = subsets.find((subset) => same(published(subset), all))!;
    assert.equal(stats.cover.sources.length, smallest.length, what);
    assert.equal(stats.cover.isSmallest, true);
    const chosen = stats.cover.sources.map((label) => Number(label.slice(1)));
    assert.ok(same(published(chosen), all), what);
  }
});

test("a cover is found for many sources, and marked if it may not be the smallest", () => {
  const random = new Random(5);
  const groups: CarriedRules[] = Array.from({ length: 600 }, () => ({
    sources: Array.from({ length: 60 }, (_, index) => index).filter(() => random.chance(0.1)),
    rules: 1,
    least: 1,
  })).filter(({ sources }) => sources.length > 1);
  const { sources } = smallestCover(groups);
  assert.ok(groups.every((group) => group.sources.some((source) => sources.includes(source))));
  assert.deepEqual(smallestCover([]), { sources: [], isSmallest: true });
});

const FILES = {
  "0.txt": "! c\n||a.com^\n||b.com^\n||x.a.com^\n",
  "1.txt": "0.0.0.0 a.com\n0.0.0.0 localhost\n",
  "2.txt": "||a.com^\n||c.com^\n||bad.com^$third-party\n",
};

test("comments that stay in the list do not count as rules", async () => {
  const config: Config = { name: "N", sources: [{ source: "a.txt", name: "A", type: "adblock" }] };
  const files = { "a.txt": "! c\n! d\n\n||a.com^\n||b.com^\n" };
  const { record } = await compileRecorded(config, { host: memoryHost({ files }) });
  const [source] = statsOf(record).sources;
  assert.deepEqual([source!.rules, source!.onlyHere], [2, 2]);
});

test("stats as a table and as Markdown", async () => {
  const { record } = await compileRecorded(configOf(3), { host: memoryHost({ files: FILES }) });
  const stats = statsOf(record);
  assert.equal(
    statsTable(stats, NO_STYLE, Infinity),
    `  source  lines  kept  dropped  redundant  rules  only here
  S0          4     2        2          1      2          1
  S1          2     0        2          2      1          0
  S2          3     1        2          1      2          1

2 of 3 sources yield the same 3 rules; redundant: S1
S0 and S1 share 1 rule, 100 % of the smaller
S1 and S2 share 1 rule, 100 % of the smaller
S0 and S2 share 1 rule, 50 % of the smaller
`,
  );
  assert.equal(
    statsMarkdown(stats),
    `| source | lines | kept | dropped | redundant | rules | only here |
|---|---:|---:|---:|---:|---:|---:|
| S0 | 4 | 2 | 2 | 1 | 2 | 1 |
| S1 | 2 | 0 | 2 | 2 | 1 | 0 |
| S2 | 3 | 1 | 2 | 1 | 2 | 1 |

2 of 3 sources yield the same 3 rules; redundant: S1
`,
  );
  assert.deepEqual(stats.sources[2]!.dropped, { "bad-modifier": 1, "same-host": 1 });
});

test("stats knows what min_sources needs: exceptions need one source, and a rule that the list has twice is not known", async () => {
  const sources = ["a", "b", "c"].map((name) => ({ name, source: `${name}.txt`, type: "adblock" }));
  const files = {
    "a.txt": "||x1.com^\n||x2.com^\n@@||free.com^\n",
    "b.txt": "||x1.com^\n||x2.com^\n",
    "c.txt": "||x1.com^\n",
  };
  const textOf = async (transformations: readonly string[]): Promise<string> => {
    const config = { name: "N", min_sources: 2, sources, transformations } as unknown as Config;
    const { record } = await compileRecorded(config, { host: memoryHost({ files }) });
    return statsTable(statsOf(record), NO_STYLE, Infinity);
  };
  const merged = await textOf(["Compress"]);
  assert.match(merged, /^ {2}a +3 +3 +0 +0 +3 +2$/m);
  assert.match(merged, /^ {2}b +2 +0 +2 +2 +2 +1$/m);
  assert.match(merged, /^2 of 3 sources yield the same 3 rules; redundant: c$/m);
  assert.match(await textOf([]), /^No source is known to be redundant\.$/m);
});
