import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBuffer, encodeUtf8 } from "../../src/bytes/text.ts";
import { KernelMemory } from "../../src/kernel/kernel.ts";
import { Chunk, Flag, appendText, hostOf, rewriteText, textOf } from "../../src/rules/chunk.ts";
import { Fate } from "../../src/rules/fate.ts";
import { ChunkPool, rowOf } from "../../src/rules/rule-table.ts";

const ARENA = new KernelMemory();

test("a row keeps the first fate it gets", () => {
  const chunk = new ChunkPool(ARENA).add(new Chunk(ARENA, 0, encodeUtf8("a"), { capacity: 2 }));
  const row = chunk.push(0, 1, 1);
  chunk.drop(row, Fate.Comment);
  chunk.dropFor(row, Fate.Duplicate, 7);
  assert.equal(chunk.fate[row], Fate.Comment);
  assert.equal(chunk.by, undefined);
});

test("a row keeps its number, and the number finds the row", () => {
  const pool = new ChunkPool(ARENA);
  pool.add(new Chunk(ARENA, 0, new Uint8Array(0), { capacity: 1 }));
  const chunk = pool.add(new Chunk(ARENA, 0, encodeUtf8("a.com b.com"), { capacity: 4 }));
  chunk.push(0, 5, 1);
  const row = chunk.push(6, 11, 2);
  const id = chunk.idOf(row);
  rewriteText(chunk, row, "@@||b.com^");
  assert.equal(pool.chunkOf(id), chunk);
  assert.equal(rowOf(id), row);
  assert.equal(textOf(chunk, row), "@@||b.com^");
  assert.equal(textOf(chunk, 0), "a.com");
  assert.deepEqual(
    chunk.bytes.slice(),
    encodeUtf8("a.com b.com"),
    "bytes that were read are never written to",
  );
});

test("a row marked as a block is read and written as ||host^ without a copy", () => {
  const chunk = new ChunkPool(ARENA).add(
    new Chunk(ARENA, 0, encodeUtf8("0.0.0.0 a.com"), { capacity: 1 }),
  );
  const row = chunk.push(0, 13, 1);
  chunk.hostStart[row] = 8;
  chunk.hostEnd[row] = 13;
  chunk.flags[row] = Flag.AsBlock;
  const out = new ByteBuffer();
  appendText(chunk, row, out);
  assert.equal(textOf(chunk, row), "||a.com^");
  assert.equal(hostOf(chunk, row), "a.com");
  assert.deepEqual(out.view(), encodeUtf8("||a.com^"));
  assert.equal(chunk.rewritten.length, 0);
});
