import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Exit } from "../../src/diagnostics/exit.ts";
import { type Host, HostError } from "../../src/index.ts";
import { memoryHost } from "../support/memory-host.ts";

/** 400,000 rules: more than fits into the least memory. */
const LIST = Array.from({ length: 400_000 }, (_, index) => `||n${index}.example.org^\n`).join("");

function noSpace(): never {
  throw new HostError("ENOSPC", "no space left");
}

test("what does not fit into memory is said beforehand, with the room that there is for it", async () => {
  const files = { "list.txt": LIST };
  for (const [free, words] of [
    [Infinity, /^needs about \d[\d.]* MB in \/tmp for what does not fit into memory$/m],
    [1000, /needs about .*; only 1\.0 kB are free/],
  ] as const) {
    const host = memoryHost({ files });
    const small: Host = { ...host, scratchSpace: async () => ({ folder: "/tmp", free }) };
    const args = ["-i", "list.txt", "-o", "out.txt", "--memory", "1M"];
    assert.equal(await run(args, small, new AbortController().signal), Exit.Done);
    assert.match(host.output.stderr, words);
  }
});

test("a temporary folder that fails ends in 6 and leaves the old list alone", async () => {
  const host = memoryHost({ files: { "list.txt": LIST, "out.txt": "old" } });
  const broken: Host = { ...host, openScratch: () => ({ ...host.openScratch(), append: noSpace }) };
  const args = ["-i", "list.txt", "-o", "out.txt", "--memory", "1M"];
  assert.equal(await run(args, broken, new AbortController().signal), Exit.Output);
  assert.match(host.output.stderr, /Cannot put aside what does not fit into memory/);
  assert.deepEqual([...host.files.keys()], ["/project/list.txt", "/project/out.txt"]);
  assert.equal(new TextDecoder().decode(host.files.get("/project/out.txt")), "old");
});

test("a size of memory that is none is refused", async () => {
  for (const size of ["x", "0", "-1", "12Q"]) {
    const host = memoryHost();
    assert.equal(await run(["--memory", size], host, new AbortController().signal), Exit.Usage);
    assert.match(host.output.stderr, /--memory must be a size such as 256M/);
  }
});
