import assert from "node:assert/strict";
import { test } from "node:test";
import { projectOf } from "../support/lists-project.ts";

const TEXTS = { one: "||a.example^\n", two: "||b.example^\n" };
const LISTS = [
  { name: "one", sources: ["one"] },
  { name: "two", sources: ["two"] },
];

test("apply writes combined files from the list of the plan and the others as they are published", async () => {
  const combined = [{ format: "unbound-tags", file: "tags.conf" }];
  const project = projectOf(TEXTS, LISTS, { combined });
  const ran = async (...words: string[]): Promise<string> => {
    const { exit, stderr } = await project.run(...words);
    assert.ok(exit === 0 || (words[0] === "plan" && exit === 1), stderr);
    return stderr;
  };
  await ran("--no-cache");
  project.write("one.txt", "||a.example^\n||new.example^\n");
  project.write("two.txt", "||not-in-the-plan.example^\n");
  await ran("plan", "--filter", "one", "--save", "my.plan", "--no-cache");
  assert.doesNotMatch(project.text("rules/tags.conf"), /new\.example/);
  // The plan has everything that is needed.
  project.memory.files.delete("/project/compiler-config.json");
  const said = await ran("apply", "my.plan");
  assert.match(said, /written rules\/tags\.conf: unbound-tags, 3 names/);
  const tags = project.text("rules/tags.conf");
  assert.match(tags, /local-zone-tag: "new\.example\." "one"/);
  assert.match(tags, /local-zone-tag: "b\.example\." "two"/);
  assert.doesNotMatch(tags, /not-in-the-plan/);
});

test("a list and a combined file cannot have the same file", async () => {
  const project = projectOf(TEXTS, LISTS, { combined: [{ format: "cdb", file: "one.txt" }] });
  const { exit, stderr } = await project.run("--no-cache");
  assert.equal(exit, 2);
  assert.match(stderr, /one and the combined file rules\/one\.txt would both be written/);
});
