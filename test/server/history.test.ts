import assert from "node:assert/strict";
import { test } from "node:test";
import { Exit } from "../../src/diagnostics/codes.ts";
import { schemaOfDocuments } from "../../scripts/documents-schema.ts";
import { NO_HISTORY, isHistory, isWorthRetrying, withRun } from "../../src/server/history.ts";
import { build, run as runOf } from "../support/server-states.ts";

test("a run is repeated after a failure, a copy of a source or an unproved resolver", () => {
  const run = { at: "", trigger: "schedule", seconds: 1, exit: Exit.Done } as const;
  const good = { ...run, outcome: "published" } as const;
  assert.equal(isWorthRetrying(good), false);
  assert.equal(isWorthRetrying({ ...run, outcome: "failed", exit: Exit.Sources }), true);
  assert.equal(isWorthRetrying({ ...good, degraded: true }), true);
  assert.equal(isWorthRetrying({ ...good, exit: Exit.Unproved }), true);
});

/** All values of a type in the documents. */
function valuesOf(type: string): readonly unknown[] {
  const { enum: values = [] } = schemaOfDocuments().$defs[type]!;
  assert.ok(values.length > 4, type);
  return values;
}

function isKept(state: unknown, more: object): boolean {
  const known = build();
  const sources = known.sources.map((source) => ({ ...source, state }) as typeof source);
  const history = withRun(NO_HISTORY, runOf(more), { ...known, sources });
  return isHistory(JSON.parse(JSON.stringify(history)));
}

test("a history with any state, outcome or trigger that there is can be read again", () => {
  for (const state of valuesOf("SourceStateName")) assert.ok(isKept(state, {}), String(state));
  for (const outcome of valuesOf("RunOutcome")) assert.ok(isKept("fetched", { outcome }));
  for (const trigger of valuesOf("RunTrigger")) assert.ok(isKept("fetched", { trigger }));
  assert.ok(!isKept("unknown", {}));
});
