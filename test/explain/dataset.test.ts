import assert from "node:assert/strict";
import { test } from "node:test";
import { DatasetNames } from "../../src/explain/dataset-names.ts";
import { RecordedRows } from "../../src/explain/recorded-rows.ts";
import { readRecord } from "../../src/record/kept-builds.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { randomList } from "../support/random-list.ts";
import { Random } from "../support/random.ts";
import { readParquet } from "../support/read-parquet.ts";

interface LineOfDataset {
  readonly list: string;
  readonly source: string;
  readonly row: number;
  readonly line: number;
  readonly part: number;
  readonly before: string | null;
  readonly name: string | null;
  readonly after: string | null;
  readonly text: string | null;
  readonly domain_length: number | null;
  readonly kind: string;
  readonly fate: string;
  readonly cause: number | null;
}

async function linesOf(project: MemoryProject, folder = "dataset"): Promise<LineOfDataset[]> {
  const bytes = project.memory.files.get(`/project/${folder}/lines.parquet`)!;
  return (await readParquet(bytes)) as unknown as LineOfDataset[];
}

function textOf({ before, name, after, text }: LineOfDataset): string | null {
  return text ?? (before === null ? null : `${before}${name}${after}`);
}

async function built(files: Record<string, string>, config: object): Promise<MemoryProject> {
  const project = new MemoryProject({ ...files, "compiler-config.json": JSON.stringify(config) });
  const { exit, stderr } = await project.run("-q");
  assert.equal(exit, 0, stderr);
  return project;
}

async function exported(project: MemoryProject): Promise<string> {
  const { exit, stderr } = await project.run("export");
  assert.equal(exit, 0, stderr);
  return stderr;
}

/** As `stats` counts: a line with several names is in the list if one of them is, and has the fate of the first one otherwise. */
function countedOnce(lines: readonly LineOfDataset[]): LineOfDataset[] {
  const counted: LineOfDataset[] = [];
  for (const line of lines)
    if (line.part === 1) counted.push(line);
    else if (line.fate === "live") counted.splice(-1, 1, line);
  return counted;
}

function textsOf(random: Random): string[] {
  return Array.from({ length: 6 }, () => randomList(random).trim());
}

test("random lists: each line has its text and its fate, and counts are those of stats", async () => {
  let [texts, causes, names] = [0, 0, 0];
  for (let seed = 1; seed <= (isNightly ? 200 : 8); seed++) {
    const random = new Random(seed);
    const files: Record<string, string> = {};
    for (const file of ["a.txt", "b.txt", "c.txt"])
      files[file] = `first.example\n${textsOf(random).join("\n")}\nlast.example\n`;
    const types = ["adblock", "hosts", "adblock"];
    const project = await built(files, {
      name: "N",
      sources: Object.keys(files).map((source, at) => ({ source, name: source, type: types[at] })),
      guards: { may_block_suffixes: ["*", "com", "uk"] },
      transformations: random.chance(0.7) ? ["RemoveComments", "Compress", "Validate"] : [],
    });
    await exported(project);
    const lines = await linesOf(project);
    const rows = new Map(lines.map((line) => [line.row, line]));
    assert.equal(rows.size, lines.length, "a row is there once");
    const { stdout } = await project.run("stats", "--json");
    const { sources } = JSON.parse(stdout) as {
      sources: { source: string; lines: number; covered: number; duplicate: number }[];
    };
    for (const { source, lines: count, covered, duplicate } of sources) {
      const own = countedOnce(lines.filter((line) => line.source === source));
      assert.equal(own.length, count, `lines of ${source}`);
      const withFate = (...fates: string[]): number =>
        own.filter(({ fate }) => fates.includes(fate)).length;
      assert.equal(withFate("covered"), covered, `seed ${seed}`);
      assert.equal(withFate("duplicate", "same-host"), duplicate, `seed ${seed}`);
    }
    for (const line of lines) {
      const written = files[line.source]!.split(/\r\n|\r|\n/)[line.line - 1]!;
      assert.equal(textOf(line), written, `seed ${seed}, ${line.source}:${line.line}`);
      texts++;
      if (line.name !== null) {
        names++;
        assert.match(line.name, /^[a-z0-9_.-]+$/);
      }
      if (line.cause === null) continue;
      causes++;
      assert.ok(rows.has(line.cause), "a cause is a line");
      assert.match(line.fate, /^(?:duplicate|same-host|covered)$/);
    }
  }
  assert.ok(texts > 500 && causes > 50 && names > 200, `${texts}, ${causes}, ${names}`);
});

test("lines in runs give the rows that lines one by one give, in several groups", async () => {
  const random = new Random(3);
  const odd = [
    "! note",
    "",
    "0.0.0.0 a.example.org b.example.org",
    "||Upper.example^",
    "/re/",
    "x",
  ];
  const lineOf = (at: number): string =>
    random.chance(0.02)
      ? random.pick(odd)
      : random.pick([
          `||n${at % 5000}.example.co.uk^`,
          `0.0.0.0 n${at}.example.de`,
          `n${at}.s.com`,
        ]);
  const textOfFile = (lines: number): string =>
    Array.from({ length: lines }, (_, at) => `${lineOf(at)}\n`).join("");
  const project = await built(
    { "a.txt": textOfFile(140_000), "b.txt": textOfFile(9000) },
    {
      name: "N",
      sources: [{ source: "a.txt" }, { source: "b.txt", type: "hosts" }],
      transformations: ["RemoveComments", "Compress", "Validate"],
    },
  );
  await exported(project);
  const lines = await linesOf(project);
  assert.ok(lines.length > 149_000 && lines.some(({ part }) => part === 2));
  const own = Object.getOwnPropertyDescriptor(RecordedRows.prototype, "run")!;
  Object.defineProperty(RecordedRows.prototype, "run", { ...own, value: () => 0 });
  try {
    await exported(project);
  } finally {
    Object.defineProperty(RecordedRows.prototype, "run", own);
  }
  const others = await linesOf(project);
  assert.equal(others.length, lines.length);
  // A difference of the two whole lists takes minutes to print.
  for (const [index, line] of others.entries()) assert.deepEqual(line, lines[index]);
});

