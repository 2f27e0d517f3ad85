import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { randomList } from "../support/agreement/random-list.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { type Config, compile, memoryHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { popularNames } from "../support/popularity/popular-names.ts";

const CASES = isNightly ? 5000 : 120;
const CHAINS = [
  [],
  ["Compress"],
  ["RemoveComments", "Validate", "Compress", "Deduplicate"],
  ["Validate", "RemoveModifiers", "InsertFinalNewLine"],
];

function rulesIn(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.filter((line) => line.trim() !== "" && !/^\s*[!#]/.test(line));
}

/** Whether a line of the list stays: by the slow matcher, one name after the other. */
function isKept(line: string, popular: readonly string[]): boolean {
  if (line.trim().startsWith("@@") || line.includes("badfilter")) return true;
  const matcher = new ListMatcher([line]);
  return popular.some((name) => matcher.matching(name).length > 0);
}

test(`${CASES} random lists: fit.top keeps the rules that match a popular name`, async () => {
  const first = seedFrom(process.env["FUZZ_SEED"]);
  let dropped = 0;
  let patterns = 0;
  for (let seed = first; seed < first + CASES; seed++) {
    const random = new Random(seed);
    const { lines, names } = randomList(seed, { names: 60 });
    const lists = random.times(1 + random.below(2), () => popularNames(names, random));
    const most = 1 + random.below(30);
    const top = new Set(lists.flatMap((list) => list.slice(0, most)));
    const files = Object.fromEntries(lists.map((list, index) => [`top${index}`, list.join("\n")]));
    const host = memoryHost({ files: { ...files, "list.txt": lines.join("\n") } });
    const config: Config = {
      name: "N",
      sources: [{ source: "list.txt", type: "adblock" }],
      ranks: Object.keys(files).map((source) => ({ source })),
      transformations: random.pick(CHAINS),
    };
    const normal = await compile(config, { host });
    const light = await compile({ ...config, fit: { top: most } }, { host });
    const all = rulesIn(normal.bytes);
    const expected = all.filter((line) => isKept(line, [...top]));
    assert.deepEqual(rulesIn(light.bytes), expected, `FUZZ_SEED=${seed}`);
    dropped += all.length - expected.length;
    patterns += expected.filter((line) => /[*]|^\/|denyallow/.test(line)).length;
    const [before, after] = [normal.report.sources[0]!, light.report.sources[0]!];
    assert.equal(after.lines, before.lines);
    assert.equal(after.kept + Object.values(after.dropped).reduce((a, b) => a + b, 0), after.lines);
  }
  assert.ok(dropped > CASES * 4, `${dropped} rules dropped`);
  assert.ok(patterns > CASES / 4, `${patterns} patterns kept`);
});
