import type { Proof } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { canaryIn } from "../../src/syntax/host-name.ts";
import { DiskProject } from "../support/disk-project.ts";
import { listsIn } from "../support/documents.ts";
import { askAll } from "../support/resolvers/dns-client.ts";
import { type Internet, startInternet } from "../support/resolvers/internet.ts";
import { freePort, servers, unboundConf } from "../support/resolvers/servers.ts";

const KINDS = { unbound: 4, dnsmasq: 6 };
const DRAIN_SCRIPT = 'echo "$RULES_COMPILER_RESOLVER $RULES_COMPILER_EVENT" >> drained.txt';

interface Running {
  readonly name: string;
  readonly group: string;
  readonly port: number;
  readonly child: ChildProcess;
}

/** Ten real resolvers in two groups: a control socket or a PID file each, and one hook for each group. */
class Fleet {
  readonly project: DiskProject;
  private readonly all: Running[] = [];

  constructor(context: TestContext) {
    this.project = new DiskProject(context, { env: { PATH: process.env["PATH"]! } });
    context.after(async () => {
      for (const { child } of this.all) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const ended = new Promise((closed) => child.on("close", closed));
        child.kill("SIGKILL");
        await ended;
      }
    });
  }

  at(name: string): string {
    return join(this.project.folder, name);
  }

  get build(): string {
    return canaryIn(readFileSync(this.at("rules/list.txt"), "utf8"))!;
  }

  async start(internet: Internet): Promise<void> {
    for (const [group, count] of Object.entries(KINDS))
      for (let number = 1; number <= count; number++) {
        const name = `${group}${number}`;
        mkdirSync(this.at(name));
        await this.startOne(name, group, internet);
      }
    this.configure();
  }

  /** Until it answers. Another program may take its port meanwhile. */
  private async startOne(name: string, group: string, { port: upstream }: Internet): Promise<void> {
    for (;;) {
      const port = await freePort();
      const child = this.spawnOne(name, port, upstream);
      this.all.push({ name, group, port, child });
      while (child.exitCode === null) {
        const [said] = await askAll(port, ["first.site.org"]);
        if (said === "blocked") return;
        await new Promise((later) => setTimeout(later, 50));
      }
      this.all.pop();
    }
  }

  private spawnOne(name: string, port: number, upstream: number): ChildProcess {
    const folder = this.at(name);
    const list = (file: string): string => this.at(`rules/${file}`);
    const setting = { folder, port, upstream, allow: "" };
    let words: readonly string[];
    if (name.startsWith("unbound")) {
      const control = `remote-control:\n  control-enable: yes\n  control-interface: ${folder}/ctl\n  control-use-cert: no`;
      const zones = `include: ${list("list.unbound")}\n${control}`;
      const conf = unboundConf(setting, "iterator", zones);
      words = ["unbound", "-d", "-c", conf];
    } else {
      const own = servers.get("dnsmasq")!.start({ ...setting, list: list("list.dnsmasq") });
      const kept = own.filter((word) => !/pid-file|conf-file|servers-file|addn-hosts/.test(word));
      words = [...kept, `--pid-file=${folder}/pid`, `--servers-file=${list("list.dnsmasq")}`];
    }
    const child = spawn(words[0]!, words.slice(1), { cwd: folder, stdio: "ignore" });
    return child;
  }

  private configure(): void {
    const config = {
      name: "List",
      sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
      transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
      outputs: [
        { format: "unbound", file: "list.unbound" },
        { format: "dnsmasq-servers", file: "list.dnsmasq" },
      ],
      after: [
        { reload: "unbound", with: ["-c", "{resolver}/unbound.conf"], each: ["unbound"] },
        { reload: "dnsmasq", pid_file: "{resolver}/pid", each: ["dnsmasq"] },
        {
          name: "drain",
          run: ["sh", "-c", DRAIN_SCRIPT],
          on: ["degraded", "recovered"],
          each: ["unbound", "dnsmasq"],
        },
      ],
      resolvers: this.all.map(({ name, group, port }) => ({
        name,
        group,
        address: `127.0.0.1:${port}`,
        on_failure: "rollback",
      })),
    };
    this.project.write("c.json", JSON.stringify(config));
  }

  async publish(from: number): Promise<Published> {
    const names = Array.from({ length: 300 }, (_, index) => `n${from + index}.site${index}.org`);
    this.project.write("own.txt", names.map((name) => `||${name}^\n`).join(""));
    return await this.compile();
  }

  async compile(wait = "8s"): Promise<Published> {
    const words = ["-c", "c.json", "--no-cache", "--permit", "hooks", "--json", "--wait", wait];
    const { exit, stdout, stderr } = await this.project.run(...words);
    const [{ resolvers = [] } = {}] = listsIn(stdout || '{"lists":[]}') as {
      resolvers?: Proof[];
    }[];
    const bad = resolvers.flatMap(({ resolver, outcome }) =>
      outcome === "proved" ? [] : [`${resolver} ${outcome}`],
    );
    return { exit, stderr, bad, asked: resolvers.length };
  }

  /** Takes the control socket of a resolver away, or gives it back. */
  cut(name: string, isCut: boolean): void {
    const [socket, away] = [this.at(`${name}/ctl`), this.at(`${name}/ctl.away`)];
    if (isCut) renameSync(socket, away);
    else renameSync(away, socket);
  }

  get drained(): string[] {
    const path = this.at("drained.txt");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
  }
}

