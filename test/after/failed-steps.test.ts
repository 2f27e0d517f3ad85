import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { ProofLoop } from "../support/resolvers/proof-loop.ts";

/** The state that runs left, by the path in the project. */
function statesOf(project: MemoryProject): string[] {
  return [...project.memory.files.keys()]
    .filter((path) => path.includes("/.rules-compiler/") && path.endsWith(".json"))
    .map((path) => path.slice("/project/".length));
}

test("with any state of a newer version, a run does not end with exit code 0, and the next one makes up for it", async () => {
  const exits = new Set<number>();
  const first = new ProofLoop("rollback");
  await first.compile();
  for (const file of statesOf(first.project)) {
    const loop = new ProofLoop("rollback");
    assert.equal((await loop.compile()).exit, 0);
    const old = loop.project.text(file);
    const value = JSON.parse(old) as { version?: unknown };
    if (typeof value.version !== "number") continue;
    const newer = JSON.stringify({ ...value, version: 99 });
    loop.project.write(file, newer);
    const { exit, stderr } = await loop.publish(2);
    assert.match(stderr, /"newer-state"/, file);
    assert.ok(exit === 2 || exit === 12, `${file}: ${exit} ${stderr}`);
    exits.add(exit);
    assert.equal(loop.project.text(file), newer);
    loop.project.write(file, old);
    const next = await loop.compile();
    assert.equal(next.exit, 0, `${file}: ${next.stderr}`);
    for (const resolver of loop.resolvers)
      assert.equal(resolver.outcomeFor(loop.list), "proved", file);
  }
  assert.deepEqual(exits, new Set([2, 12]));
});

test("with any damaged state, resolvers load and answer from the list that was published", async () => {
  const first = new ProofLoop("rollback");
  await first.compile();
  for (const file of statesOf(first.project)) {
    const loop = new ProofLoop("rollback");
    await loop.compile();
    loop.project.write(file, '{"version": 1, ');
    const { exit, stderr } = await loop.publish(2);
    assert.equal(exit, 0, `${file}: ${stderr}`);
    for (const resolver of loop.resolvers)
      assert.equal(resolver.outcomeFor(loop.list), "proved", file);
  }
});

test("a list that vanishes before its resolvers are asked is not proved", async () => {
  const loop = new ProofLoop("rollback");
  await loop.compile();
  loop.change((host) => ({
    runProgram: async (program, ...more) => {
      const done = await host.runProgram!(program, ...more);
      loop.project.memory.files.delete("/project/rules/list.txt");
      return done;
    },
  }));
  const { exit, stderr } = await loop.publish(2);
  assert.match(stderr, /"not-published"/);
  assert.equal(exit, 12, stderr);
});

test("hooks that are permitted are not skipped without a word because the configuration is invalid", async () => {
  const config = {
    name: "List",
    sources: [{ source: "own.txt", type: "adblock" }],
    after: [{ run: ["/tell"] }],
  };
  for (const [broken, words] of [
    ["{", /error\[/],
    [JSON.stringify({ ...config, unknown: 1, sources: 3 }), /error\[/],
    [undefined, /error\[/],
  ] as const) {
    let told = 0;
    const runProgram = async (): Promise<never> => {
      told++;
      return { exit: 0, isLate: false, output: "", bytes: 0 } as never;
    };
    const project = new MemoryProject(
      { "c.json": JSON.stringify(config), "own.txt": "||one.example^\n" },
      { runProgram },
    );
    await project.run("plan", "-c", "c.json", "--no-cache", "--save", "my.plan");
    if (broken === undefined) project.memory.files.delete("/project/c.json");
    else project.write("c.json", broken);
    const apply = ["apply", "-c", "c.json", "my.plan"];
    const { exit, stderr } = await project.run(...apply, "--permit", "hooks");
    assert.match(project.text("rules/list.txt"), /one\.example/);
    assert.match(stderr, words);
    assert.match(stderr, /warning\[hooks-skipped\]/);
    assert.equal(exit, 12, stderr);
    project.write("c.json", JSON.stringify(config));
    const next = await project.run("-c", "c.json", "--no-cache", "--permit", "hooks");
    assert.deepEqual([next.exit, told], [0, 1], next.stderr);
  }
});
