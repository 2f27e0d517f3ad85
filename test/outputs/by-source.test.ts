import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";

const OUTPUT = { format: "adblock", by: "source", file: "by/{source}.txt" };

function config(names: readonly string[], more: object = {}): string {
  return JSON.stringify({
    name: "L",
    sources: names.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    transformations: ["Compress", "Deduplicate"],
    outputs: [OUTPUT],
    ...more,
  });
}

async function run(project: MemoryProject, ...words: string[]): Promise<string> {
  const { exit, stderr, stdout } = await project.run(...words);
  assert.equal(exit, 0, stderr);
  return stdout + stderr;
}

function rulesOf(project: MemoryProject, file: string): string[] {
  const lines = project.text(`rules/by/${file}.txt`).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("!"));
}

function filesOf(project: MemoryProject): Record<string, string> {
  const files = [...project.memory.files].filter(([path]) => path.includes("/rules/by/"));
  // Dates differ, and notes are not published.
  return Object.fromEntries(
    files
      .filter(([path]) => !path.includes("/.rules-compiler/"))
      .map(([path, bytes]) => [
        path,
        new TextDecoder().decode(bytes).replace(/^! Last modified: .*$/m, ""),
      ]),
  );
}

const SHARED = { "A.txt": "||one.example^\n||two.example^\n", "B.txt": "0.0.0.0 two.example\n" };

test("a rule stays with its file as long as the source has it, and a rollback brings back old files", async () => {
  const project = new MemoryProject({ "c.json": config(["A", "B"]), ...SHARED });
  await run(project, "compile", "-q", "-c", "c.json");
  assert.deepEqual(rulesOf(project, "a"), ["||one.example^", "||two.example^"]);
  assert.deepEqual(rulesOf(project, "b"), []);
  assert.match(project.text("rules/by/b.txt"), /^! Title: L \(B\)$/m);
  const first = filesOf(project);

  project.now = "2026-11-11T00:00:00Z";
  project.write("A.txt", "||one.example^\n");
  await run(project, "compile", "-q", "-c", "c.json");
  assert.deepEqual(rulesOf(project, "b"), ["||two.example^"]);

  project.now = "2026-11-12T00:00:00Z";
  project.write("A.txt", "||one.example^\n||two.example^\n||new.example^\n");
  await run(project, "compile", "-q", "-c", "c.json");
  assert.deepEqual(rulesOf(project, "a"), ["||one.example^", "||new.example^"]);
  assert.deepEqual(rulesOf(project, "b"), ["||two.example^"], "although A comes first");
  const third = filesOf(project);

  project.now = "2026-11-13T00:00:00Z";
  await run(project, "rollback", "-c", "c.json", "@2026-11-10");
  assert.deepEqual(filesOf(project), first);
  project.now = "2026-11-14T00:00:00Z";
  await run(project, "rollback", "-c", "c.json", "@2026-11-12");
  assert.deepEqual(filesOf(project), third);
});

test("apply writes the files that compile would write", async () => {
  const make = async (): Promise<MemoryProject> => {
    const project = new MemoryProject({ "c.json": config(["A", "B"]), ...SHARED });
    project.write("A.txt", "||one.example^\n");
    await run(project, "compile", "-q", "-c", "c.json");
    project.write("A.txt", "||two.example^\n||three.example^\n");
    return project;
  };
  const [compiled, applied] = [await make(), await make()];
  await run(compiled, "compile", "-q", "-c", "c.json");
  await run(applied, "plan", "-c", "c.json", "--save", "p.plan");
  assert.match(await run(applied, "apply", "p.plan"), /^written rules\/by\/\{source\}\.txt/m);
  assert.deepEqual(filesOf(applied), filesOf(compiled));
  assert.deepEqual(rulesOf(applied, "b"), ["||two.example^"]);
});

test("the file of a source that is gone becomes an empty list, until the operator removes it", async () => {
  const more = { manifest: { file: "m.json" } };
  const project = new MemoryProject({ "c.json": config(["A", "B"], more), ...SHARED });
  project.write("B.txt", "||three.example^\n");
  await run(project, "compile", "-q", "-c", "c.json");
  project.write("c.json", config(["A"], more));
  const said = await run(project, "compile", "-c", "c.json");
  assert.match(said, /empty, because their sources are gone: rules\/by\/b\.txt/);
  assert.deepEqual(rulesOf(project, "b"), []);
  assert.match(project.text("rules/by/b.txt"), /^! Number of entries: 0$/m);
  assert.match(project.text("rules/m.json"), /"file": "by\/b\.txt"/);
  project.memory.files.delete("/project/rules/by/b.txt");
  await run(project, "compile", "-q", "-c", "c.json", "--no-cache");
  assert.equal(project.memory.files.has("/project/rules/by/b.txt"), false);
});

test("a canary is in the file of the first source, and the screen shows each source", async () => {
  const resolvers = [{ name: "r", address: "127.0.0.1:53" }];
  const project = new MemoryProject({ "c.json": config(["A", "B"], { resolvers }), ...SHARED });
  const said = await run(project, "compile", "-c", "c.json");
  assert.match(said, /written rules\/by\/\{source\}\.txt: adblock, 3 names, .*, 2 files/);
  assert.match(said, /each rule in one file: A 3, B 0/);
  assert.equal(rulesOf(project, "a").length, 3);
});

test("outputs that cannot have a file for each source are refused before anything is read", async () => {
  const cases: readonly (readonly [readonly object[], readonly string[], RegExp])[] = [
    [[{ ...OUTPUT, format: "rpz" }], ["A"], /rpz cannot have a file for each source/],
    [[{ ...OUTPUT, file: "x.txt" }], ["A"], /needs `\{source\}` in the name of the file/],
    [[{ ...OUTPUT, file: "{source}/x.txt" }], ["A"], /needs `\{source\}` in the name/],
    [[{ format: "hosts", file: "h/{source}.txt" }], ["A"], /\{source\} needs `by: source`\n/],
    [[{ format: "hosts", file: "{foo}.txt" }], ["A"], /\{foo\} is unknown\n.*: \{name\}, \{slug\}/],
    [[{ ...OUTPUT, split: { max_rules: 5 } }], ["A"], /both `by` and `split`/],
    [[OUTPUT], ["A b", "a B!"], /the sources A b and a B! would both write rules\/by\/a-b\.txt/],
    [[OUTPUT, { format: "hosts", file: "by/a.txt" }], ["A"], /write rules\/by\/a\.txt twice/],
  ];
  for (const [outputs, names, expected] of cases) {
    const project = new MemoryProject({ "c.json": config(names, { outputs }) });
    const { exit, stderr } = await project.run("compile", "-q", "-c", "c.json");
    assert.equal(exit, 2, stderr);
    assert.match(stderr, expected);
  }
});