interface Published {
  readonly exit: number;
  readonly stderr: string;
  /** The resolvers that are not proved. */
  readonly bad: readonly string[];
  readonly asked: number;
}

test("ten real resolvers: a broken one is drained, a broken group takes the list back", async (context) => {
  const internet = await startInternet();
  context.after(() => internet.close());
  const fleet = new Fleet(context);
  // The servers need a list to start with.
  fleet.project.write("own.txt", "||first.site.org^\n");
  const start = { sources: [{ name: "Own", source: "own.txt", type: "adblock" }], name: "List" };
  const formats = ["unbound", "dnsmasq-servers"].map((format) => ({
    format,
    file: `list.${format.split("-")[0]}`,
  }));
  fleet.project.write("c.json", JSON.stringify({ ...start, outputs: formats }));
  assert.equal((await fleet.project.run("-c", "c.json", "--no-cache")).exit, 0);
  await fleet.start(internet);
  const ready = await fleet.compile("20s");
  assert.deepEqual({ exit: ready.exit, bad: ready.bad }, { exit: 0, bad: [] }, ready.stderr);
  const good = await fleet.publish(0);
  assert.deepEqual([good.exit, good.asked], [0, 10], good.stderr);
  for (const name of ["unbound1", "unbound4", "dnsmasq1", "dnsmasq6"])
    assert.match(good.stderr, new RegExp(`Hook ran: reload \\w+ for ${name}, published, List`));

  const before = fleet.drained.length;
  fleet.cut("unbound3", true);
  const one = await fleet.publish(300);
  assert.deepEqual([one.exit, one.bad], [12, ["unbound3 stale"]], one.stderr);
  assert.match(one.stderr, /Hook failed: reload unbound for unbound3/);
  assert.doesNotMatch(one.stderr, /proof-rollback/);
  assert.deepEqual(fleet.drained.slice(before), ["unbound3 degraded"]);
  fleet.cut("unbound3", false);
  const again = await fleet.compile();
  assert.equal(again.exit, 0, again.stderr);
  assert.equal(again.stderr.match(/Hook ran: reload/g)?.length, 1, "it is reloaded alone");
  assert.deepEqual(fleet.drained.slice(before), ["unbound3 degraded", "unbound3 recovered"]);

  const proved = fleet.build;
  for (const name of ["unbound1", "unbound2", "unbound3"]) fleet.cut(name, true);
  const many = await fleet.publish(600);
  for (const name of ["unbound1", "unbound2", "unbound3"]) fleet.cut(name, false);
  assert.equal(many.exit, 12, many.stderr);
  assert.match(many.stderr, /proof-rollback/, "three of the four unbound");
  assert.equal(fleet.build, proved, "seven of ten had the new list");
  assert.deepEqual(many.bad, [], "all answer from the list before");
  const last = await fleet.compile();
  assert.deepEqual([last.exit, last.bad], [0, []], last.stderr);
  assert.notEqual(fleet.build, proved);
});
