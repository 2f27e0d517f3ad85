import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { GOOD, HookProject } from "../support/hook-project.ts";

const CONFIG = ["-c", "c.json"] as const;
const COMPILE = [...CONFIG, "--no-cache", "--permit", "hooks"] as const;

/** A project with two builds; the second has one rule more. Its hook has run for both. */
async function builtTwice(context: TestContext): Promise<HookProject> {
  const project = new HookProject(context, [{ run: ["tee", "-a", "said"] }]);
  for (const lines of [GOOD, [...GOOD, "||four.example^"]]) {
    project.lines(lines);
    const { exit, stderr } = await project.run(...COMPILE);
    assert.equal(exit, 0, stderr);
  }
  assert.equal(project.said("said").length, 2);
  return project;
}

for (const words of [
  ["rollback", ...CONFIG],
  ["rollback", ...CONFIG, "@1"],
])
  test(`${words.join(" ")} runs hooks if they are allowed`, async (context) => {
    const project = await builtTwice(context);
    const { exit, stderr } = await project.run(...words, "--permit", "hooks");
    assert.equal(exit, 0, stderr);
    assert.match(stderr, /is published again until the next run/);
    assert.match(stderr, /note\[hook-ran\]/);
    assert.doesNotMatch(project.text("rules/my-list.txt"), /four/);
    const said = project.said("said");
    assert.equal(said.length, 3);
    const { event, rules, removed } = said[2]!;
    assert.deepEqual([event, rules, removed], ["published", 3, 1]);
  });

test("a rollback without --permit hooks says that hooks were skipped, and the next run makes up for it", async (context) => {
  const project = await builtTwice(context);
  const { stderr } = await project.run("hold", "@1", ...CONFIG);
  assert.match(stderr, /note\[hooks-skipped\]: 1 hook skipped/);
  assert.equal(project.said("said").length, 2);
  const held = await project.run(...COMPILE);
  assert.match(held.stderr, /warning\[list-held\]/);
  assert.equal(project.said("said").length, 3);
});

test("a run where every list is held says nothing about hooks", async (context) => {
  const project = await builtTwice(context);
  await project.run("hold", "@1", ...CONFIG, "--permit", "hooks");
  project.lines([...GOOD, "||five.example^"]);
  const { exit, stderr } = await project.run(...CONFIG, "--no-cache");
  assert.equal(exit, 0);
  assert.match(stderr, /warning\[list-held\]/);
  assert.doesNotMatch(stderr, /hook/);
});

test("apply runs hooks for the files of the plan", async (context) => {
  const project = await builtTwice(context);
  project.lines([...GOOD, "||six.example^"]);
  await project.run("plan", ...CONFIG, "--no-cache", "-o", "other.txt", "--save", "my.plan");
  const { exit, stderr } = await project.run(
    "apply",
    ...CONFIG,
    "my.plan",
    "--permit",
    "hooks,paths",
  );
  assert.equal(exit, 0, stderr);
  const said = project.said("said").at(-1)!;
  assert.match(String(said["output"]), /other\.txt$/);
  assert.ok(project.has(".rules-compiler/other.txt.hooks.json"));
});

test("a plan names its own list and files", async (context) => {
  const project = await builtTwice(context);
  project.lines([...GOOD, "||six.example^"]);
  await project.run("plan", ...CONFIG, "--no-cache", "--save", "my.plan");
  for (const words of [
    ["-o", "x.txt"],
    ["-o", "x.txt", "-r"],
    ["--filter", "*"],
  ]) {
    const { exit, stderr } = await project.run("apply", ...CONFIG, "my.plan", ...words);
    assert.equal(exit, 2);
    assert.match(stderr, /A plan names its list and files/);
  }
  assert.ok(!project.has("x.txt"));
});
