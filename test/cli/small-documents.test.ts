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

test("init, hold and release print a document with --json", async () => {
  const project = home();
  const json = async (...words: string[]): Promise<unknown> => {
    const { exit, stdout, stderr } = await project.run(...words, "--json");
    assert.equal(exit, 0, stderr);
    return JSON.parse(stdout);
  };
  assert.deepEqual(await json("init", "-i", "a.txt", "-i", "gone.txt", "--name", "Mine"), {
    file: "compiler-config.yaml",
    name: "Mine",
    sources: 1,
    commentedOut: [{ name: "gone.txt", problem: "File not found: gone.txt" }],
    notes: [],
  });
  await project.run("-c", "c.yaml");
  assert.deepEqual(await json("hold", "-c", "c.yaml"), {
    name: "Home",
    held: true,
    of: "2026-11-10T00:00:00.000Z",
    at: "2026-11-10T00:00:00.000Z",
    by: "user@memory",
  });
  const end = ["hold", "--end", "-c", "c.yaml"];
  assert.deepEqual(await json(...end), { name: "Home", held: false, wasHeld: true });
  assert.deepEqual(await json(...end), { name: "Home", held: false, wasHeld: false });
});
