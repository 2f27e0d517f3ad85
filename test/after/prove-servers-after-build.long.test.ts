import type { Proof } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { canaryIn } from "../../src/syntax/host-name.ts";
import { DiskProject } from "../support/disk-project.ts";
import { startInternet } from "../support/resolvers/internet.ts";
import {
  type Reloadable,
  freeTcpPort,
  reloadables,
  writeSystemctl,
} from "../support/resolvers/reloadable.ts";
import { freePort } from "../support/resolvers/servers.ts";
import { isNightly } from "../support/nightly.ts";
import { listsIn } from "../support/documents.ts";

/** Real resolvers: publish, reload, prove, in one run; with broken reloads, broken files and stopped servers. */
const UNITS: Readonly<Record<string, string>> = {
  "Knot Resolver 5": "kresd@*",
  smartdns: "smartdns",
};
const CONTROLS = ["unbound-control", "rndc", "rec_control", "dnsdist", "systemctl"];
/** Servers must be able to read what root publishes. */
const AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
/** A list with this name reaches the resolver only in part, while the file `half` exists. */
const BAD_NAME = "bad.site.org";
/**
 * Before the reload, a hook takes the file away from the server: each while `locked` exists, and that of a list with the bad name
 * while `locked-new` exists.
 */
const LOCK_SCRIPT = `if [ -e locked ]; then chmod 000 artifact
elif [ -e locked-new ]; then if grep -q '${BAD_NAME}' artifact; then chmod 000 artifact; else chmod 644 artifact; fi; fi`;
const LOCK = { run: ["sh", "-c", LOCK_SCRIPT] };
/** The gate asks those that people run most. */
const SERVERS = [...reloadables].filter(
  ([name]) => !name.includes("watches") && (isNightly || ["unbound", "dnsmasq"].includes(name)),
);
const counts = { runs: 0, wrong: 0 };

function names(from: number): string[] {
  return Array.from({ length: 300 }, (_, index) => `n${from + index}.site${index % 37}.org`);
}

type Flaw = "failing" | "ignored" | "half" | "locked" | "locked-new";

interface Ended {
  readonly exit: number;
  readonly outcome: string | undefined;
  readonly stderr: string;
}

/** A resolver that reads the list of a folder, and the command that publishes there. */
class Loop {
  readonly project: DiskProject;
  private readonly kind: Reloadable;
  private readonly env: Record<string, string> = {};
  private hooks: object[] = [];
  private words: readonly string[] = [];
  private unit: string | undefined;
  private port = 0;
  private child: ChildProcess | undefined;
  private log = "";

  constructor(context: TestContext, kind: Reloadable) {
    this.kind = kind;
    // Ends the server before the folder is removed.
    this.project = new DiskProject(context, { env: this.env });
    context.after(() => this.stop());
    // The server is another user, as on a system.
    chmodSync(this.project.folder, 0o777);
  }

  private at(name: string): string {
    return join(this.project.folder, name);
  }

  get build(): string {
    return canaryIn(readFileSync(this.at("list.txt"), "utf8"))!;
  }

  async start(upstream: number, unit: string | undefined): Promise<void> {
    const { folder } = this.project;
    this.port = await freePort();
    this.unit = unit;
    const setting = { folder, port: this.port, upstream, list: this.at("artifact"), allow: "" };
    const { words: own, hooks } = this.kind.set(setting, await freeTcpPort());
    const words = [...AS_NOBODY, ...own];
    this.words = words;
    this.hooks = hooks;
    this.env["RULES_DIR"] = folder;
    const path = process.env["PATH"]!;
    const real = unit === undefined ? path : `${writeSystemctl(folder, unit, words)}:${path}`;
    this.env["PATH"] = `${this.writeControls(real)}:${real}`;
  }

  /** Control programs that a test can break: they then fail, or do nothing, or the file is cut before they run. */
  private writeControls(path: string): string {
    const bin = this.at("controls");
    mkdirSync(bin);
    for (const name of CONTROLS) {
      const script = `#!/bin/bash
cd '${this.project.folder}' || exit 1
[ -e failing ] && { echo "connection refused" >&2; exit 1; }
[ -e ignored ] && exit 0
if [ -e half ] && grep -q '${BAD_NAME}' artifact; then head -n 150 artifact > cut && cat cut > artifact; fi
PATH='${path}' exec ${name} "$@"
`;
      writeFileSync(join(bin, name), script);
      chmodSync(join(bin, name), 0o755);
    }
    return bin;
  }

