import assert from "node:assert/strict";
import { test } from "node:test";
import { listIn } from "../support/documents.ts";
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
    return listIn(stdout);
  };
  assert.deepEqual(await json("init", "-i", "a.txt", "-i", "gone.txt", "--name", "Mine"), {
    list: "Mine",
    file: "compiler-config.yaml",
    sources: 1,
    commentedOut: [{ label: "gone.txt", problem: "File not found: gone.txt" }],
    notes: [],
  });
  await project.run("-c", "c.yaml");
  assert.deepEqual(await json("hold", "-c", "c.yaml"), {
    list: "Home",
    held: {
      since: "2026-11-10T00:00:00.000Z",
      by: "user@memory",
      build: "2026-11-10T00:00:00.000Z",
    },
  });
  const end = ["hold", "--end", "-c", "c.yaml"];
  assert.deepEqual(await json(...end), { list: "Home", held: null, wasHeld: true });
  assert.deepEqual(await json(...end), { list: "Home", held: null, wasHeld: false });
});
