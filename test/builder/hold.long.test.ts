import { listCommandLine } from "../../src/diagnostics/text.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { COMPILE, WORDS, built, builtTwice, config, later } from "../support/kept-project.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { namesInRules, publishedFiles } from "../support/published-files.ts";
import { listIn } from "../support/documents.ts";

const HOLD = ["hold", "--by", "ops", ...WORDS];

function eventsOf(project: MemoryProject): string[] {
  const lines = project.text("rules/.rules-compiler/home.txt.log.jsonl").trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as { event: string }).event);
}

for (const more of [[], ["--no-record"]])
  test(`the published list is held as it is, built with ${more.join() || "a record"}`, async () => {
    const project = await built();
    project.write("ads.txt", "||x.example^\n");
    assert.equal((await project.run(...COMPILE, ...more)).exit, 0);
    const before = publishedFiles(project, namesInRules(project));
    const events = eventsOf(project);
    later(project, 60);
    const { exit, stderr } = await project.run(...HOLD);
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /Home is held at the build of 2026-11-10 00:01 UTC, since .* by ops/);
    assert.deepEqual(publishedFiles(project, namesInRules(project)), before);
    assert.deepEqual(eventsOf(project), [...events, "held"]);
    // A second time changes nothing.
    later(project, 60);
    assert.match((await project.run(...HOLD)).stderr, /since 2026-11-10 00:02 UTC by ops/);
    assert.deepEqual(eventsOf(project), [...events, "held"]);
    project.write("ads.txt", "||y.example^\n");
    const held = await project.run(...COMPILE);
    assert.equal(held.exit, 0, held.stderr);
    const said = listIn(held.stdout) as { status: string; rules: number; outputs: object[] };
    assert.deepEqual([said.status, said.rules, said.outputs.length], ["held", 3, 3], held.stdout);
    assert.deepEqual(publishedFiles(project, namesInRules(project)), before);
    assert.equal((await project.run("hold", "--end", ...WORDS)).exit, 0);
    assert.equal((await project.run(...COMPILE)).exit, 0);
    assert.match(project.text("rules/home.txt"), /\|\|y\.example\^/);
  });

test("hold takes one build and --end none; without a list there is nothing to hold", async () => {
  const project = await builtTwice();
  for (const words of [["@published"], ["@1", "--end"], ["@1", "@0"], ["yesterday"]])
    assert.equal((await project.run("hold", ...words, ...WORDS)).exit, 2, words.join(" "));
  const empty = new MemoryProject({ "c.json": config() });
  const { exit, stderr } = await empty.run(...HOLD);
  assert.equal(exit, 2, stderr);
  assert.match(stderr, /not-published/);
});

test("hold BUILD publishes that build again only if another is published", async () => {
  const project = await builtTwice();
  const before = publishedFiles(project, namesInRules(project));
  const events = eventsOf(project);
  const same = await project.run("hold", "@0", ...WORDS);
  assert.equal(same.exit, 0, same.stderr);
  assert.match(same.stderr, /^Home is held at the build of 2026-11-10 00:01 UTC/m);
  assert.deepEqual(publishedFiles(project, namesInRules(project)), before);
  assert.deepEqual(eventsOf(project), [...events, "held"]);
  later(project, 60);
  const other = await project.run("hold", "@1", ...WORDS);
  assert.equal(other.exit, 0, other.stderr);
  assert.match(other.stderr, /the build of 2026-11-10 00:00 UTC is published again and held/);
  assert.match(project.text("rules/home.txt"), /\|\|b\.example\^/);
  assert.deepEqual(eventsOf(project), [...events, "held", "rolled-back", "held"]);
});

test("rollback says how long it lasts, and its command keeps the list", async () => {
  const project = await builtTwice();
  const { stderr } = await project.run("rollback", ...WORDS);
  const [, words] = /until the next run; to stay there: rules-compiler (.*)$/m.exec(stderr) ?? [];
  assert.equal((await project.run(...words!.split(" "))).exit, 0);
  assert.match((await project.run(...COMPILE)).stderr, /list-held/);
  assert.match(project.text("rules/home.txt"), /\|\|b\.example\^/);
});

