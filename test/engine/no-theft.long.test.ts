import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { adguardEngine, missingEngine } from "../support/reference/adguard-engine.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { MemoryProject } from "../support/memory-project.ts";

/** A list of an own file and a source below full trust, in both orders, with and without Compress. */
async function verdicts(
  name: string,
  { own, other, more = {} }: { own: string; other: string; more?: object },
): Promise<string[]> {
  const found = [];
  for (const isOwnFirst of [true, false])
    for (const transformations of [[], ["Compress"], ["Compress", "Validate", "Deduplicate"]]) {
      const sources = [
        { source: "own.txt", name: "Own" },
        { source: "other.txt", name: "Other", trust: "block-only" },
      ];
      const project = new MemoryProject({
        "c.json": JSON.stringify({
          name: "N",
          sources: isOwnFirst ? sources : sources.toReversed(),
          transformations,
          ...more,
        }),
        "own.txt": own,
        "other.txt": other,
      });
      const { exit, stderr } = await project.run("-c", "c.json");
      assert.equal(exit, 0, stderr);
      const { stdout } = await project.run("why", "-c", "c.json", name);
      found.push(/ {2}(?<verdict>[A-Z]+) in/.exec(stdout)?.groups?.["verdict"] ?? stdout);
    }
  return found;
}

const BLOCKED = Array.from({ length: 6 }, () => "BLOCKED");

test("a broader rule of another source does not unblock what an own file blocks", async () => {
  for (const own of ["||ocsp.sectigo.com^", "0.0.0.0 ocsp.sectigo.com", "||sectigo.com^"])
    for (const other of ["||sectigo.com^", "||ocsp*.sectigo.com^"])
      assert.deepEqual(
        await verdicts("ocsp.sectigo.com", { own, other }),
        BLOCKED,
        `${own} ${other}`,
      );
  // Names that people need, as well.
  for (const own of ["||www.google.com^", "||google.com^"])
    assert.deepEqual(await verdicts("www.google.com", { own, other: "||google.com^" }), BLOCKED);
});

function lines(count: number, label: string): string {
  return Array.from({ length: count }, (_, index) => `||${label}${index}.example^`).join("\n");
}

test("an output that has not enough room leaves out less trusted sources first", async () => {
  for (const transformations of [[], ["Compress"], ["Validate", "Deduplicate"]])
    for (const [own, exit] of [
      [30, 0],
      [101, 2],
    ] as const) {
      const project = new MemoryProject({
        "c.json": JSON.stringify({
          name: "N",
          sources: [
            { source: "flood.txt", name: "Flood", trust: "block-only" },
            { source: "list.txt", name: "List", trust: "standard" },
            { source: "own.txt", name: "Own" },
            { source: "more.txt", name: "More", trust: "block-only" },
          ],
          ranks: ["top.txt"],
          outputs: [{ format: "domains", file: "n.domains", fit: { max_rules: 100 } }],
          transformations,
        }),
        "top.txt": "flood1.example\nflood2.example\n",
        // It covers and repeats names of the others.
        "flood.txt": `||a.example^\n||own1.example^\n${lines(2000, "flood")}`,
        "list.txt": lines(60, "list"),
        "own.txt": `${lines(own - 2, "own")}\n||x.a.example^\n||y.a.example^`,
        "more.txt": "||own1.example^",
      });
      const run = await project.run("-c", "c.json");
      assert.equal(run.exit === 0 ? 0 : 2, exit, run.stderr);
      if (exit !== 0) {
        assert.match(run.stderr, /limit-too-small.*names of local files/);
        continue;
      }
      const names = new Set(project.text("rules/n.domains").split("\n"));
      for (let index = 0; index < 28; index++) assert.ok(names.has(`own${index}.example`));
      for (let index = 0; index < 60; index++) assert.ok(names.has(`list${index}.example`));
      assert.ok(names.has("x.a.example") || transformations.length === 0);
      assert.ok(names.has("flood1.example"), "the rest is for popular names of the flood");
    }
});

const BASES = ["one.example", "two.example", "three.test"];
const NAMES = BASES.flatMap((base) => [
  base,
  ...["ads", "www", "cdn"].flatMap((label) => [`${label}.${base}`, `a.${label}.${base}`]),
]);

