import assert from "node:assert/strict";
import { test } from "node:test";
import { USUAL } from "../support/lists-project.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const ADDRESS = "https://lists.example/";

/** Sources from the web and from files, lists that cover each other, and a note of every file that is begun. */
function projectOf(lists: readonly object[]): {
  project: MemoryProject;
  web: ScriptedWeb;
  begun: string[];
} {
  const web = new ScriptedWeb();
  for (const name of ["a", "b", "c"]) web.answers[`${ADDRESS}${name}.txt`] = `||${name}.example^\n`;
  const sources = [
    ...["a", "b", "c"].map((name) => ({
      name,
      source: `${ADDRESS}${name}.txt`,
      type: "adblock",
    })),
    { name: "own", source: "own.txt", type: "adblock" },
  ];
  const config = { name: "All", sources, transformations: USUAL, lists };
  const begun: string[] = [];
  const project: MemoryProject = new MemoryProject(
    { "compiler-config.json": JSON.stringify(config), "own.txt": "||own.example^\n/ad[0-9]/\n" },
    {
      fetch: (request) => web.host.fetch(request),
      wait: async () => {},
      createFile: (path, like) => {
        if (/\/rules\/\.?[a-z]/.test(path)) begun.push(path);
        return project.memory.createFile(path, like);
      },
    },
  );
  return { project, web, begun };
}

const LISTS = [
  { name: "One", sources: ["a", "own"] },
  { name: "Two", sources: ["a", "b", "own"], covers: ["One"] },
  { name: "Three", sources: ["a", "b", "c", "own"], covers: ["Two"] },
  { name: "Four", sources: ["own"] },
];

async function run(project: MemoryProject, now: string, ...words: string[]): Promise<string> {
  project.now = now;
  const { exit, stderr } = await project.run("--cache-dir", "cache", ...words);
  assert.equal(exit, 0, stderr);
  return stderr;
}

/** The lists of which files were begun. */
function compiled(begun: string[]): string[] {
  const names = begun
    .splice(0)
    .map((path) => /\.(?<name>[a-z]+)\.txt/.exec(path)?.groups?.["name"]);
  return [...new Set(names)].flatMap((name) => name ?? []).toSorted();
}

test("lists of which nothing changed are not compiled again, what they cover included", async () => {
  const { project, begun } = projectOf(LISTS);
  await run(project, "2026-11-10T01:00:00Z");
  assert.deepEqual(compiled(begun), ["four", "one", "three", "two"]);
  const again = await run(project, "2026-11-10T02:00:00Z");
  assert.deepEqual(compiled(begun), []);
  assert.match(again, /unchanged rules\/three\.txt: 5 rules/);
});

test("a list is compiled when a source changed, or a list that it covers", async () => {
  const { project, web, begun } = projectOf(LISTS);
  await run(project, "2026-11-10T01:00:00Z");
  compiled(begun);
  web.answers[`${ADDRESS}c.txt`] = "||c.example^\n||d.example^\n";
  await run(project, "2026-11-10T02:00:00Z");
  assert.deepEqual(compiled(begun), ["three"]);
  web.answers[`${ADDRESS}b.txt`] = "||b.example^\n||e.example^\n";
  await run(project, "2026-11-10T03:00:00Z");
  assert.deepEqual(compiled(begun), ["three", "two"]);
  // Somebody else wrote the list that another covers.
  project.write("rules/one.txt", `${project.text("rules/one.txt")}||z.example^\n`);
  await run(project, "2026-11-10T04:00:00Z");
  assert.deepEqual(compiled(begun), ["one", "two"]);
});

test("what could not be compared is reported once, and what was accepted once is not forgotten", async () => {
  const lists = [
    { name: "One", sources: ["own"] },
    { name: "Two", sources: ["a"], covers: ["One"] },
  ];
  const { project } = projectOf(lists);
  project.write("own.txt", "||a.example^\n/ad[0-9]/\n");
  assert.match(await run(project, "2026-11-10T01:00:00Z"), /cover-unknown/);
  assert.doesNotMatch(await run(project, "2026-11-10T02:00:00Z"), /cover-unknown/);
  project.write("own.txt", "||a.example^\n||b.example^\n");
  await run(project, "2026-11-10T03:00:00Z", "--accept", "not-covered");
  project.now = "2026-11-10T04:00:00Z";
  assert.equal((await project.run("--cache-dir", "cache")).exit, 5);
});
