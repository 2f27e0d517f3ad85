import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { blocksOf, follow } from "../support/markdown.ts";
import { startInternet } from "../support/resolvers/internet.ts";
import { freePort } from "../support/resolvers/servers.ts";

const GUIDE = join(import.meta.dirname, "../../docs/guide/prove.md");

test("the guide about prove works with a real dnsmasq, as it is written", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "prove-guide-"));
  const internet = await startInternet();
  const port = await freePort();
  // The service of the system, in this folder.
  const bin = join(folder, "bin");
  const PATH = `${bin}:${process.env["PATH"]}`;
  mkdirSync(bin);
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  program("sudo", 'exec "$@"');
  program(
    "stop",
    "if [ -f pid ]; then p=$(cat pid); kill $p; while kill -0 $p 2>/dev/null; do sleep 0.05; done; rm -f pid; fi",
  );
  program(
    "systemctl",
    '[ "$*" = "restart dnsmasq" ] || exit 1; stop; exec dnsmasq -C dnsmasq.conf --no-hosts --user=root --pid-file="$PWD/pid"',
  );
  const bash = async (script: string): Promise<{ code: number | null; said: string }> => {
    const prelude = `rules-compiler() { '${process.execPath}' '${PROGRAM}' "$@"; }\n`;
    const child = spawn("bash", ["-c", prelude + script], {
      cwd: folder,
      env: { ...process.env, PATH, CI: "true", XDG_CACHE_HOME: join(folder, ".cache") },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Uint8Array) => (said += new TextDecoder().decode(piece)));
    return { code: await new Promise((ended) => child.on("close", ended)), said };
  };
  context.after(async () => {
    await bash("stop");
    internet.close();
    rmSync(folder, { recursive: true });
  });
  const here = (text: string): string =>
    text.replaceAll("5353", String(port)).replaceAll("9.9.9.9", `127.0.0.1#${internet.port}`);
  const shown = await follow(blocksOf(readFileSync(GUIDE, "utf8")), {
    write: (title, text) => writeFileSync(join(folder, title), here(text)),
    run: async (script) => await bash(here(script)),
  });
  assert.ok(shown >= 12, String(shown));
});
