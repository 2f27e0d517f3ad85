import assert from "node:assert/strict";
import { globSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};

/** The scripts that run test files, by the suffix of a file; every other test script combines these. */
const SUITES = ["test", "test:long", "test:alone", "test:only-nightly"];

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
  const matched = SUITES.flatMap(filesOf);
  assert.deepEqual(matched.toSorted(), all.toSorted());
});

test("test:all and test:nightly run every suite", () => {
  for (const suite of ["npm test", "test:long", "test:alone"])
    assert.match(scripts["test:all"]!, new RegExp(suite));
  for (const suite of ["test:all", "test:only-nightly"])
    assert.match(scripts["test:nightly"]!, new RegExp(suite));
});

test("tests mirror the sources: each folder is a room of src, or one of these", () => {
  const others = ["conformance", "docs", "house", "library", "package", "specification"];
  const rooms = new Set([...readdirSync(join(root, "src")), ...others]);
  for (const file of found("test/**/*.test.ts")) {
    const [, room, ...below] = file.split("/");
    assert.ok(below.length === 1 && rooms.has(room!), file);
  }
});
