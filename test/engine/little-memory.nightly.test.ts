import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { PROGRAM } from "../support/command.ts";
import { controlGroup } from "../support/control-group.ts";

const LIMIT = 640 * 1024 * 1024;
const group = process.getuid?.() === 0 ? controlGroup("little-memory", LIMIT) : undefined;

test(
  "a source that fills a tmpfs does not end a run in a container",
  { skip: group === undefined && "needs root and control groups", timeout: 180_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "little-"));
    mkdirSync(join(folder, "tmp"));
    const lines = Array.from({ length: 1_600_000 }, (_, index) => `||n${index}.bad.test^`);
    const body = gzipSync(`${lines.join("\n")}\n`, { level: 1 });
    const includes = Array.from({ length: 60 }, (_, index) => `!#include ${index}.txt\n`).join("");
    const server = createServer((request, response) => {
      if (request.url === "/evil.txt") response.end(includes);
      else if (request.url === "/good.txt") response.end("||good.test^\n");
      else response.writeHead(200, { "content-encoding": "gzip" }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    context.after(() => {
      server.close();
      server.closeAllConnections();
      group!.remove();
      rmSync(folder, { recursive: true, force: true });
    });
    const sources = [
      { source: `${base}/evil.txt`, allow_private: true, required: false },
      { source: `${base}/good.txt`, allow_private: true },
    ];
    writeFileSync(join(folder, "c.json"), JSON.stringify({ name: "n", sources }));
    const mounted = `mount -t tmpfs -o size=4g none '${join(folder, "tmp")}'; exec "$@"`;
    const words = [
      process.execPath,
      PROGRAM,
      "-c",
      "c.json",
      "-o",
      "l.txt",
      "--cache-dir",
      "cache",
    ];
    const [command = "", ...args] = group!.enter([
      "unshare",
      "-m",
      "bash",
      "-c",
      mounted,
      "_",
      ...words,
    ]);
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, TMPDIR: join(folder, "tmp") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (data: Uint8Array) => (said += String(data)));
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 0, said);
    assert.match(said, /all downloads together may put \d+ bytes into the temporary folder/);
    assert.match(readFileSync(join(folder, "l.txt"), "utf8"), /\|\|good\.test\^/);
  },
);
