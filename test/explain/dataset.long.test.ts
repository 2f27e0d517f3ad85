import assert from "node:assert/strict";
import { test } from "node:test";
import { Buffer } from "node:buffer";
import * as zlib from "node:zlib";
import { run } from "../../src/cli/main.ts";
import { HostError } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";
import { packingHost } from "../support/packing-host.ts";
import { randomList } from "../support/random-list.ts";
import { Random } from "../support/random.ts";
import { listIn } from "../support/documents.ts";

type Row = Record<string, string>;

/** The rows of CSV, read as RFC 4180 says, character by character. */
function rowsOf(csv: string): Row[] {
  const records: string[][] = [[""]];
  let isQuoted = false;
  for (let at = 0; at < csv.length; at++) {
    const record = records.at(-1)!;
    const character = csv[at]!;
    if (isQuoted && character === '"' && csv[at + 1] === '"') {
      record[record.length - 1] += '"';
      at++;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) record[record.length - 1] += character;
    else if (character === ",") record.push("");
    else if (character === "\n") records.push([""]);
    else record[record.length - 1] += character;
  }
  const [columns, ...rows] = records;
  assert.deepEqual(rows.pop(), [""], "the last row ends");
  return rows.map((row) => {
    assert.equal(row.length, columns!.length);
    return Object.fromEntries(columns!.map((column, at) => [column, row[at]!]));
  });
}

async function built(files: Record<string, string>, config: object): Promise<MemoryProject> {
  const project = new MemoryProject({ ...files, "compiler-config.json": JSON.stringify(config) });
  const { exit, stderr } = await project.run("-q");
  assert.equal(exit, 0, stderr);
  return project;
}

async function exported(project: MemoryProject): Promise<{ rows: Row[]; stderr: string }> {
  const { exit, stdout, stderr } = await project.run("export");
  assert.equal(exit, 0, stderr);
  return { rows: rowsOf(stdout), stderr };
}

/** As the table shows a text. */
function safe(text: string): string {
  return text.replaceAll(
    // eslint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
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
    const { rows: lines } = await exported(project);
    const rows = new Map(lines.map((line) => [line["row"], line]));
    assert.equal(rows.size, lines.length, "a row is there once");
    const { stdout } = await project.run("stats", "--json");
    const { sources } = listIn(stdout) as {
      sources: {
        label: string;
        lines: number;
        kept: number;
        dropped: Record<string, number>;
      }[];
    };
    for (const { label: source, lines: count, kept, dropped } of sources) {
      const own = lines.filter((line) => line["source"] === source && line["counted"] === "true");
      assert.equal(own.length, count, `lines of ${source}`);
      const counts: Record<string, number> = {};
      for (const { fate } of own) counts[fate!] = (counts[fate!] ?? 0) + 1;
      const expected = { ...(kept > 0 && { kept }), ...dropped };
      assert.deepEqual(counts, expected, `seed ${seed}`);
    }
    for (const { source, line, text, name, cause, fate } of lines) {
      const written = files[source!]!.split(/\r\n|\r|\n/)[Number(line) - 1]!;
      assert.equal(text, safe(written), `seed ${seed}, ${source}:${line}`);
      texts++;
      if (name !== "") {
        names++;
        assert.match(name!, /^[a-z0-9_.-]+$/);
      }
      if (cause === "") continue;
      causes++;
      assert.ok(rows.has(cause), "a cause is a line");
      assert.match(fate!, /^(?:duplicate|same-host|covered)$/);
    }
  }
  assert.ok(texts > 500 && causes > 50 && names > 200, `${texts}, ${causes}, ${names}`);
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
  const { rows } = await exported(project);
  const lines = rows.map(({ line, counted, text, name, fate }) => [
    `${line} ${counted}`,
    text,
    name,
    fate,
  ]);
  const two = "0.0.0.0 one.example.org two.example.org";
  assert.deepEqual(lines, [
    ["1 true", "! own", "", "kept"],
    ["2 true", "!#include more.txt", "", "directive"],
    ["3 true", "||Ads.EXAMPLE.com^", "ads.example.com", "kept"],
    ["4 true", "||пример.рф^", "xn--e1afmkfd.xn--p1ai", "kept"],
    ["1 true", "||ok.co.uk^", "ok.co.uk", "kept"],
    ["1 true", two, "one.example.org", "kept"],
    ["1 false", two, "two.example.org", "kept"],
    ["1 true", "# names", "", "kept"],
    ["2 true", "address=/three.example.org/0.0.0.0", "three.example.org", "kept"],
    ["1 true", "id,name", "", "no-value"],
    ["2 true", "1,four.example.org", "four.example.org", "kept"],
    ["3 true", "2,", "", "no-value"],
  ]);
});

