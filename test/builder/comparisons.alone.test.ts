import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { ComparedLists } from "../support/compared-lists.ts";
import { controlGroup } from "../support/control-group.ts";

const isNightly = process.env["NIGHTLY"] === "1";
/** About 0.45 of the lines are rules of the list: one million, and five million at night. */
const LINES = isNightly ? 10_500_000 : 2_100_000;
const LIMIT = (isNightly ? 1024 : 448) * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

/** Runs commands in a group with little memory, in which the kernel ends a process that needs more. */
async function limited(
  context: TestContext,
  name: string,
  use: (lists: ComparedLists, run: (command: readonly string[]) => string) => void,
): Promise<void> {
  const group = controlGroup(name, LIMIT);
  if (group === undefined) {
    context.skip("NO CONTROL GROUP: root and a memory controller are needed");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "comparisons-"));
  const lists = await ComparedLists.start(folder, LINES);
  try {
    use(lists, (command) => {
      const [program = "", ...words] = group.enter(command);
      const { status, signal, stdout, stderr } = spawnSync(program, words, {
        encoding: "utf8",
        maxBuffer: 1 << 28,
      });
      const what = `${command.slice(2, 5).join(" ")} in ${LIMIT / MEGABYTE} MB: ${signal ?? ""}`;
      assert.equal(status, 0, `${what} ${stderr.slice(-2000)}`);
      return stdout;
    });
  } finally {
    lists.stop();
    rmSync(folder, { recursive: true });
    group.remove();
  }
}

test("plan, diff, prove, log, rollback and the proof of a build keep within a container's memory", async (context) => {
  await limited(context, "comparisons", (lists, run) => {
    run(lists.command("compile", "-q"));
    lists.change(1);
    assert.match(run(lists.command("plan")), /newly blocked: \d names/);
    run(lists.command("compile", "-q"));
    assert.match(run(lists.command("diff", "@1", "@0")), /newly blocked: \d names/);
    assert.match(run(lists.command("prove")), /^home {2}proved/);
    assert.match(run(lists.command("log", "--markdown")), /new-1\.example\.com/);
    run(lists.command("rollback", "-q"));
    lists.change(2);
    run(lists.command("compile", "-q", "--permit", "hooks"));
    assert.match(run(lists.command("prove")), /^home {2}proved/);
  });
});

test("five tiers that cover each other keep within a container's memory", async (context) => {
  await limited(context, "covers", (lists, run) => {
    lists.writeTiers();
    run(lists.tiers("covers"));
  });
});
