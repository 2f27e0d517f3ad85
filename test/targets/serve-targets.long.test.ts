import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Served } from "../support/served.ts";

const CONFIG = {
  name: "My list",
  sources: [{ name: "a", source: "a.txt", type: "adblock" }],
  publish: [{ git: { remote: "lists.git", branch: "lists" } }],
};

test("serve copies after each run, and a target that fails does not undo the list", async (t) => {
  const served = new Served(t, ["||one.example^", "||two.example^"]);
  writeFileSync(join(served.folder, "compiler-config.json"), JSON.stringify(CONFIG));
  await served.start("--publish");
  const failed = await served.event("run-ended");
  assert.equal(failed["outcome"], "published");
  assert.equal(failed["exit"], 13);
  const problem = served.events.find(({ code }) => code === "target-failed");
  assert.equal(problem?.["level"], "error");
  const list = await fetch(served.url("/rules/my-list.txt"));
  assert.match(await list.text(), /\|\|one\.example\^/);
  const git = (...words: string[]): string =>
    execFileSync("git", words, { cwd: served.folder, encoding: "utf8" });
  git("init", "--quiet", "--bare", "lists.git");
  await fetch(served.url("/compile"), { method: "POST" });
  const ended = await served.event("run-ended", 2);
  assert.equal(ended["outcome"], "unchanged");
  assert.equal(ended["exit"], 0);
  assert.match(git("-C", "lists.git", "show", "lists:my-list.txt"), /\|\|two\.example\^/);
});
