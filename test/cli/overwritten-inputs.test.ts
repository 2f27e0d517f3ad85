import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const CONFIG = JSON.stringify({
  name: "My list",
  sources: [{ name: "own", source: "own.txt", type: "adblock" }],
  exclusions_sources: ["not.txt"],
});
const FILES = {
  "compiler-config.json": CONFIG,
  "own.txt": "||a.example^\n||b.example^\n",
  "not.txt": "||c.example^\n",
};

for (const words of [
  ["-o", "own.txt"],
  ["-o", "not.txt"],
  ["-o", "compiler-config.json"],
  ["-i", "own.txt", "-o", "own.txt"],
  ["plan", "--save", "own.txt"],
  ["plan", "--save", "compiler-config.json"],
  ["stats", "--html", "own.txt"],
  ["stats", "--html", "compiler-config.json"],
])
  test(`${words.join(" ")} does not overwrite a file that the list is made from`, async () => {
    const project = new MemoryProject(FILES);
    if (words[0] === "stats") assert.equal((await project.run()).exit, 0);
    const { exit, stderr } = await project.run(...words);
    assert.equal(exit, 2, stderr);
    assert.match(stderr, /would overwrite|does not end in \.html/);
    for (const [name, text] of Object.entries(FILES)) assert.equal(project.text(name), text);
  });

test("outputs and combined files do not overwrite a file that a list is made from", async () => {
  for (const more of [
    { outputs: [{ format: "hosts", file: "../own.txt" }] },
    {
      lists: [{ name: "A" }, { name: "B" }],
      combined: [{ format: "unbound-tags", file: "../own.txt" }],
    },
  ]) {
    const config = JSON.stringify({ ...(JSON.parse(CONFIG) as object), ...more });
    const project = new MemoryProject({ ...FILES, "compiler-config.json": config });
    const { exit, stderr } = await project.run();
    assert.equal(exit, 2, stderr);
    assert.match(stderr, /would overwrite .*own\.txt, which it is made from/);
    assert.equal(project.text("own.txt"), FILES["own.txt"]);
  }
});

test("a plan is saved in the place of another plan or an empty file", async () => {
  const project = new MemoryProject({ ...FILES, "empty.plan": "" });
  for (const file of ["empty.plan", "empty.plan", "new.plan"]) {
    const { exit, stderr } = await project.run("plan", "--save", file);
    assert.equal(exit, 0, stderr);
  }
});