test("a file that has changed since the build leaves lines without text", async () => {
  const project = await built(
    { "a.txt": "||a.example^\n" },
    { name: "N", sources: [{ source: "a.txt" }] },
  );
  project.write("a.txt", "||other.example^\n||b.example^\n");
  const { rows, stderr } = await exported(project);
  assert.match(stderr, /a\.txt has changed since the build, or is not cached/);
  assert.deepEqual(
    rows.map(({ line, kind, fate, text }) => [line, kind, fate, text]),
    [["1", "unknown", "kept", ""]],
  );
});

test("quotes, commas and control characters of lists and names are safe", async () => {
  const project = await built(
    { "a.txt": 'a "b", c\n||esc\u001b[2Jape^\n||bidi\u202e^\n0.0.0.0\ttab.example\n\u0085\n' },
    { name: 'The "list", one', sources: [{ source: "a.txt", name: "S\u0007,\nT" }] },
  );
  const { stdout } = await project.run("export");
  assert.doesNotMatch(stdout, /[^\t\n -~]/);
  assert.equal(stdout.split("\n").length, 7, "a row is one line");
  const rows = rowsOf(stdout);
  assert.deepEqual(
    rows.map(({ text }) => text),
    ['a "b", c', "||esc\\u{1b}[2Jape^", "||bidi\\u{202e}^", "0.0.0.0\ttab.example", "\\u{85}"],
  );
  assert.deepEqual(new Set(rows.map(({ list }) => list)), new Set(['The "list", one']));
});

test("a file has the bytes of standard output, compressed by its ending, and all of the lists", async () => {
  const project = await built(
    { "a.txt": "||a.example^\n", "b.txt": "||b.example^\n||a.example^\n" },
    {
      name: "All",
      sources: [
        { source: "a.txt", name: "A" },
        { source: "b.txt", name: "B" },
      ],
      lists: [
        { name: "One", sources: ["A"] },
        { name: "Two", sources: ["A", "B"] },
      ],
    },
  );
  const { stdout } = await project.run("export");
  assert.deepEqual(
    rowsOf(stdout).map(({ list, source }) => `${list} ${source}`),
    ["One A", "Two A", "Two B", "Two B"],
  );
  // Deno 2.0 lacks zstd.
  const { gunzipSync, zstdDecompressSync } = zlib as Partial<typeof zlib>;
  const unpackers = { "": (bytes: Buffer) => bytes, ".gz": gunzipSync, ".zst": zstdDecompressSync };
  for (const [ending, unpack] of Object.entries(unpackers)) {
    const { exit, stdout: silent, stderr } = await project.run("export", `out/lines.csv${ending}`);
    if (unpack === undefined) {
      assert.match(stderr, /zstd/);
      assert.notEqual(exit, 0);
      continue;
    }
    assert.deepEqual([exit, silent], [0, ""]);
    const bytes = project.memory.files.get(`/project/out/lines.csv${ending}`)!;
    assert.equal(unpack(Buffer.from(bytes)).toString(), stdout);
  }
  const { stdout: one } = await project.run("export", "--filter", "One");
  assert.equal(rowsOf(one).length, 1);
});

test("other endings, several files, and --json without a file are refused", async () => {
  const project = await built(
    { "a.txt": "||a.example^\n" },
    { name: "N", sources: [{ source: "a.txt" }] },
  );
  for (const words of [["lines.parquet"], ["dataset"], ["a.csv", "b.csv"], ["--json"]]) {
    const { exit, stdout } = await project.run("export", ...words);
    assert.deepEqual([exit, stdout], [2, ""], words.join(" "));
  }
  const { stdout } = await project.run("export", "--json", "a.csv");
  assert.equal((JSON.parse(stdout) as { rows: number }).rows, 1);
});

test("nothing more is read when the reader of standard output has closed it", async () => {
  let sent = 0;
  const closed = {
    isTerminal: false,
    columns: 80,
    write: () => {},
    send: async () => {
      if (sent++ > 0) throw new HostError("EPIPE", "closed");
    },
  };
  const text = "||a.example^\n".repeat(400_000);
  const files = { "a.txt": text, "b.txt": text, "c.txt": text };
  const project = await built(files, {
    name: "N",
    sources: Object.keys(files).map((source) => ({ source })),
  });
  const opened: string[] = [];
  const host = packingHost(project.memory);
  const exit = await run(
    ["export"],
    {
      ...host,
      stdout: closed,
      openFile: async (path) => {
        opened.push(path);
        return await host.openFile(path);
      },
    },
    new AbortController().signal,
  );
  assert.equal(exit, 0);
  assert.equal(sent, 2);
  assert.deepEqual(
    opened.filter((path) => path.endsWith("/b.txt") || path.endsWith("/c.txt")),
    [],
  );
});
