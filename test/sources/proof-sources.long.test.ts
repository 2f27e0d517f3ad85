import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { CANARY_SUFFIX } from "../../src/syntax/host-name.ts";
import { DiskProject } from "../support/disk-project.ts";
import { askAll } from "../support/resolvers/dns-client.ts";
import { type Internet, startInternet } from "../support/resolvers/internet.ts";
import { reloadables } from "../support/resolvers/reloadable.ts";
import { freePort } from "../support/resolvers/servers.ts";

const PATIENCE_MS = 30_000;

/** Real resolvers that read one list, and the program that publishes it. The resolvers may roll back. */
class Fleet {
  readonly project: DiskProject;
  readonly ports: number[] = [];
  private readonly context: TestContext;
  private readonly children: ChildProcess[] = [];

  constructor(context: TestContext, env: Record<string, string>) {
    this.context = context;
    this.project = new DiskProject(context, { env });
    env["RULES_DIR"] = this.project.folder;
    context.after(() => {
      for (const child of this.children) child.kill("SIGKILL");
    });
    chmodSync(this.project.folder, 0o777);
  }

  async start(kind: string, count: number, upstream: number): Promise<void> {
    const { folder } = this.project;
    const server = reloadables.get(kind)!;
    const { format } = server;
    const hooks: object[] = [];
    const commands: (readonly string[])[] = [];
    for (let index = 0; index < count; index++) {
      const own = join(folder, `r${index}`);
      mkdirSync(own);
      const port = await freePort();
      this.ports.push(port);
      const setting = { folder: own, port, upstream, list: join(folder, "artifact"), allow: "" };
      const started = server.set(setting, await freePort());
      hooks.push(...started.hooks);
      commands.push(started.words);
    }
    const config = {
      name: "List",
      sources: [
        { name: "Own", source: "own.txt", type: "adblock" },
        { name: "Threats", source: "threats.txt", trust: "block-only" },
        { name: "Weak", source: "weak.txt", trust: "block-only" },
      ],
      outputs: [{ format, file: "artifact" }],
      after: hooks,
      resolvers: this.ports.map((port, index) => ({
        name: `r${index + 1}`,
        address: `127.0.0.1:${port}`,
        on_failure: "rollback",
      })),
    };
    this.project.write("c.json", JSON.stringify(config));
    const own = Array.from({ length: 40 }, (_, index) => `||n${index}.site.org^\n`).join("");
    this.project.write("own.txt", own);
    this.project.write("threats.txt", "||threat0.bad.org^\n");
    this.project.write("weak.txt", "||a.attacker-owned.net^\n||b.attacker-owned.net^\n");
    assert.equal((await this.project.run("-c", "c.json", "--no-cache")).exit, 0);
    for (const [program, ...words] of commands) {
      const child = spawn(program!, words, { stdio: "ignore" });
      this.children.push(child);
      child.on("error", (error) => this.context.diagnostic(String(error)));
    }
    for (const port of this.ports) await blocks(port, "threat0.bad.org");
  }

  async compile(wait: string): ReturnType<DiskProject["run"]> {
    const words = ["--no-cache", "--permit", "hooks", "--json", "--wait", wait];
    return await this.project.run("-c", "c.json", ...words);
  }
}

async function blocks(port: number, name: string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; ;) {
    const [answer] = await askAll(port, [name]).catch(() => ["no answer"]);
    if (answer === "blocked") return;
    assert.ok(Date.now() < end, `port ${port} blocks ${name}: ${answer}`);
    await new Promise((later) => setTimeout(later, 50));
  }
}

async function internetFor(context: TestContext): Promise<Internet> {
  const internet = await startInternet();
  context.after(() => internet.close());
  return internet;
}

/** What a block-only source does each night. */
const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  "a line for the names of canaries": Array.from({ length: 4 }, () => `||${CANARY_SUFFIX}^`),
  "a name that it drops and answers with 0.0.0.0": ["a", "b", "c", "d"].map(
    (name) => `||${name}.attacker-owned.net^`,
  ),
};

for (const [attack, lines] of Object.entries(ATTACKS))
  test(
    `dnsmasq, ${attack}: the threats of four nights are published`,
    { timeout: 120_000 },
    async (context) => {
      const internet = await internetFor(context);
      const fleet = new Fleet(context, { PATH: process.env["PATH"]! });
      await fleet.start("dnsmasq", 1, internet.port);
      assert.equal((await fleet.compile("20s")).exit, 0);
      for (const name of ["a", "b", "c", "d"])
        internet.addresses.set(`${name}.attacker-owned.net`, "0.0.0.0");
      for (const [night, line] of lines.entries()) {
        fleet.project.write("weak.txt", `${line}\n`);
        const threats = Array.from(
          { length: night + 2 },
          (_, index) => `||threat${index}.bad.org^\n`,
        );
        fleet.project.write("threats.txt", threats.join(""));
        const { exit, stderr } = await fleet.compile("20s");
        assert.equal(exit, 0, stderr);
        await blocks(fleet.ports[0]!, `threat${night + 1}.bad.org`);
      }
      const log = await fleet.project.run("log", "-c", "c.json");
      assert.doesNotMatch(log.stdout, /proof/);
    },
  );

test(
  "four unbounds, the control channel of one broken: the others get the list, and it is repaired by the next run",
  { timeout: 180_000 },
  async (context) => {
    const internet = await internetFor(context);
    const bin = { PATH: process.env["PATH"]! };
    const fleet = new Fleet(context, bin);
    await fleet.start("unbound", 4, internet.port);
    assert.equal((await fleet.compile("30s")).exit, 0);
    const { folder } = fleet.project;
    const real = bin.PATH;
    const controls = join(folder, "controls");
    mkdirSync(controls);
    writeFileSync(
      join(controls, "unbound-control"),
      `#!/bin/bash\n[[ "$*" == *r3/* && -e '${folder}/broken' ]] && exit 1\nPATH='${real}' exec unbound-control "$@"\n`,
    );
    chmodSync(join(controls, "unbound-control"), 0o755);
    bin.PATH = `${controls}:${real}`;
    writeFileSync(join(folder, "broken"), "");
    for (const night of [1, 2]) {
      fleet.project.write("threats.txt", `||threat0.bad.org^\n||threat${night}.bad.org^\n`);
      const { exit, stderr } = await fleet.compile("3s");
      assert.equal(exit, 12, stderr);
      assert.match(stderr, /The resolver r4 is stale/);
      assert.doesNotMatch(stderr, /proof-rollback/);
      for (const port of fleet.ports.slice(0, 3)) await blocks(port, `threat${night}.bad.org`);
    }
    rmSync(join(folder, "broken"));
    const repaired = await fleet.compile("30s");
    assert.equal(repaired.exit, 0, repaired.stderr);
    for (const port of fleet.ports) await blocks(port, "threat2.bad.org");
  },
);
