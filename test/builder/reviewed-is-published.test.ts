import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const CONFIG = {
  name: "Several",
  sources: [{ source: "https://lists.example/a.txt", type: "adblock" }],
  lists: [
    {
      name: "One",
      outputs: [
        { format: "rpz", updates: "127.0.0.1" },
        { format: "hosts", pack: ["gzip"] },
      ],
    },
    { name: "Two", outputs: [{ format: "domains", split: { max_rules: 2, stable: true } }] },
  ],
};

/** A project whose source has other names in each answer. */
function projectOf(config: object = CONFIG): { project: MemoryProject; answers: () => number } {
  let answers = 0;
  const project = new MemoryProject(
    { "c.json": JSON.stringify(config) },
    {
      fetch: async (request) => {
        answers++;
        const names = ["a", "b", "c"].map((name) => `||${name}.answer${answers}.example^\n`);
        request.take(new TextEncoder().encode(names.join("")));
        return { status: 200, headers: {} };
      },
    },
  );
  return { project, answers: () => answers };
}

function published(project: MemoryProject): Record<string, string> {
  const files = [...project.memory.files.keys()].filter((path) => /\/rules\/[^.]/.test(path));
  return Object.fromEntries(
    files.toSorted().map((path) => [path, project.text(path.replace("/project/", ""))]),
  );
}

test("apply publishes what the plan of several lists has, and fetches nothing", async () => {
  const { project, answers } = projectOf();
  const saved = await project.run("plan", "-c", "c.json", "--save", "my.plan");
  assert.equal(saved.exit, 0, saved.stderr);
  assert.equal(answers(), 1);
  assert.deepEqual(published(project), {});
  const applied = await project.run("apply", "my.plan", "-c", "c.json", "-q");
  assert.equal(applied.exit, 0, applied.stderr);
  assert.equal(answers(), 1);
  // The same at once, in another folder.
  const other = projectOf().project;
  assert.equal((await other.run("-q", "-c", "c.json")).exit, 0);
  assert.deepEqual(published(project), published(other));
  assert.match(project.text("rules/two-2.domains"), /answer1\.example/);
});

test("apply publishes nothing of a list if a file would differ from the plan", async () => {
  const { project } = projectOf();
  assert.equal((await project.run("-q", "-c", "c.json")).exit, 0);
  project.now = "2026-11-11T00:00:00Z";
  assert.equal((await project.run("plan", "-c", "c.json", "--save", "my.plan")).exit, 0);
  // The serial of the next zone depends on it.
  project.write("rules/one.rpz", "@ SOA localhost. a. 2000000000 1 1 1 1\n");
  const before = published(project);
  const { exit, stderr } = await project.run("apply", "my.plan", "-c", "c.json");
  assert.equal(exit, 5, stderr);
  assert.match(stderr, /error\[plan-outdated\].*one\.rpz would not be the file that was planned/);
  for (const [path, text] of Object.entries(published(project)))
    if (path.includes("/one.")) assert.equal(text, before[path], path);
  assert.match(project.text("rules/two.txt"), /answer2\.example/);
});

test("a plan that a guard refuses is applied as it was planned, if it is accepted", async () => {
  const { project, answers } = projectOf({ ...CONFIG, guards: { min_rules: 100 } });
  assert.equal((await project.run("plan", "-c", "c.json", "--save", "my.plan")).exit, 5);
  const refused = await project.run("apply", "my.plan", "-c", "c.json");
  assert.equal(refused.exit, 5, refused.stderr);
  assert.deepEqual(published(project), {});
  const done = await project.run("apply", "my.plan", "-c", "c.json", "--accept", "too-few-rules");
  assert.equal(done.exit, 0, done.stderr);
  assert.match(project.text("rules/one.hosts"), /answer1\.example/);
  assert.equal(answers(), 1);
});
