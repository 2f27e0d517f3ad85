import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};

/** The scripts that run test files; every other test script combines these. */
const SUITES = ["test", "test:long", "test:attack", "test:slow:two", "test:slow:alone"];

function filesOf(script: string): string[] {
  const patterns = [...scripts[script]!.matchAll(/"([^"]*\.test\.ts)"/g)].map(([, one]) => one!);
  return patterns.flatMap(found);
}

function found(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).filter((file) => !file.includes("node_modules"));
}

test("every test file is matched by exactly one script", () => {
  const all = found("{src,test}/**/*.test.ts");
  assert.ok(all.length > 100, String(all.length));
  const matched = [...SUITES, "test:only-nightly"].flatMap(filesOf);
  assert.deepEqual(matched.toSorted(), all.toSorted());
});

test("test:all and test:nightly run every suite", () => {
  for (const suite of ["npm test", "test:long", "test:attack"])
    assert.match(scripts["test:all"]!, new RegExp(suite));
  for (const suite of ["test:all", "test:slow", "test:only-nightly"])
    assert.match(scripts["test:nightly"]!, new RegExp(suite));
});
