import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { DiskProject } from "../support/disk-project.ts";

/** `script` of util-linux runs a program in a pseudo terminal, which turns the byte of Ctrl+C into a signal. */
const skip = process.platform !== "linux" || !existsSync("/usr/bin/script");
const CTRL_C = "\u0003";

for (const { question, answers } of [
  { question: "Name of the list [My list]: ", answers: "" },
  { question: "separated by spaces [1]: ", answers: "Mine\n" },
])
  test(`Ctrl+C at "${question}" ends init at once`, { skip }, async (context) => {
    const { folder } = new DiskProject(context);
    const words = `'${process.execPath}' '${PROGRAM}' init`;
    const child = spawn("/usr/bin/script", ["-qec", words, "/dev/null"], { cwd: folder });
    context.after(() => child.kill("SIGKILL"));
    let shown = "";
    let stopped: number | undefined;
    child.stdin.write(answers);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      if (stopped !== undefined || !shown.includes(question)) return;
      stopped = performance.now();
      child.stdin.write(CTRL_C);
    });
    const [exit] = (await once(child, "exit")) as [number];
    assert.equal(exit, 130, shown);
    assert.match(shown, /Interrupted by a signal; nothing was written/);
    // A thread that watches signals would end it after 1.5 seconds.
    assert.ok(performance.now() - stopped! < 1000, `${performance.now() - stopped!} ms`);
    assert.ok(!existsSync(join(folder, "compiler-config.yaml")));
  });
