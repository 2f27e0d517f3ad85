import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const CONFIG = `name: Home
sources: [{ source: a.txt, name: A, type: adblock }]
transformations: [Validate]
`;

function home(): MemoryProject {
  return new MemoryProject({ "c.yaml": CONFIG, "a.txt": "||a.example^\n" });
}

test("--publish without targets is reported, also if nothing changed", async () => {
  const project = home();
  for (const words of [
    ["-c", "c.yaml", "--publish"],
    ["-c", "c.yaml", "--publish"],
    ["-i", "a.txt", "-o", "o.txt", "--publish"],
  ]) {
    const { exit, stderr } = await project.run(...words);
    assert.equal(exit, 0);
    assert.match(stderr, /^warning\[no-targets\]: --publish has nothing to do/m);
  }
  assert.doesNotMatch((await project.run("-c", "c.yaml")).stderr, /no-targets/);
});
