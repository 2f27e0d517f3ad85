import assert from "node:assert/strict";
import type { TestContext } from "node:test";

/** From a downloaded package to a first list. */
export const NEWCOMER_MS = 60_000;

/** Runs the steps of a newcomer. Fails if they take more than a minute. */
export async function asNewcomer<T>(context: TestContext, steps: () => T | Promise<T>): Promise<T> {
  const began = Date.now();
  const result = await steps();
  const took = Date.now() - began;
  context.diagnostic(`first list after ${(took / 1000).toFixed(1)} s`);
  assert.ok(took < NEWCOMER_MS, `the first list took ${took} ms`);
  return result;
}
