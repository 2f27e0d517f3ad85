import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { runProgram } from "../support/command.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import {
  type Reloadable,
  freeTcpPort,
  reloadables,
  writeSystemctl,
} from "../support/resolvers/reloadable.ts";
import { freePort } from "../support/resolvers/servers.ts";

const PATIENCE_MS = 120_000;
/** How long a resolver must not notice a list by itself. */
const STABLE_MS = 1500;
const UNITS: Readonly<Record<string, string>> = {
  "Knot Resolver 5": "kresd@*",
  smartdns: "smartdns",
};

/** A resolver that reads the list of a folder, and the real command that publishes there. */
class Loop {
  readonly folder: string = mkdtempSync(join(tmpdir(), "reload-"));
  port = 0;
  private readonly kind: Reloadable;
  private path = process.env["PATH"]!;
  private hooks: object[] = [];
  private child: ChildProcess | undefined;
  private log = "";

  constructor(context: TestContext, kind: Reloadable) {
    this.kind = kind;
    // Some servers go on as another user.
    chmodSync(this.folder, 0o755);
    context.after(async () => {
      await this.stop();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start(upstream: number, unit: string | undefined): Promise<void> {
    this.port = await freePort();
    const list = join(this.folder, "artifact");
    const setting = { folder: this.folder, port: this.port, upstream, list, allow: "" };
    const { words, hooks } = this.kind.set(setting, await freeTcpPort());
    this.hooks = hooks;
    const [program, ...rest] = words;
    if (unit !== undefined) {
      const bin = writeSystemctl(this.folder, unit, words);
      this.path = `${bin}:${this.path}`;
      execFileSync(join(bin, "systemctl"), ["restart", unit]);
      return;
    }
    const child = spawn(program!, rest, { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on(
        "data",
        (piece: Uint8Array) => (this.log = (this.log + String(piece)).slice(-3000)),
      );
  }

  async publish(names: readonly string[], ...more: string[]): Promise<string> {
    const { folder } = this;
    writeFileSync(join(folder, "own.txt"), names.map((name) => `||${name}^\n`).join(""));
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
      outputs: [{ format: this.kind.format, file: "artifact" }],
      after: this.hooks.map((hook) => ({ ...hook, timeout: "120s" })),
    };
    writeFileSync(join(folder, "c.json"), JSON.stringify(config));
    const words = ["-c", "c.json", "--no-cache", ...more];
    const env = { ...process.env, RULES_DIR: folder, PATH: this.path };
    const { exit, stderr } = await runProgram(words, { cwd: folder, env });
    assert.equal(exit, 0, stderr);
    return stderr;
  }

  async answers(names: readonly string[]): Promise<string> {
    const said = await askAll(this.port, names);
    const isPassed = this.kind.failsWhenPassed === true;
    return said.map((one) => (isPassed && one === "failed" ? "passed" : one)).join();
  }

  /** Queries until the answers are as expected. */
  async expect(names: readonly string[], expected: string): Promise<number> {
    const began = Date.now();
    for (;;) {
      const found = await this.answers(names);
      if (found === expected) return Date.now() - began;
      if (this.child !== undefined) assert.equal(this.child.exitCode, null, this.log);
      assert.ok(Date.now() - began < PATIENCE_MS, `${found}, not ${expected}\n${this.log}`);
      await new Promise((later) => setTimeout(later, 50));
    }
  }

  /** Queries for a while, and gets the same answers all the time. */
  async stays(names: readonly string[], expected: string): Promise<void> {
    for (const end = Date.now() + STABLE_MS; Date.now() < end;) {
      assert.equal(await this.answers(names), expected);
      await new Promise((later) => setTimeout(later, 100));
    }
  }

  /** The server does nothing for so long. */
  async pause(ms: number): Promise<void> {
    this.child!.kill("SIGSTOP");
    await new Promise((later) => setTimeout(later, ms));
    this.child!.kill("SIGCONT");
  }

  private async stop(): Promise<void> {
    const file = join(this.folder, "unit.pid");
    if (existsSync(file)) process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
    const { child } = this;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((closed) => child.on("close", closed));
    child.kill("SIGKILL");
    await ended;
  }
}

for (const [name, kind] of reloadables)
  test(`${name} answers from the new list after its hook`, async (t) => {
    const upstream = await startUpstream();
    t.after(() => upstream.close());
    const loop = new Loop(t, kind);
    const asked = ["old.example", "both.example", "new.example"];
    // The server needs a list to start with, and the hook is known only then.
    await loop.publish(asked.slice(0, 2));
    await loop.start(upstream.port, UNITS[name]);
    await loop.expect(asked, "blocked,blocked,passed");
    const first = await loop.publish(asked.slice(0, 2), "--permit", "hooks");
    const isWatched = name.includes("watches");
    if (!isWatched) assert.match(first, /hook-ran/, first);
    await loop.expect(asked, "blocked,blocked,passed");
    // A publish alone is not enough, unless the resolver watches the file.
    await loop.publish(asked.slice(1));
    if (!isWatched) {
      await loop.stays(asked, "blocked,blocked,passed");
      const stderr = await loop.publish(asked.slice(1), "--permit", "hooks");
      assert.match(stderr, /note\[hook-ran\]: Hook ran: reload/, stderr);
    }
    const ms = await loop.expect(asked, "passed,blocked,blocked");
    t.diagnostic(`${name}: ${ms} ms after the hook`);
    const again = await loop.publish(asked.slice(1), "--permit", "hooks");
    assert.doesNotMatch(again, /hook-/, "nothing changed");
  });

test("a reload of PowerDNS Recursor may take longer than its control program waits by itself", async (t) => {
  const upstream = await startUpstream();
  t.after(() => upstream.close());
  const loop = new Loop(t, reloadables.get("PowerDNS Recursor")!);
  const asked = ["old.example", "new.example"];
  await loop.publish(asked.slice(0, 1));
  await loop.start(upstream.port, undefined);
  await loop.expect(asked, "blocked,passed");
  // By itself, the program gives up after five seconds.
  const paused = loop.pause(12_000);
  const stderr = await loop.publish(asked.slice(1), "--permit", "hooks");
  await paused;
  assert.doesNotMatch(stderr, /hook-failed/, stderr);
  assert.match(stderr, /Hook ran: reload powerdns-recursor, published, List, (?:[5-9]|1\d)\.\d s/);
  await loop.expect(asked, "passed,blocked");
});
