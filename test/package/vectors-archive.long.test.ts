import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeVectors } from "../../scripts/packages/vectors.ts";
import { type Outcome, readVectors, runVector } from "../support/vector.ts";

const root = join(import.meta.dirname, "../..");
const tools = createRequire(join(root, "test/tools/package.json"));

function folderFor(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "vectors-"));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The archive, unpacked. */
function unpacked(context: TestContext): string {
  const folder = folderFor(context);
  const file = writeVectors({ root, folder, version: "1.2.3" });
  execFileSync("tar", ["--extract", "--gzip", `--file=${file}`, `--directory=${folder}`]);
  return join(folder, "rules-compiler-vectors-1.2.3");
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

test("the same vectors give the same archive, byte for byte", (context) => {
  const [first, second] = [folderFor(context), join(folderFor(context), "other")];
  mkdirSync(second);
  const a = readFileSync(writeVectors({ root, folder: first, version: "1.2.3" }));
  // Times and access rights of a checkout differ from machine to machine.
  const copy = folderFor(context);
  execFileSync("cp", ["-r", join(root, "LICENSE"), copy]);
  mkdirSync(join(copy, "test"));
  execFileSync("cp", ["-r", join(root, "test/conformance"), join(copy, "test")]);
  chmodSync(join(copy, "LICENSE"), 0o600);
  const b = readFileSync(writeVectors({ root: copy, folder: second, version: "1.2.3" }));
  assert.ok(a.equals(b));
});

test("every vector of the archive is as its schema says", (context) => {
  const folder = unpacked(context);
  const { Ajv2020 } = tools("ajv/dist/2020.js") as {
    Ajv2020: new (options: object) => {
      compile(schema: unknown): ((value: unknown) => boolean) & { errors?: unknown };
    };
  };
  const isValid = new Ajv2020({}).compile(readJson(join(folder, "vector.schema.json")));
  const vectors = readVectors(folder);
  for (const vector of vectors)
    assert.ok(isValid(vector), `${vector.name}: ${JSON.stringify(isValid.errors)}`);
  const names = readdirSync(join(folder, "vectors")).toSorted();
  assert.deepEqual(vectors.map(({ name }) => `${name}.json`).toSorted(), names);
  assert.equal(vectors.length, 334);
  assert.equal(isValid({ ...vectors[0], advice: "guess" }), false);
});

test("every vector of the archive runs green, as its README says", async (context) => {
  const folder = unpacked(context);
  const outcomes = readJson(join(folder, "outcomes.json")) as Record<string, Outcome>;
  const deviations = readJson(join(folder, "deviations.json")) as Record<string, unknown>;
  for (const vector of readVectors(folder)) {
    const { name, advice, expectedLines, oddity } = vector;
    const { lines, error } = await runVector(vector);
    const own = outcomes[name];
    if (advice === "match" && expectedLines !== undefined)
      assert.deepEqual(lines, expectedLines, name);
    else {
      assert.ok(own !== undefined, `${name} has an outcome`);
      assert.deepEqual(lines, own.lines, name);
      assert.equal(error === undefined, own.error === undefined, name);
    }
    if (advice === "deviate")
      assert.ok(oddity !== undefined && oddity in deviations, `${name}: ${oddity}`);
  }
});
