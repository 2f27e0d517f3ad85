import type { Health } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { PROGRAM } from "../support/command.ts";
import { startInternet } from "../support/resolvers/internet.ts";
import { freeTcpPort, reloadables } from "../support/resolvers/reloadable.ts";
import { freePort } from "../support/resolvers/servers.ts";

/** The server notices within half a minute that a run by request was not good, and repeats it a minute later. */
const PATIENCE_MS = 180_000;

function listOf(from: number): string {
  return Array.from({ length: 50 }, (_, index) => `||n${from + index}.site.org^\n`).join("");
}

test(
  "serve publishes, reloads and proves a real dnsmasq; a retry recovers it",
  { timeout: 600_000 },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "serve-prove-"));
    // dnsmasq goes on as another user.
    chmodSync(folder, 0o755);
    const internet = await startInternet();
    const [port, web] = [await freePort(), await freeTcpPort()];
    const list = join(folder, "artifact");
    const kind = reloadables.get("dnsmasq")!;
    const setting = { folder, port, upstream: internet.port, list, allow: "" };
    const { words, hooks } = kind.set(setting, 0);
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      outputs: [{ format: kind.format, file: "artifact" }],
      after: hooks,
      resolvers: [{ name: "home <b>", address: `127.0.0.1:${port}` }],
    };
    writeFileSync(join(folder, "c.json"), JSON.stringify(config));
    writeFileSync(join(folder, "own.txt"), listOf(0));
    writeFileSync(list, "");
    const [program, ...rest] = words;
    const dnsmasq = spawn(program!, rest, { cwd: folder, stdio: "ignore" });
    // No scheduled run may come before the retry.
    const minute = (new Date().getMinutes() + 30) % 60;
    const flags = [
      "-c",
      "c.json",
      "--permit",
      "hooks",
      "--wait",
      "2s",
      "--schedule",
      `0 ${minute} * * * *`,
      "--port",
      String(web),
    ];
    const server = spawn(process.execPath, [PROGRAM, "serve", ...flags], {
      cwd: folder,
      env: { ...process.env, RULES_DIR: folder, XDG_CACHE_HOME: join(folder, ".cache") },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    server.stderr.on("data", (piece: Uint8Array) => (log = (log + String(piece)).slice(-5000)));
    context.after(async () => {
      for (const child of [server, dnsmasq]) {
        const ended = new Promise((closed) => child.on("close", closed));
        child.kill("SIGTERM");
        await ended;
      }
      internet.close();
      rmSync(folder, { recursive: true });
    });
    const text = async (path: string): Promise<string> =>
      await (await fetch(`http://127.0.0.1:${web}${path}`)).text();
    const until = async (outcome: string): Promise<Health> => {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
        const health = await text("/health").then(
          (body) => JSON.parse(body) as Health,
          () => undefined,
        );
        if (health?.running === false && health.resolvers[0]?.outcome === outcome) return health;
        await new Promise((later) => setTimeout(later, 100));
      }
      assert.fail(`not ${outcome}: ${await text("/health").catch(String)}\n${log}`);
    };
    assert.equal((await until("proved")).status, "healthy", log);
    assert.match(await text("/metrics"), /resolver_proved\{resolver="home <b>",list="List"\} 1/);
    // Its PID file is gone, so the reload fails.
    const pid = join(folder, "dnsmasq.pid");
    renameSync(pid, `${pid}.away`);
    writeFileSync(join(folder, "own.txt"), listOf(10));
    const header = join(folder, `.cache/rules-compiler/serve-${web}.header`);
    const authorization = readFileSync(header, "utf8").trim().split(": ")[1]!;
    const request = { method: "POST", headers: { authorization } };
    assert.equal((await fetch(`http://127.0.0.1:${web}/compile`, request)).status, 202);
    const stale = await until("stale");
    assert.equal(stale.isHealthy, true);
    assert.equal((await fetch(`http://127.0.0.1:${web}/health`)).status, 200);
    assert.match(stale.reason, /resolvers that are not proved: home <b> \(stale\)/);
    assert.match(await text("/metrics"), /resolver_outcome\{[^}]*outcome="stale"\} 1/);
    assert.match(await text("/"), /home &lt;b&gt;[^]*class="bad">stale</);
    renameSync(`${pid}.away`, pid);
    const proved = await until("proved");
    assert.notEqual(proved.resolvers[0]!.build, stale.resolvers[0]!.lastProved!.build);
    assert.match(await text("/"), /data-name="Started by">retry</);
  },
);
