import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";

const FAKE = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

test("copies of a required source are used for its time with any clock", async () => {
  const folder = mkdtempSync(join(tmpdir(), "clock-"));
  let isGood = true;
  let onRequest: (() => void) | undefined;
  const server = createServer((_, response) => {
    onRequest?.();
    if (isGood) response.end("||good.example^\n");
    else setTimeout(() => response.writeHead(404).end(), 300);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/l.txt`;
  const config = {
    name: "n",
    sources: [
      { source, name: "s", type: "adblock", allow_private: true, required: true, max_stale: "7d" },
    ],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const clock = join(folder, "clock");
  const run = (offset: string): ReturnType<typeof runProgram> => {
    writeFileSync(clock, offset);
    return runProgram(["-q", "-c", "c.json", "-o", "l.txt", "--cache-dir", "cache"], {
      cwd: folder,
      env: {
        ...process.env,
        LD_PRELOAD: FAKE,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        // Timers go on as they are.
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        // The lock and the time of files are of the real clock.
        NO_FAKE_STAT: "1",
      },
    });
  };
  try {
    assert.equal((await run("+0d")).exit, 0);
    isGood = false;
    for (const [offset, exit] of [
      ["+6d", 0],
      ["+8d", 4],
      ["-10y", 0],
      ["+6d", 0],
    ] as const) {
      const ended = await run(offset);
      assert.equal(ended.exit, exit, `${offset}: ${ended.stderr}`);
      if (exit === 4) assert.match(ended.stderr, /error\[copy-too-old\]/);
      else
        assert.match(
          readFileSync(join(folder, "l.txt"), "utf8"),
          /! Using cached copy from \d{4}-/,
        );
    }
    // While the source is being asked, the clock goes from now to next week and beyond.
    onRequest = () => writeFileSync(clock, "+8d");
    const jumped = await run("+0d");
    assert.equal(jumped.exit, 4, jumped.stderr);
    assert.match(jumped.stderr, /error\[copy-too-old\].*/);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
