import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import {
  COMPILE,
  SPLIT,
  WORDS,
  built,
  builtTwice,
  config,
  later,
} from "../support/kept-project.ts";
import type { MemoryProject } from "../support/memory-project.ts";
import { namesInRules, publishedFiles } from "../support/published-files.ts";
import { listIn } from "../support/documents.ts";

test("rollback without an operand goes back one list further each time", async () => {
  const project = await built();
  for (const name of ["two", "three"]) {
    project.write("ads.txt", `||${name}.example^\n`);
    await project.run(...COMPILE);
    later(project, 60);
    // The same list again.
    project.write("ads.txt", `||${name}.example^\n! a comment\n`);
    await project.run(...COMPILE);
    later(project, 60);
  }
  for (const rule of ["||two.example^", "||b.example^"]) {
    const { exit, stderr } = await project.run("rollback", ...WORDS);
    assert.equal(exit, 0, stderr);
    assert.ok(project.text("rules/home.txt").includes(rule), rule);
    later(project, 60);
  }
  const { exit, stderr } = await project.run("rollback", ...WORDS);
  assert.equal(exit, 2);
  assert.match(stderr, /error\[build-missing\]: No earlier build of .* with other rules is stored/);
  const listed = await project.run("log", ...WORDS);
  assert.match(listed.stdout, /^ {2}@0 .* rolled-back .* to the build of 2026-11-10 00:00 UTC$/m);
  assert.match(listed.stdout, /^ {2}@2 .* unchanged .*user@memory$/m);
});

test("rollback passes over builds that differ in the header alone", async () => {
  const project = await built();
  project.write("ads.txt", "||two.example^\n");
  await project.run(...COMPILE);
  for (const description of ["another description", "a third one"]) {
    later(project, 60);
    project.write("c.json", config({ description }));
    assert.equal((await project.run(...COMPILE)).exit, 0);
    assert.match(project.text("rules/home.txt"), new RegExp(`Description: ${description}`));
  }
  later(project, 60);
  const { exit, stderr } = await project.run("rollback", ...WORDS);
  assert.equal(exit, 0, stderr);
  assert.ok(project.text("rules/home.txt").includes("||b.example^"));
});

test("log says who asked", async () => {
  const project = await built();
  project.write("ads.txt", "||other.example^\n");
  await project.run(...COMPILE, "--by", "night job\u001b[2J");
  const { stdout } = await project.run("log", ...WORDS);
  assert.ok(!stdout.includes("\u001b"), "no control characters");
  const said = await project.run("log", "--json", ...WORDS);
  const { events } = listIn(said.stdout) as { events: Record<string, unknown>[] };
  assert.deepEqual(
    events.map(({ build, rules, change, by }) => [build, rules, change, by]),
    [
      ["@0", 3, 0, "night job\u001b[2J"],
      ["@1", 3, undefined, "user@memory"],
    ],
  );
});

test("guards are reported and do not stop a rollback", async () => {
  const project = await built();
  const guards = { min_rules: 1000 };
  project.write("c.json", config({ ...SPLIT, guards }));
  project.write("ads.txt", Array.from({ length: 1500 }, (_, n) => `||n${n}.example^\n`).join(""));
  assert.equal((await project.run(...COMPILE)).exit, 0);
  later(project, 60);
  const { exit, stderr } = await project.run("rollback", ...WORDS);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /warning\[too-few-rules\]/);
  assert.match(project.text("rules/home.txt"), /\|\|b\.example\^/);
});

test("rollback warns of outputs that the build does not have", async () => {
  const project = await built();
  project.write("c.json", config({ outputs: [...SPLIT.outputs, { format: "squid" }] }));
  project.write("ads.txt", "||new.example^\n");
  assert.equal((await project.run(...COMPILE)).exit, 0);
  later(project, 60);
  const { exit, stderr } = await project.run("rollback", ...WORDS);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /warning\[not-rolled-back\].*home\.squid/);
});

test("a build that lost a part is not published", async () => {
  for (const part of [".draft.", ".record.", ".list-"]) {
    const project = await builtTwice();
    const before = publishedFiles(project, namesInRules(project));
    const files = [...project.memory.files.keys()].filter((path) => path.includes(part));
    project.memory.files.set(files.toSorted()[0]!, new Uint8Array([31, 139, 8]));
    const { exit, stderr } = await project.run("rollback", "@1", ...WORDS);
    assert.equal(exit, 2, part);
    assert.match(stderr, /error\[build-missing\]: Cannot publish/);
    assert.deepEqual(publishedFiles(project, namesInRules(project)), before);
  }
});

test("keep limits how many builds are stored, and for how long", async () => {
  const project = await built();
  project.write("c.json", config({ ...SPLIT, keep_builds: 3 }));
  const kept = (): number =>
    [...project.memory.files.keys()].filter((path) => path.includes(".draft.")).length;
  const counts: number[] = [];
  for (const days of [1, 1, 1, 9, 100, 0]) {
    if (days === 0) project.write("c.json", config(SPLIT));
    later(project, days * 86_400);
    project.write("ads.txt", `||d${project.now.slice(0, 10)}.example^\n`);
    await project.run(...COMPILE);
    counts.push(kept());
  }
  assert.deepEqual(counts, [2, 3, 3, 3, 3, 2]);
  project.write("c.json", config({ keep_builds: 1.5 }));
  assert.equal((await project.run(...COMPILE)).exit, 2);
});

