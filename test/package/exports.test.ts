import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as source from "../../src/index.ts";

test("the package exports what the library does, and nothing that the terminal takes besides", async () => {
  const built = pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href;
  const exported = (await import(built)) as object;
  assert.deepEqual(Object.keys(exported).toSorted(), Object.keys(source).toSorted());
});
