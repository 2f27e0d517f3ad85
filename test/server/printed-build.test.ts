import assert from "node:assert/strict";
import { test } from "node:test";
import { printedBuild } from "../../src/cli/serve-children.ts";

function printed(name: string, more: object): object {
  const source = {
    label: "Own",
    source: "own.txt",
    state: "stale",
    lines: 1,
    kept: 1,
    dropped: {},
  };
  const figures = { lines: 1, kept: 1, rules: 1, bytes: 10 };
  return { name, ...figures, sources: [source], outputs: [], files: [], diagnostics: [], ...more };
}

test("a list that is held at a degraded build does not make a run degraded, so it is not retried", () => {
  const one = printedBuild(JSON.stringify(printed("A", { degraded: true, held: true })), "A");
  assert.equal(one.isHeld, true);
  assert.equal(one.build!.degraded, false);
  for (const isOtherDegraded of [true, false]) {
    const lists = [
      printed("A", { degraded: true, held: true }),
      printed("B", { degraded: isOtherDegraded }),
    ];
    const { build, isHeld } = printedBuild(JSON.stringify({ lists }), "All");
    assert.equal(isHeld, false);
    assert.equal(build!.degraded, isOtherDegraded);
    assert.equal(build!.rules, 2);
  }
  const plain = printedBuild(JSON.stringify(printed("A", { degraded: true })), "A");
  assert.equal(plain.build!.degraded, true);
});
