import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

function configOf(more: object = {}): string {
  const sources = [{ source: "a.txt", name: "A", type: "adblock" }];
  return JSON.stringify({ name: "L", sources, transformations: ["Validate"], ...more });
}

async function saidFor(more: object, ...words: string[]): Promise<string> {
  const project = new MemoryProject({
    "c.json": configOf(more),
    "a.txt": "||a.example^\n",
    "allow.txt": "fine.example\nnot a name at all\n",
  });
  const { stdout, stderr } = await project.run("-c", "c.json");
  if (words.length === 0) return stdout + stderr;
  const asked = await project.run(...words, "-c", "c.json");
  return asked.stdout + asked.stderr;
}

test("messages about one thing use the singular", async () => {
  assert.match(
    await saidFor({ guards: { min_rules: 5 } }),
    /The list would have 1 rule; at least 5 are expected/,
  );
  assert.match(
    await saidFor({ allow_sources: ["allow.txt"] }),
    /1 entry ignored, because it is not a name: not a name at all$/m,
  );
  assert.match(await saidFor({}, "stats"), /^The source is needed for its 1 rule\.$/m);
});
