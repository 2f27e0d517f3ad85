import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ServedInMemory } from "../support/served-in-memory.ts";

const CONFIG = {
  name: "Home",
  sources: [{ source: "a.txt" }],
  patches: "7d",
  outputs: [
    { format: "hosts", split: { max_rules: 10 }, pack: ["gzip"] },
    { format: "cdb", file: "home.cdb" },
  ],
};
const MANY = Array.from({ length: 25 }, (_, index) => `||d${index}.example^`);
const FEW = MANY.slice(0, 5);
const PARTS = ["home.hosts", "home-2.hosts", "home-3.hosts"];
const COPIES = [...PARTS.map((part) => `${part}.gz`), "home.cdb", "home.cdb.lua"];

/** A server that has published three parts, and then one. */
async function servedTwice(context: TestContext): Promise<ServedInMemory> {
  const served = new ServedInMemory(context, CONFIG, MANY);
  await served.start();
  served.write(FEW);
  assert.equal((await served.ask("/compile", "POST")).status, 202);
  await served.logged("run-ended", 2);
  assert.deepEqual(await statuses(served), [200, 404, 404]);
  return served;
}

async function statuses(
  served: ServedInMemory,
  files: readonly string[] = PARTS,
): Promise<number[]> {
  const found: number[] = [];
  for (const part of files) found.push((await served.ask(`/rules/${part}`)).status);
  return found;
}

/** The path of the patch that leads from the served list to the next one. */
async function nextPatch(served: ServedInMemory): Promise<string> {
  const { text } = await served.ask("/rules/home.txt");
  return `/rules/${/^! Diff-Path: (?<path>[^#]+)#/m.exec(text)!.groups!["path"]!}`;
}

async function reason(served: ServedInMemory): Promise<string> {
  return (JSON.parse((await served.ask("/health")).text) as { reason: string }).reason;
}

test("after a rollback by request, its patch and its parts are served", async (context) => {
  const served = await servedTwice(context);
  const patch = await nextPatch(served);
  assert.equal((await served.ask(patch)).status, 404);
  const back = await served.ask("/rollback?to=1", "POST");
  assert.equal(back.status, 200, back.text);
  assert.equal((await served.ask(patch)).status, 200);
  assert.deepEqual(await statuses(served), [200, 200, 200]);
  // And back again: no file is missing that the other build does not have.
  const next = await nextPatch(served);
  assert.equal((await served.ask("/rollback?to=1", "POST")).status, 200);
  assert.deepEqual(await statuses(served), [200, 404, 404]);
  assert.equal((await served.ask(next)).status, 200);
  assert.doesNotMatch(await reason(served), /missing/);
});

test("the first request after a rollback in a terminal finds its patch and its parts", async (context) => {
  const served = await servedTwice(context);
  const patch = await nextPatch(served);
  const typed = await served.command("rollback", "@1");
  assert.equal(typed.exit, 0, typed.stdout);
  assert.equal((await served.ask(patch)).status, 200);
  assert.deepEqual(await statuses(served), [200, 200, 200]);
  assert.equal((await served.command("rollback", "@1")).exit, 0);
  await statuses(served);
  assert.deepEqual(await statuses(served), [200, 404, 404]);
  assert.doesNotMatch(await reason(served), /missing/);
});

test("after a restart, all parts are served before the next run", async (context) => {
  const served = new ServedInMemory(context, CONFIG, MANY);
  await served.start();
  assert.deepEqual(await statuses(served), [200, 200, 200]);
  assert.deepEqual(await statuses(served, COPIES), [200, 200, 200, 200, 200]);
  await served.end();
  await served.start();
  assert.equal(served.events("run-ended").length, 1);
  assert.deepEqual(await statuses(served), [200, 200, 200]);
  assert.deepEqual(await statuses(served, COPIES), [200, 200, 200, 200, 200]);
});

test("a part that is lost is missing, and a file beside the list is not served", async (context) => {
  const served = new ServedInMemory(context, CONFIG, MANY);
  await served.start();
  served.memory.files.set("/project/rules/home-4.hosts", new Uint8Array(1));
  assert.equal((await served.ask("/rules/home-4.hosts")).status, 404);
  served.memory.files.delete("/project/rules/home-3.hosts");
  await reason(served);
  assert.match(await reason(served), /missing: home-3\.hosts/);
});

interface Figures {
  readonly health: readonly (readonly [string, number])[];
  readonly metric: number;
  readonly page: readonly string[];
}

/** The rules of each list and in all, as /health, /metrics and the page show them. */
async function figures(served: ServedInMemory): Promise<Figures> {
  // The first look begins to read what other processes have changed.
  await served.ask("/health");
  const { lists } = JSON.parse((await served.ask("/health")).text) as {
    lists: readonly { list: string; rules: number }[];
  };
  const { text: metrics } = await served.ask("/metrics");
  const { text: page } = await served.ask("/");
  return {
    health: lists.map(({ list, rules }) => [list, rules]),
    metric: Number(
      /^rules_compiler_list_rules\{.*\} (?<rules>\d+)$/m.exec(metrics)!.groups!["rules"],
    ),
    page: [...page.matchAll(/rules\/(?<file>\w+\.txt)"[^]*?data-name="Rules">(?<rules>\d+)</g)].map(
      ({ groups }) => `${groups!["file"]} ${groups!["rules"]}`,
    ),
  };
}

test("the rules of a list are those of what is published, also by other processes", async (context) => {
  const served = await servedTwice(context);
  const has = async (rules: number): Promise<void> =>
    assert.deepEqual(await figures(served), {
      health: [["Home", rules]],
      metric: rules,
      page: [`home.txt ${rules}`],
    });
  await has(5);
  await served.ask("/rollback?to=1", "POST");
  await has(25);
  await served.command("rollback", "@1");
  await has(5);
  served.write(MANY.slice(0, 7));
  await served.command("compile", "--no-cache");
  await has(7);
  await served.ask("/hold?to=1", "POST");
  await has(5);
  await served.end();
  await served.start();
  await has(5);
});

test("a rollback of one list of several changes its rules and the sum", async (context) => {
  const lists = [
    { name: "A", sources: ["Own"] },
    { name: "B", sources: ["Own"], allow: ["d0.example"] },
  ];
  const sources = [{ name: "Own", source: "a.txt" }];
  const served = new ServedInMemory(context, { name: "Both", sources, lists }, MANY);
  await served.start();
  served.write(FEW);
  await served.ask("/compile", "POST");
  await served.logged("run-ended", 2);
  await served.ask("/rollback?to=1&list=A", "POST");
  const found = await figures(served);
  assert.deepEqual(
    found.health.map(([list]) => list),
    ["A", "B"],
  );
  assert.equal(found.health[0]![1], 25);
  assert.ok(found.health[1]![1] < 10);
  assert.equal(found.metric, 25 + found.health[1]![1]);
  assert.deepEqual(found.page, [`a.txt 25`, `b.txt ${found.health[1]![1]}`]);
});
