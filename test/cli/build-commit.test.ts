import assert from "node:assert/strict";
import { test } from "node:test";
import { buildCommit } from "../../src/cli/version.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const MODULE = "file:///p/dist/cli/build-commit.js";

const CASES: readonly (readonly [string, Record<string, string>, string | undefined])[] = [
  ["a release", {}, undefined],
  ["a package", { "/p/dist/commit": `${COMMIT}\n` }, "0123456789"],
  ["a checkout", { "/p/.git/HEAD": `${COMMIT}\n` }, "0123456789"],
  [
    "a branch",
    { "/p/.git/HEAD": "ref: refs/heads/main\n", "/p/.git/refs/heads/main": `${COMMIT}\n` },
    "0123456789",
  ],
  [
    "a packed branch",
    {
      "/p/.git/HEAD": "ref: refs/heads/main\n",
      "/p/.git/packed-refs": `${COMMIT} refs/heads/main\n`,
    },
    "0123456789",
  ],
  ["a damaged file", { "/p/.git/HEAD": "x\u001b[31m" }, undefined],
];

for (const [name, files, expected] of CASES)
  test(`--version names the commit of ${name}: ${expected ?? "none"}`, () => {
    assert.equal(
      buildCommit(MODULE, (path) => files[path]),
      expected,
    );
  });

test("a program that was loaded from the network names no commit", () => {
  assert.equal(
    buildCommit("https://p/cli/x.ts", () => COMMIT),
    undefined,
  );
});
