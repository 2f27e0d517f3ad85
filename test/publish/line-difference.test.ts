import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { LineDifference } from "../../src/publish/patches.ts";
import { memoryHost } from "../support/memory-host.ts";

const LINES = 100_000;
const CHANGED = 500;

function lineOf(index: number): string {
  return `${"abcdefgh"[index % 8]}${(index * 7919).toString(36)}.d${index % 9973}.example CNAME .`;
}

/** Milliseconds of a comparison with files of this size, which decides the number of partitions. */
function timeOf(bytes: number): number {
  const host = memoryHost({ files: {} });
  const difference = new LineDifference(() => host.openScratch(), bytes);
  for (let index = 0; index < LINES; index++) {
    const before = encodeUtf8(lineOf(index));
    const after = encodeUtf8(lineOf(index < CHANGED ? LINES + index : index));
    difference.add("before", before, 0, before.length);
    difference.add("after", after, 0, after.length);
  }
  const began = performance.now();
  const { removed, added } = difference.changes();
  const took = performance.now() - began;
  difference.close();
  const changed = Array.from({ length: CHANGED }, (_, index) => index);
  assert.deepEqual(removed.toSorted(), changed.map(lineOf).toSorted());
  assert.deepEqual(added.toSorted(), changed.map((index) => lineOf(LINES + index)).toSorted());
  return took;
}

test("many partitions of lines are compared about as fast as one", () => {
  timeOf(1);
  const [one, many] = [timeOf(1), timeOf(64 * 16 * 1024 * 1024)];
  assert.ok(many < 2 * one + 50, `${many.toFixed()} ms, ${one.toFixed()} ms in one partition`);
});
