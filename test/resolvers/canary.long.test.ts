import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { CANARY_SUFFIX, canaryIn } from "../../src/syntax/host-name.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { propertyRuns } from "../support/property.ts";

interface Built {
  readonly list: string;
  readonly files: ReadonlyMap<string, string>;
  readonly exit: number;
  readonly stderr: string;
}

const ALL = ["Compress", "Deduplicate", "InsertFinalNewLine"];

async function build(rules: readonly string[], more: object = {}): Promise<Built> {
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    ...more,
  };
  const project = new MemoryProject({
    "/project/c.json": JSON.stringify(config),
    "/project/own.txt": `${rules.join("\n")}\n`,
  });
  const { exit, stderr } = await project.run("-c", "c.json", "--no-cache");
  const files = new Map<string, string>();
  for (const path of project.memory.files.keys())
    if (/^\/project\/rules\/[^.]/.test(path))
      files.set(path.slice("/project/rules/".length), project.text(path.slice("/project/".length)));
  return { list: files.get("list.txt") ?? "", files, exit, stderr };
}

function body(text: string): string[] {
  return text.split("\n").filter((line) => !line.startsWith("! Number of entries"));
}

const RESOLVERS = { resolvers: ["192.0.2.53"] };
const rule = fc.oneof(
  fc.constantFrom(
    "||a.org^",
    "||b.net^",
    "0.0.0.0 c.com",
    "d.info",
    "@@||e.org^",
    "! note",
    "",
    "||x*y^",
  ),
  fc.stringMatching(/^[a-z]{1,8}$/).map((name) => `||${name}.org^`),
);
const lists = fc.array(rule, { minLength: 1, maxLength: 12 });
const settings = fc.subarray(ALL);

test("without resolvers a list has the same bytes, and with them only the canary more", async () => {
  await fc.assert(
    fc.asyncProperty(lists, settings, async (rules, transformations) => {
      const own = ["||always.org^", ...rules];
      const plain = await build(own, { transformations });
      const on = await build(own, { transformations, ...RESOLVERS });
      assert.equal(plain.exit, 0, plain.stderr);
      assert.equal(canaryIn(plain.list), undefined);
      const canary = canaryIn(on.list);
      assert.ok(canary !== undefined, on.list);
      const without = body(on.list).filter((line) => line !== `||${canary}^`);
      assert.equal(body(on.list).length - without.length, 1, "once, on a line of its own");
      assert.deepEqual(without, body(plain.list));
      if (transformations.includes("InsertFinalNewLine")) assert.match(on.list, /\n$/);
    }),
    propertyRuns(15),
  );
});

test("the canary changes exactly when the lines of the list do", async () => {
  const seen = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(lists, async (rules) => {
      const { list } = await build(["||always.org^", ...rules], {
        ...RESOLVERS,
        transformations: ALL,
      });
      const canary = canaryIn(list)!;
      const lines = list.replace(/^!.*\n/gm, "").replace(`||${canary}^`, "");
      const known = seen.get(canary);
      assert.ok(known === undefined || known === lines);
      const other = [...seen].find(([name, text]) => text === lines && name !== canary);
      // Comments in the list count as well, so equal rules may have two canaries.
      if (!rules.includes("! note")) assert.equal(other, undefined);
      if (!rules.includes("! note")) seen.set(canary, lines);
    }),
    propertyRuns(30),
  );
  assert.ok(seen.size > 15, String(seen.size));
});

test("a list whose rules did not change is not written again", async () => {
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    outputs: [{ format: "rpz" }],
    ...RESOLVERS,
  };
  const project = new MemoryProject({
    "/project/c.json": JSON.stringify(config),
    "/project/own.txt": "||a.org^\n",
  });
  await project.run("-c", "c.json", "--no-cache");
  const before = project.text("rules/list.rpz");
  project.now = "2026-11-11T00:00:00Z";
  const { stderr } = await project.run("-c", "c.json", "--no-cache");
  assert.match(stderr, /unchanged rules\/list\.txt/);
  assert.equal(project.text("rules/list.rpz"), before);
});

test("every format blocks the canary", async () => {
  const outputs = FORMAT_NAMES.map((format) => ({
    format,
    file: `out/${format}`,
  }));
  const { files, exit, stderr } = await build(["||a.org^", "||b.net^"], { outputs, ...RESOLVERS });
  assert.equal(exit, 0, stderr);
  const canary = canaryIn(files.get("list.txt")!)!;
  for (const format of FORMAT_NAMES)
    assert.ok(files.get(`out/${format}`)!.includes(canary), format);
});

