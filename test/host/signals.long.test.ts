import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { PROGRAM, runProgram } from "../support/command.ts";

/** A configuration whose compile never ends and never lets the event loop turn. */
function blockingProject(context: TestContext, work: string): string {
  const folder = mkdtempSync(join(tmpdir(), "signals-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const config = {
    name: "n",
    plugins: ["own.mjs"],
    sources: [{ name: "a", source: "a.txt", type: "adblock" }],
    transformations: ["Own"],
  };
  writeFileSync(join(folder, "compiler-config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "a.txt"), "||a.example^\n");
  const rule = `() => { process.stdout.write("computing"); ${work} }`;
  writeFileSync(
    join(folder, "own.mjs"),
    `export default { transformations: { Own: { summary: "x", rule: ${rule} } } };`,
  );
  return folder;
}

/** Sends the signal when the program computes, and returns how it ended and how long that took. */
async function ended(
  context: TestContext,
  folder: string,
  signal: NodeJS.Signals,
  words: readonly string[],
): Promise<{ exit: number | string; ms: number; stderr: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...words, "--permit", "plugins", "--no-cache"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  context.after(() => child.kill("SIGKILL"));
  let stderr = "";
  let sent = 0;
  child.stderr.on("data", (data: Uint8Array) => (stderr += String(data)));
  child.stdout.once("data", () => {
    // As a person would: some time after it began to hang.
    setTimeout(() => {
      sent = performance.now();
      child.kill(signal);
    }, 300);
  });
  return await new Promise((resolve) => {
    child.on("close", (code, by) =>
      resolve({ exit: by ?? code ?? -1, ms: performance.now() - sent, stderr }),
    );
  });
}

for (const [signal, exit, what, work] of [
  ["SIGINT", 130, "a loop", "for (;;);"],
  [
    "SIGTERM",
    143,
    "a regular expression",
    'return /^(a+)+$/.test("a".repeat(80) + "!") ? "" : "";',
  ],
  ["SIGTERM", 143, "waiting", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);"],
] as const)
  test(
    `${signal} ends a run that is blocked by ${what}, and the next run gets the lock`,
    { timeout: 300_000 },
    async (context) => {
      const folder = blockingProject(context, work);
      const end = await ended(context, folder, signal, ["-o", "out.txt"]);
      context.diagnostic(`ended after ${end.ms.toFixed(0)} ms`);
      assert.equal(end.exit, exit, end.stderr);
      assert.match(
        end.stderr,
        /error\[interrupted\]: Interrupted by a signal; nothing was written\n/,
      );
      assert.doesNotMatch(end.stderr, /debugger/i);
      assert.ok(end.ms < 3000, `${end.ms} ms`);
      assert.ok(!existsSync(join(folder, "out.txt")));
      writeFileSync(
        join(folder, "own.mjs"),
        'export default { transformations: { Own: { summary: "x", rule: (text) => text } } };',
      );
      const next = await runProgram(["-o", "out.txt", "--permit", "plugins", "--no-cache"], {
        cwd: folder,
      });
      assert.equal(next.exit, 0, next.stderr);
    },
  );

test(
  "the message of an interrupted run is JSON with --json",
  { timeout: 300_000 },
  async (context) => {
    const folder = blockingProject(context, "for (;;);");
    const { stderr, exit } = await ended(context, folder, "SIGTERM", ["-o", "out.txt", "--json"]);
    assert.equal(exit, 143);
    const last = JSON.parse(stderr.trim().split("\n").at(-1)!) as { code: string };
    assert.equal(last.code, "interrupted");
  },
);
