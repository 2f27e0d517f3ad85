import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import * as zlib from "node:zlib";
import type { Host } from "../../src/host/host.ts";
import { TrafficReader } from "../../src/traffic/traffic-reader.ts";
import { CompilerError } from "../../src/diagnostics/render.ts";
import { logFormatOf } from "../../src/traffic/log-formats.ts";
import { type MemoryHost, memoryHost } from "../support/internals.ts";
import { logWriters } from "../support/query-logs.ts";
import { COUNTS, QUERIES, readLog } from "../support/read-log.ts";

/** Files with the text as it is, and packed in every way that this runtime has. */
function withPacked(text: string): { host: MemoryHost; files: string[] } {
  const host = memoryHost({ files: { log: text, crlf: text.replaceAll("\n", "\r\n") } });
  const bytes = Buffer.from(text);
  host.files.set("/project/log.gz", zlib.gzipSync(bytes));
  const { zstdCompressSync } = zlib as Partial<typeof zlib>;
  if (zstdCompressSync === undefined) return { host, files: ["log", "crlf", "log.gz"] };
  host.files.set("/project/log.zst", zstdCompressSync(bytes));
  return { host, files: ["log", "crlf", "log.gz", "log.zst"] };
}

for (const [format, write] of logWriters)
  test(`a log of ${format}, also with CRLF and packed, is counted by name`, async () => {
    const { host, files } = withPacked(write(QUERIES));
    for (const file of files)
      assert.deepEqual(await readLog(file, host), { counts: COUNTS, format, batches: 1 }, file);
    const few = await readLog("log", host, 1);
    assert.deepEqual(few.counts, COUNTS);
    for (const file of files) {
      const withInput = { ...host, stdin: inputOf(host.files.get(`/project/${file}`)!) };
      const piped = await readLog("-", withInput);
      assert.deepEqual(piped, { counts: COUNTS, format, batches: 1 }, `${file} from a pipe`);
    }
  });

/** Standard input in small pieces. It can be read once. */
function inputOf(bytes: Uint8Array): NonNullable<Host["stdin"]> {
  let at = 0;
  return {
    lines: () => assert.fail("not read as lines"),
    async *bytes() {
      for (; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
    },
  };
}

test("standard input is read once, also if its names do not fit and it is needed again", async () => {
  const log = Buffer.from(logWriters.get("names")!(QUERIES));
  const host = { ...memoryHost({ files: {} }), stdin: inputOf(log) };
  const reader = new TrafficReader(["-"], host, { mostNames: 1 });
  for (let time = 0; time < 2; time++) {
    let sum = 0;
    for await (const batch of reader.batches()) for (const [, count] of batch) sum += count;
    assert.equal(sum, QUERIES.length);
    assert.deepEqual(
      reader.files.map(({ file }) => file),
      ["standard input"],
    );
  }
});

test("standard input that is a database, or that does not exist, is an error", async () => {
  const host = memoryHost({ files: {} });
  await assert.rejects(readLog("-", host), /Cannot read standard input/);
  const database = inputOf(Buffer.from("SQLite format 3\0"));
  await assert.rejects(readLog("-", { ...host, stdin: database }), /Cannot read standard input/);
});

test("more names than fit are handed out in several batches with the same sums", async () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `n${index % 30_000}.example`);
  const host = memoryHost({ files: { log: `${names.join("\n")}\n` } });
  const { counts, batches } = await readLog("log", host, 1000);
  assert.ok(batches > 2);
  assert.equal(counts.size, 30_000);
  assert.equal(
    [...counts.values()].reduce((all, count) => all + count, 0),
    names.length,
  );
});

test("names with a count before or behind them, and names in other letters", async () => {
  const host = memoryHost({
    files: { log: "# counted\n   12 a.example\nb.example\t3\nBÜCHER.example.\n\nc.example" },
  });
  assert.deepEqual(
    [...(await readLog("log", host)).counts],
    [
      ["a.example", 12],
      ["b.example", 3],
      ["bücher.example", 1],
      ["c.example", 1],
    ],
  );
});

test("a line without an end takes no memory, and the next line counts", async () => {
  const long = "x".repeat(5 * 1024 * 1024);
  const host = memoryHost({ files: { log: `a.example\n${long}\nb.example\n${long}` } });
  assert.deepEqual([...(await readLog("log", host)).counts.keys()], ["a.example", "b.example"]);
});

test("the format of a compressed log is decided by as many lines as that of a plain one", async () => {
  // More than a packing hands out at a time, before the first query.
  const start = "Nov 16 19:17:25 dnsmasq[2766]: read /etc/hosts - 9 names\n".repeat(12_000);
  const { host, files } = withPacked(start + logWriters.get("dnsmasq")!(QUERIES));
  for (const file of files)
    assert.deepEqual(await readLog(file, host), { counts: COUNTS, format: "dnsmasq", batches: 1 });
});

test("a compressed log that ends too early is an error", async () => {
  const host = memoryHost({ files: {} });
  const packed = zlib.gzipSync(Buffer.from("a.example\n".repeat(10_000)));
  host.files.set("/project/log.gz", packed.subarray(0, packed.length - 20));
  await assert.rejects(readLog("log.gz", host), /Cannot read log\.gz/);
});

test("BIND: a query that is signed with a key has a client, too", () => {
  const line =
    "16-Nov-2026 19:17:25.000 client @0x7f1 192.168.1.7#53421/key phone (a.example): query: a.example IN A +S (127.0.0.1)";
  for (const one of [line, line.replace("/key phone", ""), line.replace(" @0x7f1", "")]) {
    const format = logFormatOf([one]);
    assert.deepEqual(
      [format?.name, format?.nameIn(one), format?.clientIn?.(one)],
      ["BIND", "a.example", "192.168.1.7"],
    );
  }
});

test("a compressed database is refused with the reason", async () => {
  const host = memoryHost({ files: {} });
  const database = Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(5000)]);
  host.files.set("/project/pihole-FTL.db.gz", zlib.gzipSync(database));
  await assert.rejects(readLog("pihole-FTL.db.gz", host), (error) => {
    assert.ok(error instanceof CompilerError);
    const [first] = error.diagnostics;
    assert.equal(first?.code, "traffic-unreadable");
    assert.match(String(first?.cause), /compressed database; decompress it first/);
    return true;
  });
});
