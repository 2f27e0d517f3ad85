import type { ResolverState } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedCanary } from "../../src/publish/list-file.ts";
import { openProject } from "../../src/builder/plan/project.ts";
import { lastProofs } from "../../src/resolvers/prove.ts";
import { buildOf } from "../../src/syntax/host-name.ts";
import { ProofLoop } from "../support/resolvers/proof-loop.ts";

function readFile(): never {
  assert.fail("only the end is needed");
}

async function statesOf({ project }: ProofLoop): Promise<ResolverState[]> {
  const options = {
    configPath: "c.json",
    inputs: [],
    inputType: undefined,
    filter: [],
    permit: [],
    output: undefined,
    copyToRules: false,
    rulesDir: "rules",
  };
  const { lists } = await openProject(options, project.memory);
  return await lastProofs(lists, options, project.memory);
}

test("a proof says nothing about a list that was published later", async () => {
  const loop = new ProofLoop("keep");
  loop.resolvers[1]!.mode = "failed";
  await loop.compile();
  const [first, second] = await statesOf(loop);
  assert.equal(first!.outcome, "proved");
  assert.equal(second!.outcome, "unfiltered");
  const proved = loop.build;
  loop.project.write("own.txt", "||other.site.org^\n".repeat(2) + "||another.site.org^\n");
  const words = ["-c", "c.json", "--no-cache", "--accept", "source-shrunk"];
  const { exit, stderr } = await loop.project.run(...words);
  assert.equal(exit, 0, stderr);
  const [later, bad] = await statesOf(loop);
  assert.equal(later!.outcome, null);
  assert.equal(later!.build, loop.build);
  assert.equal(later!.lastProved!.build, proved);
  assert.match(later!.detail!, /not asked since another build was published/);
  assert.equal(bad!.outcome, "unfiltered", "a failure lasts until it is proved");
  loop.resolvers[1]!.mode = "whole";
  await loop.compile();
  assert.deepEqual(
    (await statesOf(loop)).map(({ outcome, build }) => `${outcome} ${build}`),
    [`proved ${loop.build}`, `proved ${loop.build}`],
  );
});

test("the canary is found at the end of a list of any size, and the rest is not read", async () => {
  const loop = new ProofLoop("keep");
  await loop.compile();
  const { memory } = loop.project;
  const path = "/project/rules/list.txt";
  const found = async (): Promise<string | undefined> =>
    await publishedCanary(path, { ...memory, readFile });
  const end = loop.list.slice(loop.list.lastIndexOf("\n", loop.list.length - 2) + 1);
  for (const size of [0, 1, 4000, 4096, 5000, 100_000]) {
    loop.project.write("rules/list.txt", "x".repeat(size) + "\n" + end);
    assert.equal(buildOf((await found())!), loop.proof.resolvers["first"]!.build, String(size));
  }
  loop.project.write("rules/list.txt", "");
  assert.equal(await found(), undefined);
  memory.files.delete(path);
  assert.equal(await found(), undefined);
});
