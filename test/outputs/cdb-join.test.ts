import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { joinDatabase } from "../../src/publish/joined-database.ts";
import { CdbReader } from "../reference/cdb-reader.ts";
import { type MemoryHost, memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { NaiveNames } from "../support/resolvers/naive-names.ts";
import { cdbOf } from "../support/cdb-of.ts";
import { writeFormat } from "../support/write-format.ts";

const SHAPES = ["||%^", "||%^", "|%^", "||*.%^", "@@||%^", "@@|%^", "@@||*.%^", "||%^$important"];
const JOINED = { name: "all.cdb", path: "/work/all.cdb" };

function host(files: Readonly<Record<string, Uint8Array>>): MemoryHost {
  const made = memoryHost({ files: {} });
  for (const [path, bytes] of Object.entries(files)) made.files.set(path, bytes);
  return made;
}

async function joined(lists: readonly (readonly string[])[]): Promise<Uint8Array> {
  const members = lists.map((_, index) => ({ list: `L${index}`, path: `/work/${index}.cdb` }));
  const files = lists.map((lines, index) => [
    `/work/${index}.cdb`,
    cdbOf(writeFormat("cdb", lines).block),
  ]);
  const memory = host(Object.fromEntries(files) as Record<string, Uint8Array>);
  await joinDatabase(JOINED, members, undefined, memory);
  return memory.files.get(JOINED.path)!;
}

test("random lists: the joined database answers like each of them", async () => {
  const random = new Random(21);
  const nameOf = (): string => {
    const labels = Array.from({ length: random.below(4) }, () => random.pick(["a", "b"]));
    return [...labels, ...random.pick([["x", "zq"], ["y", "zq"], ["zq"]])].join(".");
  };
  for (let round = 0; round < 40; round++) {
    const count = random.pick([1, 2, 4, 5, 9]);
    const lists = Array.from({ length: count }, () =>
      Array.from({ length: random.below(6) }, () => random.pick(SHAPES).replaceAll("%", nameOf())),
    );
    const bytes = await joined(lists);
    if (round % 10 === 0) assert.deepEqual(await joined(lists), bytes, "the same bytes");
    const reader = new CdbReader(bytes);
    for (let asked = 0; asked < 20; asked++) {
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

test("names that do not fit into memory, and entries that their parents make unnecessary", async () => {
  const many = Array.from({ length: 12_000 }, (_, index) => `||n${index}.one.example^`);
  const reader = new CdbReader(
    await joined([many, ["||one.example^"], [...many, "||n7.one.example^"]]),
  );
  assert.equal(reader.valueOf("a.n11999.one.example"), "7");
  assert.equal(reader.valueOf("n12000.one.example"), "2");
  const covered = await joined([["||a.example^"], ["||a.example^", "||b.a.example^"]]);
  assert.equal(covered.length, (await joined([["||a.example^"], ["||a.example^"]])).length);
});

const LISTS = ["Ads", "Privacy", "Family"];

function configOf(lists: readonly string[]): string {
  return JSON.stringify({
    name: "Ours",
    sources: LISTS.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    outputs: [{ format: "cdb", join: "all.cdb" }],
    lists: lists.map((name) => ({ name, sources: [name] })),
  });
}

async function built(project: MemoryProject, ...words: string[]): Promise<CdbReader> {
  const { exit, stderr } = await project.run("compile", "-c", "c.json", "--no-cache", ...words);
  assert.equal(exit, 0, stderr);
  return new CdbReader(project.memory.files.get("/project/rules/all.cdb")!);
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
  reader = await built(
    project,
    "--filter",
    "family",
    "--accept",
    "list-shrunk",
    "--accept",
    "source-shrunk",
  );
  assert.deepEqual(
    ["new", "privacy", "all"].map((name) => valueOf(reader, name)),
    ["4", "2", "2"],
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
  const read = (): CdbReader => new CdbReader(project.memory.files.get("/project/rules/all.cdb")!);
  assert.deepEqual(
    ["a", "p", "q"].map((one) => read().valueOf(`${one}.example`)),
    ["1", "2", "2"],
  );
  const back = await project.run("rollback", "-c", "c.json", "--filter", "privacy");
  assert.equal(back.exit, 0, back.stderr);
  assert.deepEqual(
    ["a", "p", "q"].map((one) => read().valueOf(`${one}.example`)),
    ["1", "2", undefined],
  );
});

function single(outputs: readonly object[]): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({ name: "L", sources: [{ source: "a.txt" }], outputs }),
    "a.txt": "||a.example^\n",
  });
}

async function said(outputs: readonly object[]): Promise<string> {
  return (await single(outputs).run("compile", "-c", "c.json", "--no-cache")).stderr;
}

test("what cannot be joined is an error", async () => {
  assert.match(await said([{ format: "hosts", join: "a" }]), /hosts cannot be joined/);
  assert.match(
    await said([{ format: "cdb", file: "a", join: "a" }]),
    /outputs write rules\/a twice/,
  );
  const memory = host({ "/work/0.cdb": Buffer.from("no database") });
  await assert.rejects(
    joinDatabase(JOINED, [{ list: "L", path: "/work/0.cdb" }], undefined, memory),
    /damaged/,
  );
  const many = Array.from({ length: 33 }, (_, index) => ({
    list: `${index}`,
    path: `/work/${index}`,
  }));
  await assert.rejects(joinDatabase(JOINED, many, undefined, memory), /at most 32/);
});
