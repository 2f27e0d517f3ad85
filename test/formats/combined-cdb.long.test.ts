import assert from "node:assert/strict";
import { test } from "node:test";
import { combinedCdb } from "../../src/formats/combined/registry.ts";
import { CdbReader } from "../support/reference/cdb-reader.ts";
import { projectOf } from "../support/lists-project.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";

const SHAPES = ["||%^", "||%^", "|%^", "||*.%^", "@@||%^", "@@|%^", "@@||*.%^", "||%^$important"];
const COMBINED = [{ format: "cdb", file: "all.cdb" }];

function read(project: MemoryProject): Uint8Array {
  return project.memory.files.get("/project/rules/all.cdb")!;
}

/** Compiles lists and their database. */
async function combined(lists: readonly (readonly string[])[]): Promise<MemoryProject> {
  const names = lists.map((_, index) => `l${index}`);
  const project = projectOf(
    Object.fromEntries(lists.map((lines, index) => [`l${index}`, `${lines.join("\n")}\n`])),
    names.map((name) => ({ name, sources: [name] })),
    {
      transformations: ["Deduplicate", "InsertFinalNewLine"],
      combined: COMBINED,
    },
  );
  const { exit, stderr } = await project.run("--no-cache", "--accept", "blocks-suffix");
  assert.equal(exit, 0, stderr);
  return project;
}

test("random lists: the combined database answers like each of them", async () => {
  const random = new Random(21);
  const nameOf = (): string => {
    const labels = Array.from({ length: random.below(4) }, () => random.pick(["a", "b"]));
    return [...labels, ...random.pick([["x", "zq"], ["y", "zq"], ["zq"]])].join(".");
  };
  for (let round = 0; round < 10; round++) {
    const count = round % 5 === 4 ? 37 : random.pick([2, 5, 9]);
    const lists = Array.from({ length: count }, () => [
      "||never.asked^",
      ...Array.from({ length: random.below(16) }, () =>
        random.pick(SHAPES).replaceAll("%", nameOf()),
      ),
    ]);
    const bytes = read(await combined(lists));
    if (round % 5 === 0) assert.deepEqual(read(await combined(lists)), bytes, "the same bytes");
    const reader = new CdbReader(bytes);
    for (let asked = 0; asked < 60; asked++) {
      const name = nameOf();
      for (const [index, lines] of lists.entries()) {
        const expected = new NaiveNames(lines.join("\n")).isBlocked(name);
        assert.equal(
          reader.isBlocked(name, index),
          expected,
          `${index} ${name}\n${lists.join("\n\n")}`,
        );
      }
    }
  }
});

test("many names, and entries that their parents make unnecessary", async () => {
  const many = Array.from({ length: 12_000 }, (_, index) => `||n${index}.one.example^`);
  const reader = new CdbReader(read(await combined([many, ["||one.example^"], many])));
  assert.equal(reader.valueOf("a.n11999.one.example"), "7");
  assert.equal(reader.valueOf("n12000.one.example"), "2");
  // A single record: the header, lengths, key, value and two slots.
  const alone = read(await combined([["|a.example^"], ["|a.example^"]]));
  assert.equal(alone.length, 2048 + 8 + "a.example".length + 1 + 16);
});

const LISTS = ["Ads", "Privacy", "Family"];

function configOf(lists: readonly string[]): string {
  return JSON.stringify({
    name: "Ours",
    sources: LISTS.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    lists: lists.map((name) => ({ name, sources: [name] })),
    combined: COMBINED,
  });
}

async function built(project: MemoryProject, ...words: string[]): Promise<CdbReader> {
  const { exit, stderr } = await project.run("compile", "-c", "c.json", "--no-cache", ...words);
  assert.equal(exit, 0, stderr);
  return new CdbReader(read(project));
}

function valueOf(reader: CdbReader, name: string): string | undefined {
  return reader.valueOf(`${name}.example`);
}