test("of several lists, the hint names the one that is held", async () => {
  const lists = [
    { name: "Home", sources: ["Ads"] },
    { name: "My kids' list", sources: ["Hosts"] },
  ];
  const project = await built();
  project.write("c.json", config({ name: "All", lists, manifest: undefined, patches: undefined }));
  assert.equal((await project.run(...COMPILE)).exit, 0);
  for (const { name } of lists)
    assert.equal((await project.run(...HOLD, "--filter", name)).exit, 0);
  const { stderr } = await project.run("compile", "--no-cache", ...WORDS);
  assert.match(stderr, /hint: .*hold --end -c c\.json --filter Home$/m);
  assert.match(stderr, /hint: .*hold --end -c c\.json --filter 'My kids'\\'' list'$/m);
});

test("the name of a list is one word of a shell", () => {
  assert.equal(listCommandLine("hold", undefined), "rules-compiler hold");
  assert.equal(listCommandLine("hold --end", "Home"), "rules-compiler hold --end --filter Home");
  const word = String.raw`'it'\''s $(x)'`;
  assert.equal(listCommandLine("hold", "it's $(x)"), `rules-compiler hold --filter ${word}`);
});

/** The words of the command in a hint, without the name of the program. */
function hinted(stderr: string): string[] {
  const [, command] = /hint: .*rules-compiler (hold .*)$/m.exec(stderr) ?? [];
  assert.ok(command !== undefined, stderr);
  return command.split(" ");
}

test("the hint of a held list is a command that works as it is", async () => {
  for (const flags of [[...WORDS], [...WORDS, "-o", "other.txt"], []]) {
    const project = await built();
    if (flags.length === 0) project.write("compiler-config.json", config());
    assert.equal((await project.run("compile", ...flags)).exit, 0);
    assert.equal((await project.run("plan", "--save", "my.plan", ...flags)).exit, 0);
    for (const held of [
      ["compile", "--no-cache", ...flags],
      ["apply", "my.plan", "--permit", "paths"],
    ]) {
      assert.equal((await project.run("hold", ...flags)).exit, 0);
      const words = hinted((await project.run(...held)).stderr);
      assert.equal(words.includes("-c"), flags.length > 0, words.join(" "));
      const released = await project.run(...words);
      assert.equal(released.exit, 0, released.stderr);
      assert.match(released.stderr, /Home is no longer held/);
    }
  }
});

test("a plan says that a held list would not be published", async () => {
  const project = await built();
  assert.equal((await project.run(...HOLD)).exit, 0);
  project.write("ads.txt", "||y.example^\n");
  const words = ["plan", "--exit-code", "--no-cache", ...WORDS];
  const text = await project.run(...words, "--save", "held.plan");
  assert.equal(text.exit, 0, text.stderr);
  assert.match(text.stdout, /Home is held at .*, since .* by ops; nothing would be published\n$/);
  assert.doesNotMatch(text.stdout, /would be published, degraded|^would be published/m);
  assert.match((await project.run(...words, "--markdown")).stdout, /^### Plan: held\n/);
  const { held } = listIn((await project.run(...words, "--json")).stdout) as { held: unknown };
  const moment = "2026-11-10T00:01:00.000Z";
  assert.deepEqual(held, { since: moment, by: "ops", build: "2026-11-10T00:00:00.000Z" });
  assert.equal((await project.run("hold", "--end", ...WORDS)).exit, 0);
  const released = await project.run(...words, "--json");
  assert.equal(released.exit, 10, released.stderr);
  assert.ok(!("held" in (listIn(released.stdout) as object)));
});

test("a guard refuses nothing while a list is held", async () => {
  const project = await built();
  project.write("c.json", config({ guards: { min_rules: 1000 } }));
  const words = ["plan", "--no-cache", ...WORDS];
  assert.equal((await project.run(...words)).exit, 5);
  assert.equal((await project.run(...HOLD)).exit, 0);
  const { exit, stdout } = await project.run(...words);
  assert.equal(exit, 0);
  assert.match(stdout, /error\[too-few-rules\][^]*nothing would be published\n$/);
});

test("one stored build is one build", async () => {
  const project = await built();
  const { stderr } = await project.run("rollback", "@7", ...WORDS);
  assert.match(stderr, /1 build stored, since 2026-11-10T00/);
  assert.match((await project.run("rollback", ...WORDS)).stderr, /1 build stored/);
});
