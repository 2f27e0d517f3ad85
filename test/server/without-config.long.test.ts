import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";
import { Served } from "../support/served.ts";

test("a server without a configuration says so, and compiles as soon as there is one", async (context) => {
  const served = new Served(context, ["||a.example^"]);
  const file = join(served.folder, "compiler-config.json");
  const config = readFileSync(file, "utf8");
  rmSync(file);
  // As in the container: the folder is known, the file is not.
  served.begin("-c", served.folder);
  const waiting = await served.event("waiting");
  assert.equal(waiting["level"], "error");
  assert.equal(waiting["message"], `Configuration file not found: ${file}`);
  served.port = waiting["port"] as number;
  for (const path of ["/health", "/", "/rules/my-list.txt"]) {
    const answer = await fetch(served.url(path));
    assert.equal(answer.status, 503);
    const { status, reason, lastProblem } = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual([status, reason], ["unhealthy", waiting["message"]]);
    assert.equal((lastProblem as { code: string }).code, "config-not-found");
  }
  served.child.kill("SIGHUP");
  // Half a file is another reason to wait.
  writeFileSync(join(served.folder, "compiler-config.yaml"), "name: My list\n");
  assert.equal((await served.event("waiting", 2))["message"], "sources is required");
  // JSON is YAML, too.
  writeFileSync(join(served.folder, "compiler-config.yaml"), config);
  assert.equal((await served.event("run-ended"))["outcome"], "published");
  assert.equal((await fetch(served.url("/health"))).status, 200);
  assert.match(await (await fetch(served.url("/rules/my-list.txt"))).text(), /a\.example/);
  assert.equal(served.events.filter(({ event }) => event === "waiting").length, 2);
  assert.equal(await served.stop(), 0);
});

test("a server that waits for a configuration can be stopped, and an invalid one still ends it", async (context) => {
  const served = new Served(context, ["||a.example^"]);
  const file = join(served.folder, "compiler-config.json");
  rmSync(file);
  served.begin();
  await served.event("waiting");
  assert.equal(await served.stop(), 0);
  writeFileSync(file, "{");
  const { exit, stderr } = await runProgram(["serve"], { cwd: served.folder });
  assert.equal(exit, 2, stderr);
});
