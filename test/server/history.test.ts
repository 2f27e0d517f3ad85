import assert from "node:assert/strict";
import { test } from "node:test";
import { Exit } from "../../src/diagnostics/codes.ts";
import { isWorthRetrying } from "../../src/server/history.ts";

test("a run is repeated after a failure, a copy of a source or an unproved resolver", () => {
  const run = { at: "", trigger: "schedule", seconds: 1, exit: Exit.Done } as const;
  const good = { ...run, outcome: "published" } as const;
  assert.equal(isWorthRetrying(good), false);
  assert.equal(isWorthRetrying({ ...run, outcome: "failed", exit: Exit.Sources }), true);
  assert.equal(isWorthRetrying({ ...good, degraded: true }), true);
  assert.equal(isWorthRetrying({ ...good, exit: Exit.Unproved }), true);
});
