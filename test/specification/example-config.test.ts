import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";

const root = join(import.meta.dirname, "../..");

test("a clone has a configuration for its folder and one for the container, which compile without a network", async (context) => {
  const rules = mkdtempSync(join(tmpdir(), "example-"));
  context.after(() => rmSync(rules, { recursive: true }));
  for (const words of [[], ["-c", "config"]]) {
    const options = { cwd: root, env: { ...process.env, RULES_DIR: rules } };
    const all = [...words, "--offline", "--no-cache", "--strict"];
    const { exit, stderr } = await runProgram(["compile", ...all], options);
    assert.equal(exit, 0, stderr);
    assert.doesNotMatch(stderr, /warning/);
    const list = readFileSync(join(rules, "my-list.txt"), "utf8");
    assert.match(list, /^\|\|ads\.example\.com\^$/m);
    rmSync(join(rules, "my-list.txt"));
  }
  const [one, other] = ["", "config"].map((folder) => {
    const text = readFileSync(join(root, folder, "compiler-config.json"), "utf8");
    return text.replace("config/own-rules.txt", "own-rules.txt");
  });
  assert.equal(one, other, "the two differ only in the path");
});
