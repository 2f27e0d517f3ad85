import assert from "node:assert/strict";
import { test } from "node:test";
import { type KeptVersion, ListMatrix } from "../../src/explain/overlap.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { DAY_MS } from "../../src/diagnostics/text.ts";
import { Random } from "../support/random.ts";

const START = Date.parse("2026-11-01T00:00:00Z");

async function* versions(
  all: readonly (readonly [day: number, rules: readonly string[]])[],
): AsyncGenerator<KeptVersion> {
  for (const [day, rules] of all)
    yield {
      at: new Date(START + day * DAY_MS),
      bytes: new TextEncoder().encode(`! Title\n${rules.join("\n")}\n`),
    };
}

function countNew(from: readonly string[], to: readonly string[]): number {
  return to.filter((name) => !from.includes(name)).length;
}

test("random histories of lists give the figures of a search of all their versions", async () => {
  const random = new Random(20261119);
  for (let round = 0; round < 60; round++) {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}.example`);
    const lists = ["L0", "L1", "L2"].map((list) => ({
      list,
      all: Array.from({ length: 1 + random.below(4) }, (_, index) => {
        const rules = names.filter(() => random.below(2) === 0);
        return [index + random.below(2) / 2, rules] as const;
      }),
    }));
    const matrix = new ListMatrix();
    for (const { list, all } of lists)
      // The same names, as hosts lines in every second list.
      await matrix.add(
        list,
        versions(
          all.map(([day, rules]) => [
            day,
            rules.map((name) => (list === "L1" ? `0.0.0.0 ${name}` : `||${name}^`)),
          ]),
        ),
      );
    const now = lists.map(({ all }) => new Set(all.at(-1)![1]));
    for (const [index, got] of matrix.result().entries()) {
      const { all } = lists[index]!;
      const own = [...now[index]!];
      const others = now.filter((_, at) => at !== index);
      const dayOf = (at: number, name: string): number | undefined =>
        lists[at]!.all.find(([, rules]) => rules.includes(name))?.[0];
      const isFirst = (name: string): boolean => {
        const rivals = now.flatMap((set, at) => (at !== index && set.has(name) ? [at] : []));
        return (
          rivals.length > 0 &&
          rivals.every(
            (at) =>
              dayOf(at, name) !== lists[at]!.all[0]![0] && dayOf(at, name)! > dayOf(index, name)!,
          )
        );
      };
      const steps = all.slice(1).map(([, rules], step) => [all[step]![1], rules] as const);
      assert.deepEqual(got, {
        list: `L${index}`,
        rules: own.length,
        onlyHere: own.filter((name) => others.every((set) => !set.has(name))).length,
        first: own.filter(isFirst).length,
        added: steps.reduce((sum, [from, to]) => sum + countNew(from, to), 0),
        removed: steps.reduce((sum, [from, to]) => sum + countNew(to, from), 0),
        builds: all.length,
        since: new Date(START + all[0]![0] * DAY_MS).toISOString(),
        shared: [0, 1, 2].flatMap((at) =>
          at === index
            ? []
            : [{ list: `L${at}`, rules: own.filter((name) => now[at]!.has(name)).length }],
        ),
      });
    }
  }
});

function project(): MemoryProject {
  const config = {
    name: "All",
    sources: [
      { name: "A", source: "a.txt" },
      { name: "B", source: "b.txt" },
    ],
    lists: [
      { name: "Light", sources: ["A"] },
      { name: "Pro, large", sources: ["A", "B"] },
    ],
  };
  return new MemoryProject({
    "c.json": JSON.stringify(config),
    "a.txt": "||a.example^\n||both.example^\n",
    "b.txt": "||both.example^\n||b.example^\n",
  });
}

test("stats --matrix shows lists beside lists, as table, CSV, JSON and in the page", async () => {
  const made = project();
  assert.equal((await made.run("-c", "c.json")).exit, 0);
  made.write("b.txt", "||both.example^\n||c.example^\n||d.example^\n");
  assert.equal((await made.run("-c", "c.json")).exit, 0);
  const table = await made.run("stats", "-c", "c.json", "--matrix");
  assert.equal(table.exit, 0, table.stderr);
  assert.match(table.stdout, /list +rules +only here +first here +added +removed +in 1 +in 2/);
  assert.match(table.stdout, /1 Light +2 +0 +0 +0 +0 +– +100 %/);
  assert.match(table.stdout, /2 Pro, large +4 +2 +0 +2 +1 +50 % +–/);
  const csv = await made.run("stats", "-c", "c.json", "--matrix", "csv");
  assert.match(
    csv.stdout,
    /^"list","rules","onlyHere","first","added","removed","builds","since","Light","Pro, large"\n/,
  );
  assert.match(csv.stdout, /^"Pro, large","4","2","0","2","1","2","20[^"]+","2","4"$/m);
  await made.run("stats", "-c", "c.json", "--html", "pages/");
  assert.match(made.text("pages/light.report.html"), /Lists beside lists/);
});

test("--matrix of one list, or in another form, is an error with what to do", async () => {
  const made = new MemoryProject({
    "c.json": '{"name":"A","sources":["a.txt"]}',
    "a.txt": "||a.example^\n",
  });
  await made.run("-c", "c.json");
  assert.match(
    (await made.run("stats", "-c", "c.json", "--matrix")).stderr,
    /compares lists[^]*stats shows/,
  );
  assert.match(
    (await project().run("stats", "-c", "c.json", "--matrix", "xml")).stderr,
    /no form xml[^]*--matrix csv/,
  );
});
