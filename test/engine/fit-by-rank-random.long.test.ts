import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { randomList } from "../support/agreement/random-list.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { popularNames } from "../support/popularity/popular-names.ts";

const CASES = isNightly ? 5000 : 120;
const CHAINS = [[], ["Compress"], ["RemoveComments", "Validate", "Compress"], ["Deduplicate"]];
/** Formats with one line per name or rule; the rule that a line means, in adblock syntax. */
const FORMATS: Readonly<Record<string, (line: string) => string>> = {
  adblock: (line) => line,
  hosts: (line) => `|${line.split(" ")[1]}^`,
  domains: (line) => `|${line}^`,
  wildcard: (line) => `||${line.slice(2)}^`,
};

function entriesIn(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !/^\s*[!#]/.test(line));
}

function isException(line: string): boolean {
  return line.trim().startsWith("@@") || line.includes("badfilter");
}

/** Source 1 has its own top-level domain. */
function sourceOf(line: string): number {
  return Number(line.includes(".second"));
}

/** The lines that stay: one after the other, by the slow matcher. */
function chosen(
  all: readonly string[],
  meaning: (line: string) => string,
  popular: readonly string[],
  most: number,
): string[] {
  const known = new Map<string, number>();
  const rankOf = (line: string): number => {
    const matcher = new ListMatcher([meaning(line)]);
    const at = popular.findIndex((name) => matcher.matching(name).length > 0);
    return at === -1 ? Infinity : at;
  };
  for (const line of all) known.set(line, rankOf(line));
  const blocks = all
    .map((line, at) => ({ line, at, rank: known.get(line)!, source: sourceOf(line) }))
    .filter(({ line }) => !isException(line));
  blocks.sort(
    (a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank) || a.source - b.source || a.at - b.at,
  );
  const kept = new Set(blocks.slice(0, most - (all.length - blocks.length)).map(({ at }) => at));
  return all.filter((line, at) => isException(line) || kept.has(at));
}

test(`${CASES} random outputs: fit keeps the rules of the most popular names`, async () => {
  const first = seedFrom(process.env["FUZZ_SEED"]);
  let cases = 0;
  let left = 0;
  let differing = 0;
  for (let seed = first; cases < CASES; seed++) {
    const random = new Random(seed);
    const { lines, names } = randomList(seed, { names: 60 });
    const second = random.times(random.below(12), () => `||n${random.below(30)}.second.com^`);
    const more = random.times(20, () => `n${random.below(30)}.second.com`);
    const popular = popularNames([...names, ...new Set(more)], random);
    const formats = Object.entries(FORMATS).map(([format, meaning]) => ({
      format,
      meaning,
      most: 5 + random.below(30),
    }));
    const config = {
      sources: ["one", "two"].map((source) => ({ name: source, source, type: "adblock" })),
      ranks: ["top"],
      transformations: random.pick(CHAINS),
      outputs: formats.flatMap(({ format, most }) => [
        { format, file: `${format}.all` },
        { format, file: `${format}.some`, fit: { max_rules: most } },
      ]),
    };
    const files = { one: lines.join("\n"), two: second.join("\n"), top: popular.join("\n") };
    const project = new MemoryProject({
      ...files,
      "c.json": JSON.stringify({ name: "L", ...config }),
    });
    const { exit, stderr } = await project.run("compile", "-c", "c.json", "--no-cache");
    // A format can express nothing of the list, or it has more exceptions than rules may be in the file.
    if (exit !== 0) {
      assert.match(stderr, /empty-output|limit-too-small/, `FUZZ_SEED=${seed}`);
      continue;
    }
    for (const { format, meaning, most } of formats) {
      const all = entriesIn(project.text(`rules/${format}.all`));
      const some = entriesIn(project.text(`rules/${format}.some`));
      const expected = chosen(all, meaning, popular, most);
      assert.deepEqual(some, expected, `FUZZ_SEED=${seed} ${format} ${most}`);
      cases++;
      left += all.length - some.length;
      if (some.join("\n") !== all.slice(0, some.length).join("\n")) differing++;
    }
  }
  assert.ok(left > CASES / 2, `${left} rules left out`);
  assert.ok(differing > CASES / 10, `popular names made a difference in ${differing} cases`);
});
