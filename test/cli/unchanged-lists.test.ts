import assert from "node:assert/strict";
import { test } from "node:test";
import { PROTECTED_NAMES } from "../../src/engine/protected-names.ts";
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

function optional(name: string, source: string): object {
  return { name, source, type: "adblock", required: false };
}

function someNames(count: number): string {
  return Array.from({ length: count }, (_, index) => `||n${index}.example^\n`).join("");
}

test("a source that fails in the same way causes no build, and in another way it does", async () => {
  for (const several of [false, true]) {
    const web = new ScriptedWeb();
    web.answers[`${ADDRESS}a.txt`] = "||a.example^\n";
    web.answers[`${ADDRESS}big.txt`] = someNames(3000);
    web.answers[`${ADDRESS}gone.txt`] = { status: 404 };
    const sources = [
      { name: "a", source: `${ADDRESS}a.txt`, type: "adblock" },
      { name: "big", source: `${ADDRESS}big.txt`, type: "adblock" },
      { name: "own", source: "own.txt", type: "adblock" },
      { name: "more", source: "more.txt", type: "adblock" },
      optional("gone", `${ADDRESS}gone.txt`),
      optional("absent", "absent.txt"),
      optional("no list", "allowed.txt"),
    ];
    const lists = several ? { lists: [{ name: "One" }, { name: "Two" }] } : {};
    const config = { name: "All", sources, transformations: USUAL, ...lists };
    const project = new MemoryProject(
      {
        "compiler-config.json": JSON.stringify(config),
        "own.txt": "||own.example^\n",
        "more.txt": "||more.example^\n",
        "allowed.txt": PROTECTED_NAMES.slice(0, 40)
          .map((name) => `||${name}^\n`)
          .join(""),
      },
      { fetch: (request) => web.host.fetch(request), wait: async () => {} },
    );
    const path = several ? "rules/two.txt" : "rules/all.txt";
    let [day, hour] = [10, 1];
    let exit: number;
    let stderr = "";
    const isCompiled = async (): Promise<boolean> => {
      project.now = `2026-11-${day}T${String(hour++).padStart(2, "0")}:00:00Z`;
      ({ exit, stderr } = await project.run("--cache-dir", "cache", "-v"));
      assert.equal(exit, hour === 2 ? 3 : 0, stderr);
      return /\bcompile: \d/.test(stderr);
    };
    // The first list is incomplete, so that the next run makes a whole one.
    assert.ok(await isCompiled());
    assert.ok(await isCompiled());
    const before = project.text(path);
    assert.ok(!(await isCompiled()), "nothing changed");
    assert.ok(!(await isCompiled()), "nothing changed");
    web.answers[`${ADDRESS}gone.txt`] = { status: 410 };
    assert.ok(await isCompiled(), "another status");
    assert.ok(!(await isCompiled()));
    project.write("allowed.txt", "||no-longer-allowed.example^\n");
    assert.ok(await isCompiled(), "the file is a list now");
    assert.ok(!(await isCompiled()));
    project.write("absent.txt", "||absent.example^\n");
    assert.ok(await isCompiled(), "the file exists now");
    web.answers[`${ADDRESS}gone.txt`] = "||gone.example^\n";
    assert.ok(await isCompiled(), "the server has it again");
    assert.ok(!(await isCompiled()));
    web.answers[`${ADDRESS}gone.txt`] = { status: 500 };
    web.answers[`${ADDRESS}big.txt`] = someNames(20);
    assert.ok(await isCompiled(), "a copy is used, and a source is held");
    assert.match(stderr, /\bbig differs too much; its text of/);
    assert.match(stderr, /\bgone failed; using cached copy/);
    assert.ok(!(await isCompiled()), "nothing changed");
    web.answers[`${ADDRESS}gone.txt`] = "||gone.example^\n";
    assert.ok(await isCompiled(), "the copy is the text of the server again");
    assert.ok(!(await isCompiled()));
    day += 4;
    assert.ok(await isCompiled(), "the held source is read again");
    assert.ok(!(await isCompiled()));
    const names = ["no-longer-allowed", "absent", "gone"].map((name) => `||${name}.example^`);
    for (const name of names) {
      assert.ok(!before.includes(name));
      assert.ok(project.text(path).includes(name), name);
    }
  }
});
