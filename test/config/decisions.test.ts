import assert from "node:assert/strict";
import { test } from "node:test";
import { decisionLine, readDecision } from "../../src/config/decisions.ts";
import { MemoryProject } from "../support/memory-project.ts";

const CONFIG = JSON.stringify({
  name: "N",
  sources: [{ source: "a.txt", name: "A" }],
  transformations: ["RemoveComments", "Compress"],
});

function project(decisions: string, lines = "||ads.example.com^\n||example.org^\n"): MemoryProject {
  return new MemoryProject({ "c.json": CONFIG, "a.txt": lines, "decisions.txt": decisions });
}

function rulesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("!"));
}

test("a decision is one line, read as it is written", () => {
  for (const line of [
    "allow shop.example.com",
    "block ads.example.com exact",
    "allow a.example.com since 2026-11-18 until 2026-12-18 in kids ref https://x.example/7 # It's # fine",
    "block xn--bcher-kva.example.com since 2026-11-18T10:00Z",
  ]) {
    const read = readDecision(line);
    assert.ok(!("problem" in read), line);
    assert.equal(decisionLine(read), line);
  }
  const odd = readDecision("  block  BÜCHER.example.com.   exact#1");
  assert.deepEqual(odd, {
    problem: "exact#1 is none of exact, since, until, in, ref, or # before the reason",
    column: 32,
  });
  const folded = readDecision("block BÜCHER.example.com.");
  assert.equal("name" in folded && folded.name, "xn--bcher-kva.example.com");
});

test("any other line is an error with its place, and nothing is written", async () => {
  const bad = {
    "alow a.example.com": [1, "a line begins with allow or block, and a name"],
    "block com": [7, "com is a whole public suffix"],
    "block co.uk": [7, "co.uk is a whole public suffix"],
    "allow 10.0.0.1": [7, "10.0.0.1 is not a name"],
    "allow a.example.com until tomorrow": [27, "tomorrow is not a date such as 2026-12-31"],
    "allow a.example.com until": [26, "until needs a value"],
    "block x.canary.rules-compiler.example": [
      7,
      "x.canary.rules-compiler.example belongs to the canaries, which show builds",
    ],
  } as const;
  for (const [line, [column, problem]] of Object.entries(bad)) {
    const one = project(`# mine\n${line}\n`);
    const { exit, stderr } = await one.run("-c", "c.json");
    assert.equal(exit, 2, line);
    assert.ok(stderr.includes(`error[bad-decision]: Invalid decision: ${problem}`), stderr);
    assert.ok(stderr.includes(`--> decisions.txt:2:${column}`), stderr);
    assert.ok(!one.memory.files.has("/project/rules/n.txt"));
  }
});

test("a copied address has its name as the hint", async () => {
  for (const address of [
    "https://shop.example.com/cart?x=1",
    "https://me@Shop.example.com:8443",
    "shop.example.com/cart",
  ]) {
    const { stderr } = await project(`allow ${address}\n`).run("-c", "c.json");
    assert.match(stderr, /hint: Write the name alone: allow shop\.example\.com$/m);
  }
  const { stderr } = await project("allow https://10.0.0.1/\n").run("-c", "c.json");
  assert.doesNotMatch(stderr, /the name alone/);
});

test("what only reads a published list warns of a bad line, and answers", async () => {
  for (const name of ["c.json", "c.yaml"]) {
    const one = project("block b.example.com\n");
    one.write("c.yaml", "name: N\nsources: [{ source: a.txt, name: A }]\n");
    assert.equal((await one.run("-c", name)).exit, 0);
    one.write("decisions.txt", "alow b.example.com\nblock https://b.example.com/\n");
    const why = await one.run("why", "-c", name, "ads.example.com");
    assert.equal(why.exit, 0, why.stderr);
    assert.match(why.stdout, /BLOCKED/);
    for (const words of [["stats"], ["log"], ["export", "x.csv"]]) {
      const { exit, stderr } = await one.run(...words, "-c", name);
      assert.equal(exit, 0, stderr);
      assert.doesNotMatch(stderr, /error\[/);
    }
    if (name === "c.yaml") assert.equal(why.stderr.match(/^warning\[bad-decision\]/gm)?.length, 2);
    assert.equal((await one.run("-c", name)).exit, 2, "a build does not guess");
  }
});

test("decisions win over sources, skip filters, and stay out of the comments", async () => {
  const config = { ...JSON.parse(CONFIG), exclusions: ["tracker"], allow: ["tracker.example.com"] };
  const one = project("# private\nallow ads.example.com # private\nblock tracker.example.com\n");
  one.write("c.json", JSON.stringify(config));
  one.write("a.txt", "||ads.example.com^\n||example.org^\n@@||tracker.example.com^\n");
  const { exit, stderr } = await one.run("-c", "c.json");
  assert.equal(exit, 0, stderr);
  const text = one.text("rules/n.txt");
  assert.deepEqual(rulesIn(text), ["||example.org^", "||tracker.example.com^"]);
  assert.doesNotMatch(text, /private/);
});

test("of two lines about a name, the last one counts; a decision that is over or for another list does not", async () => {
  const one = project(
    "allow ads.example.com\nblock ads.example.com\nallow example.org until 2026-11-09\nblock b.example.org in kids\nallow example.org until 2026-11-12\n",
  );
  await one.run("-c", "c.json");
  assert.deepEqual(rulesIn(one.text("rules/n.txt")), ["||ads.example.com^"]);
  // Nothing but the clock changes, and the cache must not hide it.
  one.now = "2026-11-13T00:00:00Z";
  await one.run("-c", "c.json");
  assert.deepEqual(rulesIn(one.text("rules/n.txt")), ["||example.org^", "||ads.example.com^"]);
});

test("the end of a decision is news, once", async () => {
  const one = project("allow example.org until 2026-11-12\n");
  const news: number[] = [];
  for (const day of ["11", "13", "14"]) {
    one.now = `2026-11-${day}T00:00:00Z`;
    const { stderr } = await one.run("-c", "c.json", "-q");
    news.push(stderr.split("decision-expired").length - 1);
    if (day === "13") assert.match(stderr, /--> decisions\.txt:1/);
  }
  assert.deepEqual(news, [0, 1, 0]);
});

test("why names the decision, its place and its reason", async () => {
  const one = project("allow ads.example.com since 2026-11-01 ref #7 # The shop needs it\n");
  await one.run("-c", "c.json");
  const { stdout } = await one.run("why", "-c", "c.json", "x.ads.example.com");
  assert.match(stdout, /x\.ads\.example\.com {2}reachable: nothing blocks it in/);
  assert.match(
    stdout,
    /decided: allow ads\.example\.com {2}decisions\.txt:1, since 2026-11-01, #7: The shop needs it/,
  );
  const json = await one.run("why", "-c", "c.json", "--json", "ads.example.com");
  const [{ decision }] = JSON.parse(json.stdout).lists[0].names;
  assert.equal(decision.verdict, "allow");
  assert.equal(decision.line, 1);
});
