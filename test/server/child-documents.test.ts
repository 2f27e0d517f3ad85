import assert from "node:assert/strict";
import { test } from "node:test";
import { type BuildDocument, buildIn } from "../../src/cli/serve-children.ts";

function built(list: string, status: string, degraded: boolean): BuildDocument["lists"][number] {
  const source = {
    label: "Own",
    source: "own.txt",
    state: "stale",
    bytes: 10,
    lines: 1,
    kept: 1,
    dropped: {},
  } as const;
  const figures = { lines: 1, kept: 1, rules: 1, bytes: 10 };
  return { list, status, ...figures, degraded, sources: [source], outputs: [] };
}

test("a list that is held at a degraded build does not make a run degraded, so it is not retried", () => {
  const one = buildIn({ lists: [built("A", "held", true)] }, "All");
  assert.equal(one.isHeld, true);
  assert.equal(one.build!.degraded, false);
  for (const isOtherDegraded of [true, false]) {
    const lists = [built("A", "held", true), built("B", "published", isOtherDegraded)];
    const { build, isHeld } = buildIn({ lists }, "All");
    assert.equal(isHeld, false);
    assert.equal(build!.degraded, isOtherDegraded);
    assert.equal(build!.rules, 2);
  }
  const plain = buildIn({ lists: [built("A", "published", true)] }, "All");
  assert.equal(plain.build!.degraded, true);
});