  /** Writes a file that breaks the reload, or removes it. */
  set(flaw: Flaw, isOn: boolean): void {
    if (isOn) writeFileSync(this.at(flaw), "");
    else rmSync(this.at(flaw), { force: true });
    // dnsmasq gets a signal; without its PID file it gets none.
    const [pid, away] = [this.at("dnsmasq.pid"), this.at("dnsmasq.away")];
    // A publish keeps the mode of the file that it replaces.
    const isLock = flaw.startsWith("locked");
    if (isLock && !isOn) chmodSync(this.at("artifact"), 0o644);
    if (flaw === "half" || isLock || !existsSync(isOn ? pid : away)) return;
    if (isOn) renameSync(pid, away);
    else renameSync(away, pid);
  }

  run(): void {
    if (this.unit !== undefined) {
      execFileSync("systemctl", ["restart", this.unit], { env: { ...process.env, ...this.env } });
      return;
    }
    const [program, ...rest] = this.words;
    const child = spawn(program!, rest, {
      cwd: this.project.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on(
        "data",
        (piece: Uint8Array) => (this.log = (this.log + String(piece)).slice(-3000)),
      );
  }

  async restart(): Promise<void> {
    await this.stop();
    this.run();
  }

  async stop(): Promise<void> {
    const file = this.at("unit.pid");
    if (existsSync(file)) {
      spawnSync("kill", ["-9", readFileSync(file, "utf8").trim()]);
      rmSync(file);
    }
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((closed) => child.on("close", closed));
    child.kill("SIGKILL");
    await ended;
  }

  configure(onFailure: "keep" | "rollback"): void {
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
      outputs: [{ format: this.kind.format, file: "artifact" }],
      after: [LOCK, ...this.hooks].map((hook) => ({ ...hook, timeout: "120s" })),
      resolvers: [{ name: "it", address: `127.0.0.1:${this.port}`, on_failure: onFailure }],
    };
    this.project.write("c.json", JSON.stringify(config));
  }

  async compile(wait: string): Promise<Ended> {
    const words = ["-c", "c.json", "--no-cache", "--permit", "hooks", "--json", "--wait", wait];
    const { exit, stdout, stderr } = await this.project.run(...words);
    const [{ resolvers = [] } = {}] = listsIn(stdout || '{"lists":[]}') as {
      resolvers?: Proof[];
    }[];
    return { exit, outcome: resolvers[0]?.outcome, stderr };
  }

  async publish(list: readonly string[], wait: string): Promise<Ended> {
    this.project.write("own.txt", list.map((name) => `||${name}^\n`).join(""));
    return await this.compile(wait);
  }

  expect({ exit, outcome, stderr }: Ended, expected: string): void {
    counts.runs++;
    if (`${exit} ${outcome}` === expected) return;
    counts.wrong++;
    assert.fail(`${exit} ${outcome} instead of ${expected}\n${stderr}\n${this.log}`);
  }
}

const LONG = "120s";
const SHORT = "3s";

async function close(name: string, kind: Reloadable, context: TestContext): Promise<void> {
  const internet = await startInternet();
  context.after(() => internet.close());
  const loop = new Loop(context, kind);
  await loop.start(internet.port, UNITS[name]);
  loop.configure("keep");
  // The server needs a list to start with.
  loop.project.write("own.txt", `||${names(0)[0]}^\n`);
  await loop.project.run("-c", "c.json", "--no-cache");
  loop.run();
  await context.test("publish, reload, proved", async () => {
    loop.expect(await loop.compile(LONG), "0 proved");
    loop.expect(await loop.publish([...names(0)], LONG), "0 proved");
    loop.expect(await loop.publish(names(20), LONG), "0 proved");
    loop.expect(await loop.compile(LONG), "0 undefined");
  });
  await context.test("a reload that fails is found, and the next run recovers", async () => {
    loop.set("failing", true);
    const failed = await loop.publish(names(40), SHORT);
    loop.expect(failed, "12 stale");
    assert.match(failed.stderr, /hook-failed/);
    loop.set("failing", false);
    loop.expect(await loop.compile(LONG), "0 proved");
  });
  await context.test(
    "a server that is stopped is found; when it runs again, the next run proves it",
    async () => {
      loop.configure("rollback");
      const before = loop.build;
      loop.set("failing", true);
      await loop.stop();
      loop.expect(await loop.publish(names(60), SHORT), "12 unreachable");
      assert.notEqual(loop.build, before, "no rollback: a list is not the cause");
      loop.set("failing", false);
      loop.run();
      loop.expect(await loop.compile(LONG), "0 proved");
    },
  );
  await context.test(
    "a list that does not arrive is rolled back, and the next one is proved",
    async () => {
      const before = loop.build;
      loop.set("failing", true);
      const failed = await loop.publish(names(80), SHORT);
      loop.expect(failed, "12 proved");
      assert.match(failed.stderr, /resolver-stale[^]*proof-rollback/);
      assert.equal(loop.build, before, "the resolver and the file agree");
      const again = await loop.compile(SHORT);
      loop.expect(again, "12 proved");
      assert.match(again.stderr, /resolver-stale[^]*proof-rollback/);
      loop.set("failing", false);
      loop.expect(await loop.compile(LONG), "0 proved");
      assert.notEqual(loop.build, before, "the same list, tried again");
    },
  );
  const found = (stderr: string): string => {
    const [, outcome] = /"code":"resolver-(\w+)"/.exec(stderr) ?? [];
    context.diagnostic(`${name}, a file that it may not read: ${outcome}`);
    assert.ok(["stale", "unfiltered", "unreachable"].includes(outcome!), stderr);
    return outcome!;
  };
  await context.test("a file that the server may not read is found, and rolled back", async () => {
    const before = loop.build;
    loop.set("locked-new", true);
    const failed = await loop.publish([...names(100), BAD_NAME], SHORT);
    loop.set("locked-new", false);
    // unbound ends when it cannot read its configuration.
    if (found(failed.stderr) === "unreachable") {
      assert.equal(failed.exit, 12, failed.stderr);
      await loop.restart();
    } else {
      loop.expect(failed, "12 proved");
      assert.match(failed.stderr, /proof-rollback/);
      assert.doesNotMatch(failed.stderr, /proof-put-back/);
      assert.equal(loop.build, before, "rolled back");
    }
    loop.expect(await loop.publish(names(105), LONG), "0 proved");
  });
  await context.test("a new list is put back if the old one cannot be read either", async () => {
    const before = loop.build;
    loop.set("locked", true);
    const failed = await loop.publish(names(110), SHORT);
    loop.set("locked", false);
    const outcome = found(failed.stderr);
    if (outcome === "stale") {
      // It still has the old list in its memory.
      loop.expect(failed, "12 proved");
      assert.doesNotMatch(failed.stderr, /proof-put-back/);
      assert.equal(loop.build, before, "rolled back");
    } else {
      loop.expect(failed, `12 ${outcome}`);
      assert.notEqual(loop.build, before, "the list is not the cause");
      if (outcome === "unfiltered") assert.match(failed.stderr, /proof-rollback[^]*proof-put-back/);
      else await loop.restart();
    }
    loop.expect(await loop.publish(names(115), LONG), "0 proved");
  });
  // dnsmasq is not reloaded by a program that a test can replace.
  if (name !== "dnsmasq")
    await context.test("a list that arrives in part is rolled back and reloaded", async () => {
      const before = loop.build;
      loop.set("half", true);
      const failed = await loop.publish([...names(120), BAD_NAME], "30s");
      loop.expect(failed, "12 proved");
      assert.match(failed.stderr, /resolver-(?:wrong|stale|unfiltered)[^]*proof-rollback/);
      assert.equal(loop.build, before);
      loop.set("half", false);
      loop.expect(await loop.publish([...names(140), BAD_NAME], LONG), "0 proved");
    });
}

for (const [name, kind] of SERVERS)
  test(
    `${name}: publish, reload, prove, roll back, recover`,
    { timeout: 900_000 },
    async (context) => {
      await close(name, kind, context);
    },
  );

test("no run ended with a wrong verdict", (context) => {
  context.diagnostic(`after builds: ${counts.runs} runs, ${counts.wrong} wrong`);
  assert.equal(counts.wrong, 0);
  assert.ok(counts.runs >= SERVERS.length * 7, String(counts.runs));
});
