import assert from "node:assert/strict";
import { test } from "node:test";
import { type CarriedRules, smallestCover } from "../../src/explain/overlap.ts";
import { statsOf } from "../../src/explain/stats.ts";
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

function configOf(sources: number): Config {
  return {
    name: "N",
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
    const { record, result } = await compileRecorded(configOf(count), {
      host: memoryHost({ files }),
    });
    const stats = statsOf(record);
    const all = effective(lists.flat());
    const what = `seed ${seed}: ${JSON.stringify(lists)}\n${new TextDecoder().decode(result.bytes)}`;
    assert.equal(stats.rules, all.size, what);
    const carries = (source: number, name: string): boolean => lists[source]!.includes(name);
    for (const a of lists.keys()) {
      const unique = [...all].filter(
        (name) => carries(a, name) && lists.every((_, b) => b === a || !carries(b, name)),
      );
      assert.equal(stats.sources[a]!.unique, unique.length, what);
      for (const b of lists.keys()) {
        const shared = [...all].filter((name) => carries(a, name) && carries(b, name));
        assert.equal(stats.overlap[a]![b], shared.length, what);
      }
    }
    // Every set of sources, the small ones first: the first that blocks the same is the smallest.
    const subsets = Array.from({ length: 2 ** count - 1 }, (_, index) =>
      [...lists.keys()].filter((source) => ((index + 1) & (1 << source)) !== 0),
    ).toSorted((x, y) => x.length - y.length);
    const smallest = subsets.find((subset) =>
      same(effective(subset.flatMap((source) => lists[source]!)), all),
    )!;
    assert.equal(stats.cover.sources.length, smallest.length, what);
    assert.equal(stats.cover.isSmallest, true);
    const chosen = stats.cover.sources.map((label) => Number(label.slice(1)));
    assert.ok(same(effective(chosen.flatMap((source) => lists[source]!)), all), what);
  }
});

test("a cover is found for many sources, and marked if it may not be the smallest", () => {
  const random = new Random(5);
  const groups: CarriedRules[] = Array.from({ length: 600 }, () => ({
    sources: Array.from({ length: 60 }, (_, index) => index).filter(() => random.chance(0.1)),
    rules: 1,
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
  assert.deepEqual([source!.rules, source!.unique], [2, 2]);
});

test("stats as a table and as Markdown", async () => {
  const { record } = await compileRecorded(configOf(3), { host: memoryHost({ files: FILES }) });
  const stats = statsOf(record);
  assert.equal(
    statsTable(stats, NO_STYLE, Infinity),
    `  source  lines  rejected  duplicate  covered  rules  only here
  S0          4         1          0        1      2          1
  S1          2         1          1        0      1          0
  S2          3         1          1        0      2          1

2 of 3 sources yield the same 3 rules; redundant: S1
S0 and S1 share 1 rule, 100 % of the smaller
S1 and S2 share 1 rule, 100 % of the smaller
S0 and S2 share 1 rule, 50 % of the smaller
`,
  );
  assert.equal(
    statsMarkdown(stats),
    `| source | lines | rejected | duplicate | covered | rules | only here |
|---|---:|---:|---:|---:|---:|---:|
| S0 | 4 | 1 | 0 | 1 | 2 | 1 |
| S1 | 2 | 1 | 1 | 0 | 1 | 0 |
| S2 | 3 | 1 | 1 | 0 | 2 | 1 |

2 of 3 sources yield the same 3 rules; redundant: S1
`,
  );
  assert.deepEqual(stats.sources[2]!.rejected, { "bad-modifier": 1 });
});
