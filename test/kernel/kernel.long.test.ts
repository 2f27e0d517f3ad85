import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { type Config, compile, memoryHost, rowsOf } from "../support/internals.ts";
import { randomCase } from "../support/differential/random-config.ts";
import { Random, seedFrom } from "../support/random.ts";
import { withReferenceKernel } from "../support/reference/reference-kernel.ts";

const seed = seedFrom(process.env["FUZZ_SEED"]);

/** Bytes and the fate of every line, with what made it redundant. */
async function outcomeOf(config: Config, files: Record<string, string>): Promise<object> {
  const { bytes, rules, report } = await compile(config, { host: memoryHost({ files }) });
  return { text: new TextDecoder().decode(bytes), rows: [...rowsOf(rules)], report };
}

async function compareKernels(
  config: Config,
  files: Record<string, string>,
  context: string,
): Promise<void> {
  const actual = await outcomeOf(config, files);
  const expected = await withReferenceKernel(() => outcomeOf(config, files));
  assert.deepEqual(actual, expected, context);
}

test("random configurations give the same rows with the kernel and the reference implementation", async () => {
  const random = new Random(seed);
  for (let index = 0; index < 200; index++) {
    const { config, files } = randomCase(random);
    await compareKernels(config, { ...files }, `seed ${seed}, configuration ${index}`);
  }
});

/** Few labels, so that nearly every name has parents, duplicates and top-level names in the list. */
function crowdedList(random: Random): string {
  const label = (): string =>
    random.pick(["a", "b", "c", "com", "org", "x-y", "A", "1", "2", "", "-z", "q_r", "ü"]);
  const name = (): string =>
    random.times(1 + random.below(5), label).join(".") + random.pick(["", "", "", "."]);
  const line = (): string =>
    random.pick([
      () => `||${name()}^`,
      () => `||${name()}^`,
      () => `0.0.0.0 ${random.times(1 + random.below(3), name).join(" ")}`,
      () => name(),
      () =>
        `||${name()}^$${random.pick(["third-party", "important", "badfilter", "3p,important", ","])}`,
      () => ` ${name()} `,
      () => `1.2.3.${random.below(4)}`,
      () => `${name()} # note`,
      () => random.pick(["! c", "", " ", "# d", "/re/"]),
      () =>
        random.pick(["##.x", "##a > b ", `${name()}##.x`, `||${name()}/p`, `|${name()}`, "#@#x"]),
      () => `||${name()}^${random.pick(["|", "$", "$,", "^", "/", "x", "_$3p"])}`,
    ])();
  return random.times(1 + random.below(400), line).join(random.pick(["\n", "\r\n", "\r"]));
}

test("in crowded lists the same rule covers the same rules in both implementations", async () => {
  const random = new Random(seed + 1);
  for (let index = 0; index < 300; index++) {
    const names = [
      "Compress",
      ...["TrimLines", "RemoveModifiers", "Deduplicate", "InvertAllow", "ConvertToAscii"].filter(
        () => random.chance(0.4),
      ),
    ];
    if (random.chance(0.5))
      names.push(random.pick(["Validate", "ValidateAllowIp", "ValidateAllowPublicSuffix"]));
    const own = random.chance(0.3) ? ["Compress"] : [];
    const config = {
      name: "n",
      sources: [{ source: "a", transformations: own }, { source: "b" }],
      transformations: names,
      ...(random.chance(0.3) ? { exclusions: ["||a.com^", "b."] } : {}),
    };
    await compareKernels(
      config,
      { a: crowdedList(random), b: crowdedList(random) },
      `seed ${seed}, list ${index}`,
    );
  }
});

test("lines at the edges of a block and lines longer than a block are read correctly", async () => {
  const config: Config = {
    name: "n",
    sources: [{ source: "a" }],
    transformations: ["Compress", "Validate"],
  };
  const BLOCK = 262_144;
  for (const shift of [-3, -2, -1, 0, 1, 2]) {
    for (const end of ["\n", "\r\n", "\r"]) {
      const filler = `0.0.0.0 filler.example.com${end}`;
      const count = Math.floor((BLOCK - 40) / filler.length);
      const pad = `# ${"x".repeat(BLOCK + shift - count * filler.length - 2 - end.length)}${end}`;
      const files = {
        a: `${pad}${filler.repeat(count)}||edge.example.org^${end}0.0.0.0 a.example.net b.example.net${end}last.example.com`,
      };
      await compareKernels(config, files, `shift ${shift}`);
    }
  }
  await compareKernels(
    config,
    { a: `first.example.com\n! ${"y".repeat(BLOCK * 2)}\nlast.example.com` },
    "a long line",
  );
  await compareKernels(
    config,
    { a: `0.0.0.0${" n.example.com".repeat(70_000)}\nlast.example.com` },
    "many names",
  );
});
