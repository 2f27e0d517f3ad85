import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { type Outcome, readOwnOutcomes, readVectors, runVector } from "../support/vector.ts";

/** UPDATE_GOLDEN=1 writes our own outcomes anew; read the difference before committing it. */
const isUpdate = process.env["UPDATE_GOLDEN"] === "1";
const own = isUpdate ? {} : readOwnOutcomes();
const updated: Record<string, Outcome> = {};

for (const vector of readVectors()) {
  test(`${vector.advice}: ${vector.name}`, async () => {
    const outcome = await runVector(vector);
    if (vector.advice === "match" && vector.expectedLines !== undefined) {
      assert.deepEqual(outcome.lines, vector.expectedLines);
      return;
    }
    if (isUpdate) updated[vector.name] = outcome;
    else assert.deepEqual(outcome, own[vector.name]);
    if (vector.advice === "match")
      assert.notEqual(outcome.error, undefined, "the reference fails here");
  });
}

test("all recorded vectors are present", () => {
  assert.equal(readVectors().length, 334);
  assert.equal(readVectors().filter(({ advice }) => advice === "deviate").length, 111);
});

if (isUpdate) {
  process.on("exit", () => {
    writeFileSync(
      new URL("own-outcomes.json", import.meta.url),
      `${JSON.stringify(updated, undefined, 2)}\n`,
    );
  });
}