function line(random: Random, isAllowing: boolean): string {
  const name = random.pick(NAMES);
  const rule = random.pick([`||${name}^`, `|${name}^`, `||*.${name}^`, `||${name}^$important`]);
  if (isAllowing && random.chance(0.3)) return `@@${rule}`;
  const label = random.pick(["ads", "www", "cdn"]);
  return random.pick([
    rule,
    rule,
    `||${name}^`,
    name,
    `0.0.0.0 ${name}`,
    `||${label}*.${random.pick(BASES)}^`,
    `/^${label}\\.(one|two)\\.example$/`,
    `||${name}^$dnstype=A`,
    `||${name}^$badfilter`,
  ]);
}

const CASES = isNightly ? 3000 : 60;

test(`${CASES} random lists of three trusts block what their more trusted sources block`, async (t) => {
  const verdictsOf = missingEngine === false ? await adguardEngine() : undefined;
  if (verdictsOf === undefined) t.diagnostic(String(missingEngine));
  const first = seedFrom(process.env["FUZZ_SEED"]);
  let compared = 0;
  for (let seed = first; seed < first + CASES; seed++) {
    const random = new Random(seed);
    const levels = ["full", "standard", "block-only"] as const;
    const chains = [[], ["Compress"], ["Compress", "Validate"], ["Validate", "Deduplicate"]];
    const all = levels.map((trust) => ({
      source: `${trust}.txt`,
      name: trust,
      trust,
      type: "adblock",
      ...(random.chance(0.3) && { transformations: random.pick([["Compress"], ["Deduplicate"]]) }),
    }));
    const order = all
      .map((one) => ({ one, at: random.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ one }) => one);
    const files = Object.fromEntries(
      all.map(({ source, trust }) => [
        source,
        Array.from({ length: 1 + random.below(12) }, () =>
          line(random, trust !== "block-only"),
        ).join("\n"),
      ]),
    );
    const settings = {
      name: "N",
      transformations: random.pick(chains),
      guards: { protect: ["never.txt"], min_rules: 0 },
      outputs: [{ format: "hosts", file: "n.hosts" }],
    };
    const never = NAMES.filter(() => random.chance(0.15)).join("\n");
    const texts: string[] = [];
    const hosts: Set<string>[] = [];
    for (const count of [1, 2, 3]) {
      const used = new Set<string>(levels.slice(0, count));
      const sources = order.filter(({ trust }) => used.has(trust));
      const project = new MemoryProject({
        "c.json": JSON.stringify({ ...settings, sources }),
        "never.txt": `${never}\nnever.example`,
        ...files,
      });
      const accept = ["empty-output", "too-few-rules"].flatMap((one) => ["--accept", one]);
      const { exit, stderr } = await project.run("-c", "c.json", ...accept);
      assert.equal(exit, 0, `FUZZ_SEED=${seed}: ${stderr}`);
      texts.push(project.text("rules/n.txt"));
      const names = project.text("rules/n.hosts").matchAll(/^0\.0\.0\.0 (?<name>\S+)$/gm);
      hosts.push(new Set(Array.from(names, ({ groups }) => groups!["name"]!)));
    }
    const judges = texts.map((text) => {
      const rules = ListMatcher.of(text);
      const engine = verdictsOf?.(text);
      return (name: string) =>
        rules.meaning(name) === "blocked" && (engine === undefined || engine(name) === "blocked");
    });
    for (const [less, more] of [
      [0, 1],
      [1, 2],
    ] as const)
      for (const name of [...NAMES, "b.www.one.example"]) {
        const place = `FUZZ_SEED=${seed}: ${name} of ${levels.slice(0, less + 1).join()}\n${JSON.stringify(settings)}\n${JSON.stringify(order)}\n${JSON.stringify(files)}\n${texts[less]}\n${texts[more]}`;
        if (judges[less]!(name)) {
          compared++;
          assert.ok(judges[more]!(name), place);
        }
        if (hosts[less]!.has(name)) assert.ok(hosts[more]!.has(name), `hosts: ${place}`);
      }
  }
  assert.ok(compared > CASES * 3, `${compared} names compared`);
});
