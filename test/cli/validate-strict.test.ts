import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const CONFIG = `name: Home
sources: [{ source: a.txt, name: A, type: adblock }]
transformations: [Validate]
`;

function home(config = CONFIG): MemoryProject {
  return new MemoryProject({ "c.yaml": config, "a.txt": "||a.example^\n" });
}

test("validate --strict refuses unknown keys", async () => {
  const project = home(`${CONFIG}titel: x\n`);
  assert.equal((await project.run("validate", "-c", "c.yaml")).exit, 0);
  const { exit, stderr } = await project.run("validate", "-c", "c.yaml", "--strict");
  assert.equal(exit, 2);
  assert.match(stderr, /^error\[config-invalid\]: Unknown key: titel\n {2}--> c\.yaml:4:1\n/);
  assert.equal((await home().run("validate", "-c", "c.yaml", "--strict")).exit, 0);
});
