import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import type { CompressionCodec, Encoding } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { feedText } from "../../src/sources/feed-file.ts";
import { KernelMemory } from "../../src/kernel/kernel-memory.ts";
import { ParquetFile } from "../../src/parquet/parquet-file.ts";
import { TextColumn } from "../../src/parquet/text-column.ts";
import { DiskProject } from "../support/disk-project.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { SAFE_LINE } from "../support/read-feed.ts";

const compressors = {
  GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)),
  ZSTD: (bytes: Uint8Array) => new Uint8Array(zstdCompressSync(bytes)),
};

/** A file of a library, with the names in its second column. */
function fileOf(
  names: readonly (string | null)[],
  codec: CompressionCodec = "SNAPPY",
  encoding?: Encoding,
): Uint8Array {
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "id", data: names.map((_, at) => at), type: "INT32" },
      { name: "name", data: [...names], type: "STRING", ...(encoding && { encoding }) },
    ],
    rowGroupSize: 40,
    pageSize: 300,
    codec,
    compressors,
  });
  return new Uint8Array(buffer);
}

async function linesOf(bytes: Uint8Array, column = "name"): Promise<string[] | undefined> {
  const text = await feedText(bytes, { type: "parquet", column }, new Date(0));
  return text && new TextDecoder().decode(text).split("\n").slice(0, -1);
}

function randomNames(random: Random, count: number): (string | null)[] {
  return Array.from({ length: count }, () =>
    random.chance(0.1)
      ? null
      : random.chance(0.3)
        ? "again.example.org"
        : `n${random.below(500)}.${random.pick(["ads", "x"])}.example`,
  );
}

test("names are read in every encoding and compression", async () => {
  const random = new Random(3);
  for (const encoding of [
    undefined,
    "PLAIN",
    "RLE_DICTIONARY",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY",
  ] as const)
    for (const codec of ["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"] as const)
      for (const count of [0, 1, 40, 150]) {
        const names = randomNames(random, count);
        const expected = names.map((name) => name ?? "#n");
        const bytes = fileOf(names, codec, encoding);
        if (count === 0) continue;
        assert.deepEqual(await linesOf(bytes), expected, `${encoding} ${codec} ${count}`);
        assert.deepEqual(await linesOf(bytes, "2"), expected);
      }
});

test("what the program exports can be read again", async () => {
  const kernel = new KernelMemory();
  const column = new TextColumn("name", kernel);
  const parts: Uint8Array[] = [];
  const file = new ParquetFile([column], kernel, (bytes) => void parts.push(bytes.slice()));
  const names = randomNames(new Random(5), 5000);
  for (const [row, name] of names.entries()) {
    if (name === null) column.addNulls(1);
    else column.addText(name);
    if (row % 1700 === 1699) file.writeGroup();
  }
  file.finish();
  const expected = names.map((name) => name ?? "#n");
  assert.deepEqual(await linesOf(Uint8Array.from(parts.flatMap((part) => [...part]))), expected);
});

test("no mutation crashes the reader or gets past the grammar of names", async () => {
  const random = new Random(11);
  const names = randomNames(random, 100);
  const files = (["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"] as const).flatMap((codec) =>
    (["PLAIN", "RLE_DICTIONARY", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"] as const).map(
      (encoding) => fileOf(names, codec, encoding),
    ),
  );
  let [good, refused] = [0, 0];
  for (let round = 0; round < (isNightly ? 10_000 : 400); round++) {
    const bytes = new Uint8Array(random.pick(files));
    // Most structures are at the end.
    const from = random.chance(0.5) ? 0 : Math.max(0, bytes.length - 600);
    for (let change = 1 + random.below(3); change > 0; change--) {
      const at = from + random.below(bytes.length - from);
      const value = random.pick([0, 0xff, 0x7f, 0x80, 1, random.below(256), bytes[at]! ^ 1]);
      bytes[at] = value;
      if (random.chance(0.1)) bytes.fill(0xff, at, at + random.below(6));
    }
    const cut = random.chance(0.1) ? bytes.subarray(random.below(bytes.length)) : bytes;
    const lines = await linesOf(cut);
    if (lines === undefined) refused++;
    else good++;
    for (const line of lines ?? []) assert.match(line, SAFE_LINE);
  }
  assert.ok(good > 20 && refused > 20, `${good} were read, ${refused} refused`);
});

test("files that grow without bound are refused", async () => {
  // Equal texts: a dictionary with one entry, and pages that zstd packs a thousand times.
  const long = `${"a".repeat(4000)}.example`;
  for (const [encoding, count] of [
    ["RLE_DICTIONARY", 50_000],
    ["PLAIN", 8000],
  ] as const) {
    const bytes = new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          {
            name: "name",
            data: Array.from({ length: count }, () => long),
            type: "STRING",
            encoding,
          },
        ],
        codec: "ZSTD",
        compressors,
        rowGroupSize: count,
      }),
    );
    assert.ok(bytes.length < 20_000);
    assert.equal(await linesOf(bytes), undefined);
  }
});

test("a source is a local file or an address, and lines have row numbers", async (context) => {
  const bytes = fileOf(["ads.example.org", null, "HTTPS://Evil.Example/", "no name"]);
  const server = createServer((_, response) => response.end(bytes));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const project = new DiskProject(context);
  writeFileSync(join(project.folder, "names.parquet"), bytes);
  for (const source of ["names.parquet", `http://127.0.0.1:${port}/names.parquet`]) {
    project.write(
      "config.json",
      JSON.stringify({
        name: "N",
        sources: [{ source, name: "S", type: "parquet", column: "name", allow_private: true }],
      }),
    );
    const { exit, stderr } = await project.run("-c", "config.json", "-o", "list.txt", "-q");
    assert.equal(exit, 0, stderr);
    assert.deepEqual(
      project
        .text("list.txt")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("!")),
      ["ads.example.org", "evil.example"],
    );
    const asked = ["-c", "config.json", "-o", "list.txt", "--fate", "no-value", "--json"];
    const { stdout } = await project.run("lines", ...asked);
    assert.equal((JSON.parse(stdout) as { line: number }).line, 2);
  }
});

test("a wrong column and another file are errors that say so", async (context) => {
  const project = new DiskProject(context);
  writeFileSync(join(project.folder, "names.parquet"), fileOf(["ads.example.org"]));
  project.write("text.parquet", "ads.example.org\nother.example.org\n");
  for (const [source, column, message] of [
    ["names.parquet", "host", /it has no column host/],
    ["names.parquet", "id", /its column id does not contain texts/],
    ["text.parquet", "name", /it is not a Parquet file/],
  ] as const) {
    project.write(
      "config.json",
      JSON.stringify({ name: "N", sources: [{ source, type: "parquet", column }] }),
    );
    const { exit, stderr } = await project.run("-c", "config.json", "-o", "list.txt", "-q");
    assert.notEqual(exit, 0);
    assert.match(stderr, message);
  }
});
