import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { CompilerError } from "../../src/diagnostics/diagnostic.ts";
import { HostError } from "../../src/host/host.ts";
import { DnstapFrames, type DnstapQuery, isDnstap } from "../../src/traffic/dnstap.ts";
import { TrafficReader } from "../../src/traffic/traffic-reader.ts";
import { dnstapFile, dnstapFrame } from "../support/dnstap-writer.ts";
import { memoryHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";
import { propertyRuns } from "../support/property.ts";
import { Random } from "../support/random.ts";

const label = fc.string({
  unit: fc.constantFrom("a", "B", "-", "_", "7", "\u00e9"),
  minLength: 1,
  maxLength: 63,
});
const query = fc.record({
  name: fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join(".")),
  client: fc.constantFrom("192.168.1.2", "fd00::7", "2001:db8::1:0:0:1", "::1"),
});

test("random files of dnstap, cut into random blocks, have the queries that were written", () => {
  let found = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(query, fc.constantFrom(1, 3, 4, 5, 5, 6)), { maxLength: 12 }),
      fc.integer({ min: 1, max: 700 }),
      fc.boolean(),
      (messages, size, byClient) => {
        const file = dnstapFile(messages.map(([one, type]) => dnstapFrame(one, type)));
        assert.ok(isDnstap(file));
        const frames = new DnstapFrames(byClient);
        const read: DnstapQuery[] = [];
        // The first block decides what is counted, as in a file that is smaller than a block.
        const first = Math.max(size, messages.length < 4 ? file.length : 0);
        for (const [from, to] of blocksOf(file.length, first, size))
          read.push(...frames.take(file.subarray(from, to)));
        const kinds = new Set<number>(messages.map(([, type]) => type));
        const isOne = first >= file.length;
        const type = frames.format === "dnstap" ? 5 : 6;
        if (isOne) assert.equal(type, kinds.has(5) || !kinds.has(6) ? 5 : 6);
        const expected = messages
          .filter(([, kind]) => kind === type)
          .map(([{ name, client }]) => ({ name, client: byClient ? client : "" }));
        if (isOne || !kinds.has(11 - type)) assert.deepEqual(read, expected);
        found += read.length;
      },
    ),
    propertyRuns(1000),
  );
  assert.ok(found > 1000, String(found));
});

function blocksOf(length: number, first: number, size: number): [number, number][] {
  const blocks: [number, number][] = [[0, first]];
  for (let from = first; from < length; from += size) blocks.push([from, from + size]);
  return blocks;
}

async function counts(bytes: Uint8Array): Promise<{ format: string; counts: object }> {
  const host = memoryHost({ files: {} });
  host.files.set("/project/log", bytes);
  const reader = new TrafficReader(["log"], host);
  const sums: Record<string, number> = {};
  for await (const batch of reader.batches())
    for (const [name, count] of batch) sums[name] = (sums[name] ?? 0) + count;
  return { format: reader.files[0]!.format, counts: sums };
}

const FRAMES = ["a.example", "B.example", "a.example"].map((name) =>
  dnstapFrame({ name, client: "10.0.0.1" }, 5),
);
const COUNTS = { format: "dnstap", counts: { "a.example": 2, "b.example": 1 } };

test("a file of dnstap is counted: packed, without its end, after another file, and without queries", async () => {
  const file = dnstapFile(FRAMES);
  assert.deepEqual(await counts(file), COUNTS);
  assert.deepEqual(await counts(gzipSync(file)), COUNTS);
  const open = Buffer.concat([dnstapFile(FRAMES.slice(0, 2)), dnstapFile(FRAMES.slice(2))]);
  assert.deepEqual(await counts(open.subarray(0, -11)), COUNTS);
  const responses = ["a.example", "b.example", "A.example"].map((name) =>
    dnstapFrame({ name, client: "::1" }, 6),
  );
  assert.deepEqual(await counts(dnstapFile(responses)), {
    ...COUNTS,
    format: "dnstap (responses)",
  });
  assert.deepEqual(await counts(dnstapFile([])), { format: "dnstap", counts: {} });
});

test("a dot inside a label is not taken for the end of the label", async () => {
  const frame = dnstapFrame({ name: "a+b.example", client: "10.0.0.1" }, 5);
  frame[frame.indexOf("+")] = 0x2e;
  assert.deepEqual((await counts(dnstapFile([frame]))).counts, { "a\\.b.example": 1 });
});

test("damaged files of dnstap are counted or refused", async () => {
  const random = new Random(11);
  const file = dnstapFile([...FRAMES, dnstapFrame({ name: "c.example", client: "::1" }, 6)]);
  for (let round = 0; round < (isNightly ? 100_000 : 5000); round++) {
    const bad = Buffer.from(file);
    for (let step = random.below(4); step >= 0; step--)
      bad[34 + random.below(bad.length - 34)] = random.below(256);
    const frames = new DnstapFrames(true);
    try {
      for (const { name } of frames.take(bad)) assert.ok(name.length <= 510);
    } catch (error) {
      assert.ok(error instanceof HostError);
    }
  }
  const long = Buffer.from(file);
  long.writeUInt32BE(0x7fffffff, file.indexOf(FRAMES[1]!));
  await assert.rejects(
    counts(long),
    (error) => error instanceof CompilerError && /damaged/.test(error.diagnostics[0]!.cause ?? ""),
  );
});
