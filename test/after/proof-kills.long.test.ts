import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { readProofs } from "../../src/builder/state/list-state.ts";
import { nodeHost } from "../../src/host/node.ts";
import { HistoryLog } from "../../src/record/record-file.ts";
import { digestOfFile } from "../../src/sources/copies.ts";
import { buildOf, canaryIn } from "../../src/syntax/host-name.ts";
import { PROGRAM, runProgram } from "../support/command.ts";
import { isNightly } from "../support/nightly.ts";
import { Random } from "../support/random.ts";
import { askAll } from "../support/resolvers/dns-client.ts";
import { startInternet } from "../support/resolvers/internet.ts";
import { freePort } from "../support/resolvers/servers.ts";

const PUBLISHES = isNightly ? 1000 : 30;
/** How many publishes in a row are killed at most. */
const ROW = 4;
const COMMON = 5000;
const PATIENCE_MS = 60_000;

/** The names that a build blocks, besides the common ones, tell which build a file or a resolver has. */
function ownName(build: number): string {
  return `only-${build}.site.org`;
}

/** A real dnsmasq, and the program that publishes for it, reloads it and asks it. */
class Loop {
  readonly folder = mkdtempSync(join(tmpdir(), "proof-kills-"));
  readonly list = join(this.folder, "list.txt");
  readonly host = nodeHost();
  private readonly common = Array.from(
    { length: COMMON },
    (_, index) => `||n${index}.site${index % 97}.net^`,
  );
  private child: ChildProcess | undefined;
  private port = 0;

  constructor(context: TestContext) {
    chmodSync(this.folder, 0o755);
    context.after(() => {
      this.child?.kill("SIGKILL");
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start(upstream: number): Promise<void> {
    this.port = await freePort();
    const pid = join(this.folder, "dnsmasq.pid");
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
      outputs: [{ format: "dnsmasq-servers", file: "list.servers" }],
      resolvers: [{ name: "it", address: `127.0.0.1:${this.port}` }],
      after: [{ reload: "dnsmasq", pid_file: pid }],
    };
    writeFileSync(join(this.folder, "c.json"), JSON.stringify(config));
    this.write(0);
    await this.finish(false);
    const words = `-k -p ${this.port} --listen-address=127.0.0.1 --bind-interfaces --no-resolv --no-hosts
      --server=127.0.0.1#${upstream} --cache-size=0 --user=root --pid-file=${pid}
      --servers-file=${join(this.folder, "list.servers")}`;
    this.child = spawn("dnsmasq", words.split(/\s+/), { stdio: "ignore" });
    await this.resolverHas(0);
  }

  write(build: number): void {
    const lines = [...this.common, `||${ownName(build)}^`];
    writeFileSync(join(this.folder, "own.txt"), `${lines.join("\n")}\n`);
  }

  private words(hasHooks: boolean): string[] {
    const words = ["-c", "c.json", "--no-cache"];
    return hasHooks ? [...words, "--permit", "hooks"] : words;
  }

  private get options(): { cwd: string; env: NodeJS.ProcessEnv } {
    return { cwd: this.folder, env: { ...process.env, RULES_DIR: this.folder } };
  }

  /** Publishes to the end. */
  async finish(hasHooks = true): Promise<void> {
    const { exit, stderr } = await runProgram(this.words(hasHooks), this.options);
    assert.equal(exit, 0, stderr);
  }

  /** Publishes, and kills the run; returns whether it had ended before. */
  async kill(delay: number): Promise<boolean> {
    const child = spawn(process.execPath, [PROGRAM, ...this.words(true)], {
      ...this.options,
      stdio: "ignore",
    });
    const ended = new Promise<boolean>((closed) => child.on("close", (code) => closed(code === 0)));
    const timer = setTimeout(() => child.kill("SIGKILL"), delay);
    const isDone = await ended;
    clearTimeout(timer);
    return isDone;
  }

  /** The build that a published file has; the file must be whole. */
  buildIn(file: string, form: (name: string) => string): number {
    const text = readFileSync(join(this.folder, file), "utf8");
    const [, number] = /only-(\d+)\.site\.org/.exec(text) ?? [];
    assert.ok(number !== undefined, `${file} has a build`);
    for (const index of [0, COMMON - 1])
      assert.ok(text.includes(form(`n${index}.site${index % 97}.net`)), `${file} is whole`);
    assert.ok(text.endsWith("\n"), `${file} has its end`);
    return Number(number);
  }

  async resolverIsAt(build: number, other: number): Promise<boolean> {
    const names = [ownName(build), ...(build === other ? [] : [ownName(other)])];
    const [own, old] = await askAll(this.port, names);
    return own === "blocked" && old !== "blocked";
  }

  async resolverHas(build: number): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; !(await this.resolverIsAt(build, -1));) {
      assert.ok(Date.now() < end, `the resolver gets build ${build}`);
      await new Promise((later) => setTimeout(later, 20));
    }
  }

  /** Files of the state that a run left behind. */
  leftovers(): string[] {
    const of = (folder: string): string[] => readdirSync(join(this.folder, folder));
    return [...of("."), ...of(".rules-compiler")].filter((name) => /\.tmp|\.partial|~$/.test(name));
  }
}

test(`${PUBLISHES} publishes with hooks and proofs, killed at random: file, resolver and history agree, or the state names the one that does not`, async (context) => {
  const random = new Random(17);
  const internet = await startInternet();
  context.after(() => internet.close());
  const loop = new Loop(context);
  await loop.start(internet.port);
  const began = Date.now();
  await loop.finish();
  const seen = { killed: 0, ended: 0, stale: 0, open: 0, parts: 0 };
  let row = 0;
  // Most runs are to be killed, however fast the machine is at the time.
  let longestDelay = Date.now() - began;
  for (let build = 1; build <= PUBLISHES; build++) {
    loop.write(build);
    const isWhole = ++row > ROW || random.chance(0.2);
    if (isWhole) {
      row = 0;
      await loop.finish();
    } else if (await loop.kill(random.next() * longestDelay)) {
      seen.ended++;
      longestDelay *= 0.8;
    } else {
      seen.killed++;
      longestDelay *= 1.15;
    }
    const published = loop.buildIn("list.txt", (name) => `||${name}^`);
    const written = loop.buildIn("list.servers", (name) => `server=/${name}/`);
    const digest = await new HistoryLog(loop.list, loop.host).lastDigest();
    const isOpen = digest !== (await digestOfFile(loop.list, loop.host));
    const proofs = await readProofs(loop.list, loop.host);
    const proof = proofs["it"];
    const canary = canaryIn(readFileSync(loop.list, "utf8"));
    const isProved = proof?.outcome === "proved" && proof.build === buildOf(canary!);
    if (written !== published) seen.parts++;
    if (isOpen) seen.open++;
    if (isProved) assert.equal(written, published, "a proved list has all its files");
    if (isProved) await loop.resolverHas(published);
    else seen.stale++;
    if (!isWhole) continue;
    assert.equal(published, build);
    assert.equal(written, build);
    assert.ok(!isOpen, "the log names the published list");
    assert.ok(isProved, JSON.stringify(proof));
    assert.deepEqual(loop.leftovers(), []);
  }
  context.diagnostic(JSON.stringify(seen));
  assert.ok(seen.killed > PUBLISHES / 4 && seen.stale > 0, JSON.stringify(seen));
  const entries = await new HistoryLog(loop.list, loop.host).entries();
  assert.ok(entries.length > PUBLISHES / 4, String(entries.length));
});
