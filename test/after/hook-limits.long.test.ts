import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { HookProject, script } from "../support/hook-project.ts";

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie has ended.
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const end = Date.now() + 5000;
  while (!isTrue()) {
    assert.ok(Date.now() < end, what);
    await new Promise((later) => setTimeout(later, 20));
  }
}

test("a program that hangs is ended with everything it started", async (t) => {
  // Both ignore the request to end.
  const hang =
    "trap '' TERM; echo $$ >> pids; sh -c 'echo $$ >> pids; exec sleep 100' & exec sleep 100";
  const project = new HookProject(t, [{ run: ["sh", "-c", hang], timeout: "1s" }]);
  const began = Date.now();
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 0);
  assert.match(stderr, /because: ended after 1 s/);
  assert.ok(Date.now() - began < 6000);
  const pids = project.text("pids").trim().split("\n").map(Number);
  assert.equal(pids.length, 2);
  await until("both processes have ended", () => !pids.some(isAlive));
});

test("a program that leaves a process behind does not hold up the run", async (t) => {
  const leave = script(
    `const child = require("child_process").spawn(process.execPath, ["-e", "setTimeout(() => {}, 8000)"], { stdio: "inherit" });
     require("fs").writeFileSync("pid", String(child.pid)); child.unref(); process.exit(0);`,
  );
  const project = new HookProject(t, [{ run: leave }]);
  const began = Date.now();
  const { stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.match(stderr, /hook-ran/);
  assert.ok(Date.now() - began < 6000);
  process.kill(Number(project.text("pid")), "SIGKILL");
});

test("a signal ends the program that runs", async (t) => {
  const slow = script(
    `require("fs").writeFileSync("pid", String(process.pid)); setInterval(() => {}, 1000);`,
  );
  const project = new HookProject(t, [
    { run: slow },
    { run: script(`require("fs").writeFileSync("said", "")`) },
  ]);
  const stop = new AbortController();
  const running = project.runUntil(stop.signal, "-c", "c.json", "--permit", "hooks");
  await until("the hook runs", () => existsSync(join(project.folder, "pid")));
  await until("its number is written", () => project.text("pid") !== "");
  stop.abort();
  await running;
  const pid = Number(project.text("pid"));
  await until("the program has ended", () => !isAlive(pid));
  assert.ok(!project.has("said"));
});

test("a huge output is cut, and its control characters are escaped", async (t) => {
  const loud = script(
    `const piece = "\\u001b[31m" + "x".repeat(65_000) + "\\u0007\\r\\n";
     for (let i = 0; i < 300; i++) require("fs").writeSync(1, piece);
     require("fs").writeSync(2, "the \\u001b]0;title\\u0007 end\\n"); process.exit(1);`,
  );
  const project = new HookProject(t, [{ run: loud }]);
  const { stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.match(stderr, /the \\u\{1b\}\]0;title\\u\{7\} end \(the end of \d{8} bytes\)/);
  assert.doesNotMatch(stderr, /[\u001b\u0007]/);
  assert.ok(stderr.length < 3000, String(stderr.length));
});
