import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import { type Host, HostError, memoryHost } from "../support/internals.ts";

/** 400,000 rules: more than fits into the least memory. */
const LIST = Array.from({ length: 400_000 }, (_, index) => `||n${index}.example.org^\n`).join("");

function noSpace(): never {
  throw new HostError("ENOSPC", "no space left");
}

test("the temporary space that a run needs is reported beforehand, with a warning if too little is free", async () => {
  const files = { "list.txt": LIST };
  for (const [free, words] of [
    [Infinity, /^needs about \d[\d.]* MB of temporary space in \/tmp$/m],
    [1000, /needs about .*; only 1\.0 kB free/],
  ] as const) {
    const host = memoryHost({ files });
    const small: Host = { ...host, scratchSpace: async () => ({ folder: "/tmp", free }) };
    const args = ["-i", "list.txt", "-o", "out.txt", "--memory", "1M"];
    assert.equal(await run(args, small, new AbortController().signal), Exit.Done);
    assert.match(host.output.stderr, words);
  }
});

test("a temporary folder that fails exits with code 6 and leaves the old list unchanged", async () => {
  const host = memoryHost({ files: { "list.txt": LIST, "out.txt": "old" } });
  const broken: Host = { ...host, openScratch: () => ({ ...host.openScratch(), append: noSpace }) };
  const args = ["-i", "list.txt", "-o", "out.txt", "--memory", "1M"];
  assert.equal(await run(args, broken, new AbortController().signal), Exit.Output);
  assert.match(host.output.stderr, /Cannot write to the temporary folder/);
  assert.deepEqual([...host.files.keys()], ["/project/list.txt", "/project/out.txt"]);
  assert.equal(new TextDecoder().decode(host.files.get("/project/out.txt")), "old");
});

test("an invalid memory size is refused", async () => {
  for (const size of ["x", "0", "-1", "12Q"]) {
    const host = memoryHost();
    assert.equal(await run(["--memory", size], host, new AbortController().signal), Exit.Usage);
    assert.match(host.output.stderr, /--memory must be a size, not .*\n.*Such as: --memory 256M/);
  }
});