test("a list keeps its place in the values when lists come and go", async () => {
  const project = new MemoryProject({
    "c.json": configOf(["Ads", "Privacy"]),
    ...Object.fromEntries(
      LISTS.map((name) => [`${name}.txt`, `||${name.toLowerCase()}.example^\n||all.example^\n`]),
    ),
  });
  let reader = await built(project);
  assert.deepEqual(
    ["ads", "privacy", "all"].map((name) => valueOf(reader, name)),
    ["1", "2", "3"],
  );
  project.write("c.json", configOf(["Family", "Privacy"]));
  reader = await built(project);
  assert.deepEqual(
    ["ads", "privacy", "family", "all"].map((name) => valueOf(reader, name)),
    [undefined, "2", "4", "6"],
  );
  assert.match(project.text("rules/all.cdb.lua"), /LISTS = \{ false, 'Privacy', 'Family' \}/);
  project.write("Family.txt", "||new.example^\n");
  reader = await built(project, "--filter", "family", "--accept", "source-shrunk");
  assert.deepEqual(
    ["new", "privacy", "all"].map((name) => valueOf(reader, name)),
    ["4", "2", "2"],
  );
});

function manyLists(names: readonly string[]): string {
  return JSON.stringify({
    name: "Ours",
    sources: [{ source: "a.txt" }],
    lists: names.map((name) => ({ name })),
    combined: COMBINED,
  });
}

test("a database has at most 512 places", async () => {
  const project = new MemoryProject({
    "a.txt": "||a.example^\n",
    "c.json": manyLists(["L0", "L1"]),
  });
  await built(project);
  const { files } = project.memory;
  const [path, state] = [...files].find(([name]) => name.endsWith("combined.json"))!;
  const kept = JSON.parse(new TextDecoder().decode(state)) as { places: (string | null)[] };
  assert.deepEqual(kept.places, ["L0", "L1"]);
  const removed = Array.from({ length: 509 }, (_, index) => `Removed ${index}`);
  files.set(
    path,
    new TextEncoder().encode(JSON.stringify({ ...kept, places: [...kept.places, ...removed] })),
  );
  project.write("c.json", manyLists(["L1", "Other"]));
  const reader = await built(project);
  assert.equal(reader.isBlocked("a.example", 1) && reader.isBlocked("a.example", 511), true);
  assert.equal(reader.isBlocked("a.example", 510), false);
  project.write("c.json", manyLists(["L1", "Another"]));
  const { exit, stderr } = await project.run("compile", "-c", "c.json", "--no-cache");
  assert.equal(exit, 2, stderr);
  assert.match(
    stderr,
    /would have 513 lists with those that were removed; at most 512 are possible[^]*with `file`/,
  );
});

test("a list that is refused keeps its names, and a rollback puts earlier ones back", async () => {
  const project = new MemoryProject({
    "c.json": configOf(["Ads", "Privacy"]),
    "Ads.txt": "||a.example^\n",
    "Privacy.txt": "||p.example^\n",
    "Family.txt": "",
  });
  await built(project);
  project.now = "2026-11-11T00:00:00Z";
  project.write("Ads.txt", "");
  project.write("Privacy.txt", "||p.example^\n||q.example^\n");
  const { exit } = await project.run("compile", "-c", "c.json", "--no-cache");
  assert.notEqual(exit, 0);
  const values = (): (string | undefined)[] =>
    ["a", "p", "q"].map((one) => new CdbReader(read(project)).valueOf(`${one}.example`));
  assert.deepEqual(values(), ["1", "2", "2"]);
  const back = await project.run("rollback", "-c", "c.json", "--filter", "privacy");
  assert.equal(back.exit, 0, back.stderr);
  assert.deepEqual(values(), ["1", "2", undefined]);
});

test("the rules are published before the database, which waits for the next second", () => {
  assert.deepEqual(combinedCdb.files, [{ ending: ".lua" }, { ending: "", isPolled: true }]);
});