test("lines of included files, other formats, feeds and several names have their names", async () => {
  const project = await built(
    {
      "own.txt": "! own\n!#include more.txt\n||Ads.EXAMPLE.com^\r\n||пример.рф^\n",
      "more.txt": "||ok.co.uk^\n",
      "hosts.txt": "0.0.0.0 one.example.org two.example.org\n",
      "dnsmasq.conf": "# names\naddress=/three.example.org/0.0.0.0\n",
      "feed.csv": "id,name\n1,four.example.org\n2,\n",
    },
    {
      name: "N",
      sources: [
        { source: "own.txt" },
        { source: "hosts.txt", type: "hosts" },
        { source: "dnsmasq.conf", type: "dnsmasq" },
        { source: "feed.csv", type: "csv", column: "name" },
      ],
      transformations: ["Compress"],
    },
  );
  await exported(project);
  const lines = (await linesOf(project)).map((line) => [
    line.line + line.part / 10,
    textOf(line),
    line.name,
    line.name === null ? null : line.name.slice(-(line.domain_length ?? 0)),
    line.fate,
  ]);
  assert.deepEqual(lines, [
    [1.1, "! own", null, null, "live"],
    [2.1, "!#include more.txt", null, null, "directive"],
    [3.1, "||Ads.EXAMPLE.com^", "ads.example.com", "example.com", "live"],
    [4.1, "||пример.рф^", "xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai", "live"],
    [1.1, "||ok.co.uk^", "ok.co.uk", "ok.co.uk", "live"],
    [1.1, "0.0.0.0 one.example.org two.example.org", "one.example.org", "example.org", "live"],
    [1.2, "0.0.0.0 one.example.org two.example.org", "two.example.org", "example.org", "live"],
    [1.1, "# names", null, null, "live"],
    [2.1, "address=/three.example.org/0.0.0.0", "three.example.org", "example.org", "live"],
    [1.1, "id,name", null, null, "no-value"],
    [2.1, "1,four.example.org", "four.example.org", "example.org", "live"],
    [3.1, "2,", null, null, "no-value"],
  ]);
});

test("a file that has changed since the build leaves lines without text", async () => {
  const project = await built(
    { "a.txt": "||a.example^\n" },
    { name: "N", sources: [{ source: "a.txt" }] },
  );
  project.write("a.txt", "||other.example^\n||b.example^\n");
  assert.match(await exported(project), /a\.txt has changed since the build, or is not cached/);
  const [line, ...others] = await linesOf(project);
  assert.deepEqual(others, []);
  assert.equal(textOf(line!), null);
  assert.deepEqual([line!.line, line!.kind, line!.fate], [1, "unknown", "live"]);
});

test("names of several lists are there once, with the lists that have them, in any number of passes", async () => {
  const random = new Random(7);
  const names = Array.from({ length: 300 }, (_, at) => `n${at}.example.org`);
  const lists = ["Ads", "Malware", 'My "own"'].map((name) => ({
    name,
    own: names.filter(() => random.chance(0.4)),
  }));
  const project = await built(
    Object.fromEntries(
      lists.map(({ own }, at) => [`${at}.txt`, own.map((name) => `||${name}^\n`).join("")]),
    ),
    {
      name: "All",
      sources: lists.map(({ name }, at) => ({ source: `${at}.txt`, name })),
      lists: lists.map(({ name }) => ({ name, sources: [name] })),
    },
  );
  await exported(project);
  const rows = await readParquet(project.memory.files.get("/project/dataset/names.parquet")!);
  const expected = names.filter((name) => lists.some(({ own }) => own.includes(name)));
  assert.deepEqual(rows.map(({ name }) => String(name)).toSorted(), expected.toSorted());
  for (const row of rows) {
    assert.equal(row["domain"], "example.org");
    for (const { name, own } of lists)
      assert.equal(row[`in ${name}`], own.includes(row["name"] as string));
  }
  const folder = "/project/rules";
  const files = [...project.memory.files.keys()].filter((file) =>
    /^\/project\/rules\/[^/]*\.txt$/.test(file),
  );
  assert.equal(files.length, 3, folder);
  const published = await Promise.all(
    files.map(async (path, at) => ({
      name: String(at),
      path,
      record: (await readRecord(path, project.memory))!,
    })),
  );
  for (const passNames of [40, 1000]) {
    const parts: Uint8Array[] = [];
    const dataset = new DatasetNames(undefined, project.memory, undefined);
    await dataset.write(published, (bytes) => void parts.push(bytes.slice()), passNames);
    const again = await readParquet(joined(parts));
    assert.deepEqual(again.map(({ name }) => String(name)).toSorted(), expected.toSorted());
  }
});

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