test("a list of single names stays one, so that no format loses something", async () => {
  for (const format of ["hosts", "domains"]) {
    const outputs = [{ format, file: "out", on_loss: "fail" }];
    const { files, exit, stderr } = await build(["0.0.0.0 a.org", "b.net"], {
      outputs,
      ...RESOLVERS,
    });
    assert.equal(exit, 0, stderr);
    assert.ok(files.get("out")!.includes(canaryIn(files.get("list.txt")!)!), format);
  }
});

test("the guards do not take the canary for a rule that blocks something", async () => {
  const empty = await build(["||a.org^"], { ...RESOLVERS, exclusions: ["a.org"] });
  assert.equal(empty.exit, 5, empty.stderr);
  assert.match(empty.stderr, /too-few-rules/);
  const outputs = [{ format: "hosts", file: "out" }];
  const patterns = ["||*ads*.site.org^", "/^ad[0-9]+\\.site\\.org$/"];
  for (const more of [{}, RESOLVERS]) {
    const { exit, stderr } = await build(patterns, { outputs, ...more });
    assert.equal(exit, 5, stderr);
    assert.match(stderr, /empty-output/);
  }
  const whole = await build(patterns, {
    outputs: [{ format: "adblock", file: "out" }],
    ...RESOLVERS,
  });
  assert.equal(whole.exit, 0, whole.stderr);
});