/** A project whose list is held at its first build. */
async function heldProject(): Promise<MemoryProject> {
  const project = await builtTwice();
  const { exit, stderr } = await project.run("hold", "@1", "--by", "ops", ...WORDS);
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /the build of 2026-11-10 00:00 UTC is published again and held/);
  later(project, 60);
  return project;
}

test("a held list stays at its build until the hold ends", async () => {
  const project = await heldProject();
  const held = publishedFiles(project, namesInRules(project));
  for (const cache of [["--no-cache"], ["--cache-dir", "cache"], ["--cache-dir", "cache"]]) {
    const { exit, stderr, stdout } = await project.run("compile", "--json", ...cache, ...WORDS);
    assert.equal(exit, 0, stderr);
    assert.match(
      stderr,
      /list-held.*Home is held at the build of 2026-11-10 00:00 UTC, since 2026-11-10 00:02 UTC by ops; nothing was published/,
    );
    const said = listIn(stdout) as { status: string; rules: number; outputs: object[] };
    assert.deepEqual([said.status, said.rules, said.outputs.length], ["held", 3, 3]);
    assert.deepEqual(publishedFiles(project, namesInRules(project)), held);
    later(project, 60);
  }
  const human = await project.run("compile", "--no-cache", ...WORDS);
  assert.equal(human.stderr, "held Home: nothing was published\n", "the first run said why");
  assert.match((await project.run("--no-cache", "-v", ...WORDS)).stderr, /hold --end/);
  const released = await project.run("hold", "--end", ...WORDS);
  assert.deepEqual([released.exit, released.stdout], [0, ""]);
  assert.match(released.stderr, /Home is no longer held; the next run publishes it/);
  assert.match((await project.run("hold", "--end", ...WORDS)).stderr, /is not held/);
  assert.equal((await project.run(...COMPILE)).exit, 0);
  assert.match(project.text("rules/home.txt"), /\|\|x\.example\^/);
});

test("apply refuses a held list, and another rollback keeps the hold", async () => {
  const project = await builtTwice();
  await project.run("plan", "--save", "my.plan", "--no-cache", ...WORDS);
  await project.run("hold", "@0", ...WORDS);
  const { exit, stderr } = await project.run("apply", "my.plan");
  assert.equal(exit, 5);
  assert.match(stderr, /error\[list-held\]: Home is held/);
  later(project, 60);
  assert.match((await project.run("rollback", ...WORDS)).stderr, /published again and held$/m);
  assert.match((await project.run(...COMPILE)).stderr, /list-held.*the build of 2026-11-10 00:00/);
});

test("a list whose hold is damaged stays held", async () => {
  const project = await heldProject();
  project.write("rules/.rules-compiler/home.txt.hold.json", "{");
  const { exit, stderr, stdout } = await project.run(...COMPILE);
  assert.equal(exit, 0);
  assert.match(stderr, /Home is held; its state cannot be read/);
  assert.equal((listIn(stdout) as { status: string }).status, "held");
  await project.run("hold", "--end", ...WORDS);
  assert.doesNotMatch((await project.run(...COMPILE)).stderr, /held/);
});

test("rollback takes one build, and apply none", async () => {
  const project = await builtTwice();
  for (const words of [["@1", "@2"], ["yesterday"], ["--hold"]])
    assert.equal((await project.run("rollback", ...words, ...WORDS)).exit, 2, words.join(" "));
});

test("one of several lists is held, and the others are published", async () => {
  const several = {
    sources: [{ name: "Ads", source: "ads.txt", type: "adblock" }],
    lists: [
      { name: "Home", sources: ["Ads"] },
      { name: "Office", sources: ["Ads"] },
    ],
    manifest: undefined,
    patches: undefined,
  };
  const project = await built();
  project.write("c.json", config(several));
  const said = await project.run(...COMPILE);
  assert.equal(said.exit, 0, said.stderr);
  later(project, 60);
  project.write("ads.txt", "||x.example^\n");
  await project.run(...COMPILE);
  later(project, 60);
  const both = await project.run("rollback", ...WORDS);
  assert.equal(both.exit, 2);
  assert.match(both.stderr, /error\[several-lists\]/);
  const one = await project.run("hold", "@1", "--filter", "home", ...WORDS);
  assert.equal(one.exit, 0, one.stderr);
  project.write("ads.txt", "||y.example^\n");
  later(project, 60);
  const { exit, stdout } = await project.run(...COMPILE);
  assert.equal(exit, 0);
  const { lists } = JSON.parse(stdout) as { lists: { list: string; status: string }[] };
  assert.deepEqual(
    lists.map(({ list, status }) => [list, status]),
    [
      ["Home", "held"],
      ["Office", "published"],
    ],
  );
  assert.match(project.text("rules/home.txt"), /\|\|b\.example\^/);
  assert.match(project.text("rules/office.txt"), /\|\|y\.example\^/);
});

test("a kept build has no addresses, which may contain passwords", async () => {
  const project = await built();
  project.write("never.txt", "time.example\n");
  const address = "https://user:secret-word@lists.example/allow.txt";
  const guards = { min_rules: 0, protect: ["never.txt"] };
  project.write(
    "c.json",
    config({ ...SPLIT, guards, exclusions: [address], homepage: "https://home.example" }),
  );
  assert.equal((await project.run(...COMPILE)).exit, 0);
  const drafts = [...project.memory.files].filter(([path]) => path.includes(".draft."));
  const texts = drafts.map(([, bytes]) => gunzipSync(bytes).toString("utf8"));
  assert.equal(texts.length, 2);
  assert.ok(texts.some((text) => text.includes("https://home.example")));
  for (const text of texts) assert.doesNotMatch(text, /secret-word|never\.txt/);
});
