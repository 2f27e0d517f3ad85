import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { writeSynthetic } from "../../bench/synthetic.ts";

const LIMIT = 300 * 1024 * 1024;
const root = join(import.meta.dirname, "../..");

/** Files of the two versions of control groups: where the limit is set, and where a process enters. */
const VERSIONS = [
  {
    folder: "/sys/fs/cgroup/memory/rules-compiler-test",
    limit: "memory.limit_in_bytes",
    enter: "tasks",
  },
  { folder: "/sys/fs/cgroup/rules-compiler-test", limit: "memory.max", enter: "cgroup.procs" },
];

/** A group with a limit, where this user may make one. */
function makeGroup(): { folder: string; enter: string } | undefined {
  for (const { folder, limit, enter } of VERSIONS) {
    try {
      if (!existsSync(folder)) mkdirSync(folder);
      if (!existsSync(join(folder, limit))) continue;
      writeFileSync(join(folder, limit), String(LIMIT));
      return { folder, enter: join(folder, enter) };
    } catch {
      continue;
    }
  }
  return undefined;
}

test("a container's limit is respected without a word about memory", (context) => {
  const group = makeGroup();
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
    const enter = `echo $$ > ${group.enter}; exec "$@"`;
    const command = [process.execPath, ...args, join(folder, "limited.txt")];
    const limited = spawnSync("bash", ["-c", enter, "_", ...command]);
    assert.equal(limited.status, 0, String(limited.stderr));
    assert.match(String(limited.stderr), /^needs about \d/m);
    const [first, second] = ["free.txt", "limited.txt"].map((file) =>
      readFileSync(join(folder, file), "utf8").replace(/^! Last modified: .*$/m, ""),
    );
    assert.ok(first === second, "the same list");
  } finally {
    rmSync(folder, { recursive: true });
    rmdirSync(group.folder);
  }
});
