import assert from "node:assert/strict";
import { test } from "node:test";
import { buildIn } from "../../src/cli/serve-children.ts";
import type { BuiltList } from "../../src/documents/documents.ts";

function built(list: string, status: BuiltList["status"], degraded: boolean): BuiltList {
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
  const none = { outputs: [], files: [], violations: [], diagnostics: [] };
  return { list, status, exit: 0, ...figures, degraded, sources: [source], seconds: 1, ...none };
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
