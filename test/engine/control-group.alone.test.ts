import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { writeSynthetic } from "../../bench/synthetic.ts";
import { controlGroup } from "../support/control-group.ts";

const LIMIT = 300 * 1024 * 1024;
const root = join(import.meta.dirname, "../..");

test("a container's memory limit is respected without --memory", (context) => {
  const group = controlGroup("limit", LIMIT);
  if (group === undefined) {
    context.skip("NO CONTROL GROUP: root and a memory controller are needed");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "group-"));
  try {
    const list = join(folder, "list.txt");
    writeSynthetic(list, 4_000_000);
    const args = [join(root, "src/cli/bin.ts"), "-i", list, "-o"];
    const free = spawnSync(process.execPath, [...args, join(folder, "free.txt")]);
    assert.equal(free.status, 0, String(free.stderr));
    assert.doesNotMatch(String(free.stderr), /needs about/);
    const command = [process.execPath, ...args, join(folder, "limited.txt")];
    const [program = "", ...words] = group.enter(command);
    const limited = spawnSync(program, words);
    assert.equal(limited.status, 0, String(limited.stderr));
    assert.match(String(limited.stderr), /^needs about \d/m);
    const [first, second] = ["free.txt", "limited.txt"].map((file) =>
      readFileSync(join(folder, file), "utf8").replace(/^! Last modified: .*$/m, ""),
    );
    assert.ok(first === second, "the same list");
  } finally {
    rmSync(folder, { recursive: true });
    group.remove();
  }
});