test("an output with fit keeps the canary before rules of later sources", async () => {
  const project = new MemoryProject({
    "/project/c.json": JSON.stringify({
      name: "List",
      sources: ["a", "b"].map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
      outputs: [{ format: "hosts", file: "out", fit: { max_rules: 3 } }],
      ...RESOLVERS,
    }),
    "/project/a.txt": "||a1.org^\n||a2.org^\n",
    "/project/b.txt": "||b1.org^\n||b2.org^\n",
  });
  const { exit, stderr } = await project.run("-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  assert.ok(canaryIn(project.text("rules/out")) !== undefined, project.text("rules/out"));
});

test("of several lists, those that resolvers name have one", async () => {
  const lists2 = [{ name: "Light" }, { name: "Pro" }];
  const named = await build(["||a.org^"], {
    lists: lists2,
    resolvers: [{ address: "192.0.2.53", list: "Pro" }],
  });
  assert.equal(named.exit, 0, named.stderr);
  assert.equal(canaryIn(named.files.get("light.txt")!), undefined);
  assert.ok(canaryIn(named.files.get("pro.txt")!) !== undefined);
});

test("why says that a rule is the canary", async () => {
  const project = new MemoryProject({
    "/project/c.json": JSON.stringify({
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      ...RESOLVERS,
    }),
    "/project/own.txt": "||a.org^\n",
  });
  await project.run("-c", "c.json", "--no-cache");
  const canary = canaryIn(project.text("rules/list.txt"))!;
  const { stdout } = await project.run("why", "-c", "c.json", canary);
  assert.match(
    stdout,
    /BLOCKED[^]*by {2}\|\|b-[\da-f]{12}\.canary\.rules-compiler\.example\^ {2}canary/,
  );
});

test("comparisons do not see canaries: covers, plan, diff and log", async () => {
  const project = new MemoryProject({
    "c.json": JSON.stringify({
      name: "All",
      sources: [
        { name: "L", source: "light.txt", type: "adblock" },
        { name: "P", source: "pro.txt", type: "adblock" },
      ],
      lists: [
        { name: "Light", sources: ["L"] },
        { name: "Pro", sources: ["L", "P"], covers: ["Light"] },
      ],
      combined: [{ format: "unbound-tags", file: "tags.conf" }],
      resolvers: [
        { address: "192.0.2.53", list: "Light" },
        { address: "192.0.2.54", list: "Pro" },
      ],
    }),
    "light.txt": "||a.org^\n",
    "pro.txt": "||b.org^\n",
  });
  const run = async (...args: string[]): ReturnType<MemoryProject["run"]> =>
    await project.run(...args, "-c", "c.json", "--no-cache");
  const first = await run("compile");
  assert.equal(first.exit, 0, first.stderr);
  assert.doesNotMatch(first.stderr, /not-covered|not-combined/);
  const old = project.text("rules/light.txt");
  assert.notEqual(canaryIn(old), undefined);
  assert.notEqual(canaryIn(project.text("rules/tags.conf")), undefined);
  project.write("light.txt", "||a.org^\n||c.org^\n");
  const plan = await run("plan");
  assert.match(plan.stdout, /\+ 1 {2}− 0 {2}= 2 rules \(was 1,/);
  assert.doesNotMatch(plan.stdout, /canary/);
  assert.equal((await run("compile")).exit, 0);
  project.write("old.txt", old);
  for (const said of [
    await project.run("diff", "old.txt", "rules/light.txt"),
    await run("log", "--filter", "Light", "--markdown"),
  ])
    assert.doesNotMatch(said.stdout + said.stderr, /canary/);
});

/** Lines that would move the proof; `canary` is that of the list without them. */
const touching = (canary: string): string[] => [
  `||${CANARY_SUFFIX}^`,
  `@@||${CANARY_SUFFIX}^`,
  `||${canary}^`,
  `||${canary}`,
  `@@||${canary}^$important`,
  `|${canary}^$dnsrewrite=1.2.3.4`,
  `||${CANARY_SUFFIX.toUpperCase()}^$client=10.0.0.1`,
  `||${canary}^$badfilter`,
  `0.0.0.0 ${canary}`,
  `192.0.2.7 c-0123456789ab.${CANARY_SUFFIX}`,
  `0.0.0.0 kept-too.org x.${CANARY_SUFFIX}`,
  `deep.below.${canary}`,
  "||rules-compiler.example^",
  "||example^",
  "||*.example^",
  "||c-*.canary.*^",
  "*-compiler.exam*",
  "/^b-[0-9a-f]+\\.canary\\./",
  "@@/\\.rules-compiler\\.example$/",
  "/^c-/",
  `/${canary.replaceAll(".", "\\.")}/`,
];

test("no line of any source touches the canary, in the list and in every format", async () => {
  const rules = ["||always.org^", "||ads.example.org^", "||my.example^"];
  const canary = canaryIn((await build(rules, RESOLVERS)).list)!;
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(touching(canary), { minLength: 1 }),
      settings,
      fc.constantFrom("full", "standard", "block-only"),
      fc.constantFrom("adblock", "hosts", "domains", "unbound", "dnsmasq", "rpz"),
      async (hostile, transformations, trust, format) => {
        const more = {
          sources: [{ name: "Own", source: "own.txt", type: "adblock", trust }],
          transformations,
          outputs: [{ format, file: "out" }],
          ...RESOLVERS,
        };
        const { list, files, exit, stderr } = await build([...rules, ...hostile], more);
        assert.equal(exit, 0, stderr);
        const own = canaryIn(list)!;
        const lines = body(list).filter((line) => line !== "" && !line.startsWith("!"));
        const expected = [...rules, `||${own}^`];
        const wider = lines.filter((line) => !expected.includes(line));
        assert.deepEqual(
          wider.filter((line) => !/^(?:0\.0\.0\.0 |\|\|)kept-too\.org\^?$/.test(line)),
          [],
          hostile.join("\n"),
        );
        assert.equal(lines.length - wider.length, expected.length, list);
        const others = files.get("out")!.replaceAll(own, "");
        assert.doesNotMatch(
          others,
          /canary\.|rules-compiler\.example|(?:^|[ /@"]|\*\.)example["/ ]/m,
        );
      },
    ),
    propertyRuns(60),
  );
});

test("an own rule for every name stays, and the canary of another list goes without an alarm", async () => {
  const other = `||b-0123456789ab.${CANARY_SUFFIX}^`;
  const { list, stderr } = await build(["*$dnstype=~A", other, "||a.org^"], {
    ...RESOLVERS,
    transformations: [],
    guards: { min_rules: 1 },
  });
  assert.match(list, /^\*\$dnstype=~A$/m, stderr);
  assert.doesNotMatch(list, /0123456789ab/);
  assert.doesNotMatch(stderr, /reserved/);
});

test("a list that gains a canary and no rules is to be published", async () => {
  const config = { name: "List", sources: [{ name: "Own", source: "own.txt", type: "adblock" }] };
  const project = new MemoryProject({ "c.json": JSON.stringify(config), "own.txt": "||a.org^\n" });
  const plan = async (): Promise<number> =>
    (await project.run("plan", "-c", "c.json", "--no-cache", "--exit-code")).exit;
  await project.run("compile", "-c", "c.json", "--no-cache");
  assert.equal(await plan(), 0);
  project.write("c.json", JSON.stringify({ ...config, ...RESOLVERS }));
  assert.notEqual(await plan(), 0);
});
