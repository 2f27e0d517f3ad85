import assert from "node:assert/strict";
import { test } from "node:test";
import { ListRules, SearchedNames, partsOf, readParts } from "../../src/explain/list-rules.ts";
import { SourceLines } from "../../src/explain/source-lines.ts";
import { MappedNames, explainNames } from "../../src/explain/why.ts";
import {
  FILTER_BYTES,
  addName,
  filterBytesFor,
  foldFilter,
  mayHaveName,
} from "../../src/kernel/names.ts";
import { withParents } from "../../src/syntax/public-suffix.ts";
import { withReferenceKernel } from "../support/reference/reference-kernel.ts";
import { type Config, memoryHost } from "../support/internals.ts";
import { Random } from "../support/random.ts";
import { compileRecorded } from "../support/recorded.ts";

const STEPS = ["RemoveComments", "RemoveModifiers", "Compress", "Validate", "ConvertToAscii"];

/** Names that nobody asks about, so that those that are asked for stand far apart; some lines are longer than what is read around a part. */
function filling(random: Random): string[] {
  const count = random.pick([0, 10, 2040, 2060, 5000]);
  return Array.from({ length: count }, () => {
    const name = `n${random.below(1e6)}.filling.test`;
    return random.pick([
      `||${name}^`,
      `0.0.0.0 ${name}`,
      name,
      random.below(50) === 0 ? `||${name}^$third-party` : name,
      random.below(400) === 0 ? `! ${"long ".repeat(200)}` : name,
      random.below(400) === 0 ? `${" ".repeat(random.pick([3, 600]))}${name}` : name,
    ]);
  });
}

function randomName(random: Random): string {
  const labels = random.times(1 + random.below(3), () => random.pick(["a", "b", "q_r", "x-y"]));
  return [...labels, random.pick(["com", "bücher.example", "one.test", "a.b.two.test"])].join(".");
}

/** Lines of some kinds only: most blocks have no line that has to be looked at in any case. */
function lines(random: Random, count: number): string[] {
  const kinds = random.times(1 + random.below(6), () => random.below(KINDS.length));
  return random.times(count, () => KINDS[random.pick(kinds)]!(randomName(random), random));
}

const KINDS: readonly ((one: string, random: Random) => string)[] = [
  (one) => `||${one}^`,
  (one) => `||${one.toUpperCase()}^`,
  (one) => `0.0.0.0 ${one}`,
  (one) => `  0.0.0.0\t${one}  `,
  (one, random) => `0.0.0.0 ${one} ${randomName(random)} # both`,
  (one) => one,
  (one) => `${one} # note`,
  (one) => `${one}.`,
  (one) => `||${one}.^`,
  (one) => `||*.${one}^`,
  (one) => `@@||${one}^`,
  (one) => `||${one}^$third-party`,
  (one) => `||${one}^$important`,
  (one) => `||${one}^$badfilter`,
  (one) => `${one}##.banner`,
  (one) => `||${one}/path`,
  (one) => `://${one}/`,
  () => "||com^",
  (one) => `# ${one}`,
];

function file(random: Random): string {
  const parts = Array.from({ length: 1 + random.below(3) }, () => [
    ...filling(random),
    ...lines(random, random.below(25)),
  ]);
  const end = random.pick(["\n", "\r\n"]);
  return `${random.pick(["", "\uFEFF"])}${parts.flat().join(end)}${random.pick(["", end])}`;
}

test("a search in parts of the files finds the same lines as reading all of them", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const files = { "a.txt": file(random), "b.txt": file(random) };
    const host = memoryHost({ files });
    const config: Config = {
      name: "N",
      sources: [
        { source: "a.txt", name: "A", type: random.pick(["hosts", "adblock"]) },
        { source: "b.txt", name: "B", type: "adblock" },
      ],
      transformations: STEPS.filter(() => random.below(3) > 0),
      exclusions: random.below(2) === 0 ? [] : ["/^.{0,3}a\\./"],
    };
    const compiled = (): ReturnType<typeof compileRecorded> =>
      compileRecorded(config, { host, compat: true });
    const { result, record } = await (seed % 3 === 0 ? withReferenceKernel(compiled) : compiled());
    const sources = new SourceLines(record, undefined, host);
    const asked = [...new Set(random.times(40, () => randomName(random)))].map((one) =>
      one.replace("bücher", "xn--bcher-kva"),
    );
    const mapped = await ListRules.of(record, new MappedNames(result.bytes, record));
    const together = await explainNames(asked, { record, rules: mapped, sources });
    host.files.set("/list.txt", result.bytes);
    for (const [index, one] of asked.entries()) {
      const opened = await host.openFile("/list.txt");
      const part = random.pick([
        partsOf(result.bytes, record),
        await readParts(opened, record, withParents(one)),
      ]);
      const rules = await ListRules.of(record, new SearchedNames(record, part), [one]);
      const [alone] = await explainNames([one], { record, rules, sources });
      assert.deepEqual(alone, together[index], `seed ${seed}, ${one}`);
    }
  }
});

test("a filter contains everything that was added, however small it is", () => {
  const random = new Random(1);
  for (const rows of [0, 1, 15, 16, 100, 1000, 2048]) {
    const filter = new Uint8Array(FILTER_BYTES);
    const hashes = random.times(rows, () => random.below(2 ** 32) | 0);
    for (const hash of hashes) addName(filter, 0, hash);
    const bytes = filterBytesFor(rows);
    foldFilter(filter, bytes);
    const small = filter.subarray(0, bytes);
    assert.ok(hashes.every((hash) => mayHaveName(small, hash)));
    const strangers = random.times(2000, () => random.below(2 ** 32) | 0);
    const mistaken = strangers.filter((hash) => mayHaveName(small, hash)).length;
    assert.ok(mistaken < 80, `${mistaken} of 2000 at ${rows} rows`);
  }
});
