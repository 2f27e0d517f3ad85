import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { controlGroup } from "../support/control-group.ts";
import { hostileServer } from "../support/hostile-server.ts";

const LIMIT = 512 * 1024 * 1024;

test("one of twenty sources misbehaves in every way at every point without affecting the others, in 512 MiB and in time", async (context) => {
  const group = controlGroup("hostile", LIMIT);
  if (group === undefined) context.diagnostic("NO CONTROL GROUP: memory is only measured");
  const server = await hostileServer();
  try {
    const runs = join(import.meta.dirname, "../support/hostile-runs.ts");
    const command = [process.execPath, runs, server.base];
    const [program = "", ...args] = group?.enter(command) ?? command;
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (data: Uint8Array) => (said += String(data)));
    const code = await new Promise((ended) =>
      child.on("close", (exit, signal) => ended(signal ?? exit)),
    );
    assert.equal(code, 0, "killed for its memory");
    const outcome = JSON.parse(said) as {
      runs: number;
      misbehaviours: number;
      accepted: string[];
      peakMegabytes: number;
      problems: string[];
    };
    const { problems, ...figures } = outcome;
    context.diagnostic(JSON.stringify(figures));
    assert.deepEqual(problems.slice(0, 10), []);
    assert.ok(outcome.misbehaviours >= 40 && outcome.runs === outcome.misbehaviours * 20);
    assert.deepEqual(outcome.accepted, []);
    assert.ok(outcome.peakMegabytes <= 512, `${outcome.peakMegabytes} MB`);
  } finally {
    server.close();
    group?.remove();
  }
});
