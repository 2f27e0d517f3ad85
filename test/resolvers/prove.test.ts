import type { Proof } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { canaryIn } from "../../src/syntax/host-name.ts";
import { DiskProject } from "../support/disk-project.ts";
import { answerTo, decoded, udpServer } from "../support/resolvers/dns-server.ts";

/** A server on a real socket that blocks the names of a list with NXDOMAIN. test/resolvers/prove-servers.long.test.ts has real resolvers. */
class ListServer {
  port = 0;
  private blocked: readonly string[] = [];

  static async start(context: TestContext): Promise<ListServer> {
    const server = new ListServer();
    server.port = await udpServer(context, (asked, reply) => reply(server.answer(asked)));
    return server;
  }

  load(list: string): void {
    this.blocked = [...list.matchAll(/^\|\|(.*)\^$/gm)].map(([, name]) => name!);
  }

  private answer(asked: Uint8Array): Uint8Array {
    const { name } = decoded(asked).questions![0]!;
    if (this.blocked.some((one) => name === one || name.endsWith(`.${one}`)))
      return answerTo(asked, { rcode: 3 });
    if (!name.endsWith(".example"))
      return answerTo(asked, { answers: [{ type: "A", name, ttl: 1, data: "192.0.2.1" }] });
    const data = { mname: "a", rname: "b", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 };
    return answerTo(asked, { rcode: 3, authorities: [{ type: "SOA", name: ".", ttl: 1, data }] });
  }
}

function configOf(resolvers: readonly unknown[], more: object = {}): string {
  return JSON.stringify({
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    resolvers,
    ...more,
  });
}

const rules = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `||n${from + index}.site.org^\n`).join("");

async function published(
  context: TestContext,
  more: object = {},
): Promise<{ project: DiskProject; server: ListServer }> {
  const server = await ListServer.start(context);
  const project = new DiskProject(context);
  const resolvers = [{ name: "home", address: `127.0.0.1:${server.port}` }];
  project.write("c.json", configOf(resolvers, more));
  project.write("own.txt", rules(0, 40));
  const { exit, stderr } = await project.run("-c", "c.json", "--no-cache");
  assert.equal(exit, 0, stderr);
  return { project, server };
}

async function prove(project: DiskProject, ...words: string[]): Promise<Proof & { exit: number }> {
  const { exit, stdout } = await project.run("prove", "-c", "c.json", "--json", ...words);
  const { ok, lists } = JSON.parse(stdout) as { ok: boolean; lists: { resolvers: Proof[] }[] };
  assert.equal(ok, exit === 0);
  return { ...lists[0]!.resolvers[0]!, exit };
}

test("prove prints one line per resolver and exits with 0 or 12", async (context) => {
  const { project, server } = await published(context);
  const list = project.text("rules/list.txt");
  server.load(list);
  const good = await project.run("prove", "-c", "c.json", "--wait", "0");
  assert.equal(good.exit, 0, good.stderr);
  const build = canaryIn(list)!.slice(2, 14);
  assert.match(
    good.stdout,
    new RegExp(`^home  proved  ${build} +\\d+ ms  blocks the canary; \\d+ other names agree\\n$`),
  );
  assert.equal(good.stderr, "");
  project.write("own.txt", rules(5, 45));
  assert.equal((await project.run("-c", "c.json", "--no-cache")).exit, 0);
  const stale = await project.run("prove", "-c", "c.json", "--wait", "0");
  assert.equal(stale.exit, 12);
  assert.match(stale.stdout, /^home {2}stale .* answers from the build of \d{4}-\d\d-\d\dT/);
  assert.match(stale.stderr, /error\[resolver-stale\]: The resolver home is stale/);
  assert.match(stale.stderr, /hint: Reload the resolver/);
});

test("a resolver whose upstream does not answer is named as such, within the time of --wait", async (context) => {
  const project = new DiskProject(context);
  const port = await udpServer(context, (asked, reply) => {
    const { name } = decoded(asked).questions![0]!;
    const isCanary =
      !name.startsWith("c-") &&
      (canaryIn(`||${name}^`) !== undefined || /^n\d+\.site\.org$/.test(name));
    if (isCanary) reply(answerTo(asked, { rcode: 3 }));
  });
  project.write("c.json", configOf([{ name: "home", address: `127.0.0.1:${port}` }]));
  project.write("own.txt", rules(0, 40));
  assert.equal((await project.run("-c", "c.json", "--no-cache")).exit, 0);
  const began = performance.now();
  const { exit, stderr } = await project.run("prove", "-c", "c.json", "--wait", "1s");
  const seconds = (performance.now() - began) / 1000;
  assert.equal(exit, 12);
  assert.match(stderr, /because: answers the canary, but no other name: its upstream does not/);
  assert.match(stderr, /hint: Check the servers that it forwards to/);
  assert.ok(seconds > 0.9 && seconds < 1.8, `${seconds} s`);
});

test("each state of the list gives its outcome, with and without a canary", async (context) => {
  for (const canary of [true, false]) {
    const { project, server } = await published(context, { canary });
    const first = project.text("rules/list.txt");
    project.write("own.txt", rules(5, 45));
    await project.run("-c", "c.json", "--no-cache");
    const second = project.text("rules/list.txt");
    const seen: Record<string, string> = {};
    const states = {
      proved: second,
      stale: first,
      unfiltered: "",
      wrong: second.split("\n").slice(0, 25).join("\n"),
    };
    for (const [expected, list] of Object.entries(states)) {
      server.load(list);
      const { outcome, detail, exit } = await prove(project, "--wait", "0");
      seen[expected] = outcome;
      assert.equal(outcome, expected, `canary ${canary}: ${detail}`);
      assert.equal(exit, expected === "proved" ? 0 : 12);
    }
    server.load(`${second}\n||captive.apple.com^`);
    assert.match((await prove(project, "--wait", "0")).detail, /blocks captive\.apple\.com/);
  }
});

test("a resolver that loads the list later is waited for", async (context) => {
  const { project, server } = await published(context);
  const list = project.text("rules/list.txt");
  const loading = setTimeout(() => server.load(list), 700);
  const { outcome } = await prove(project, "--wait", "10s");
  clearTimeout(loading);
  assert.equal(outcome, "proved");
});

test("the outcome is kept beside the list, with the last proof that succeeded", async (context) => {
  const { project, server } = await published(context);
  server.load(project.text("rules/list.txt"));
  const kept = (): Record<string, Record<string, unknown>> =>
    (JSON.parse(project.text("rules/.rules-compiler/list.txt.proof.json")) as { resolvers: never })
      .resolvers;
  await prove(project, "--wait", "0");
  const { since, at, build, latencyMs } = kept()["home"]!;
  assert.equal(since, at);
  assert.equal(typeof latencyMs, "number");
  await prove(project, "--wait", "0");
  assert.equal(kept()["home"]!["since"], since);
  server.load("");
  await prove(project, "--wait", "0");
  const { outcome, lastProved } = kept()["home"]!;
  assert.equal(outcome, "unfiltered");
  assert.equal((lastProved as { build: string }).build, build);
  // A damaged file counts as missing.
  project.write(
    "rules/.rules-compiler/list.txt.proof.json",
    '{"version":1,"resolvers":{"home":3}}',
  );
  assert.equal((await prove(project, "--wait", "0")).outcome, "unfiltered");
  assert.equal(kept()["home"]!["lastProved"], undefined);
});

test("an address where nothing answers is unreachable, and the others are still asked", async (context) => {
  const { project, server } = await published(context);
  server.load(project.text("rules/list.txt"));
  const dead = { name: "dead\u001b[31m", address: "tcp://127.0.0.1:1" };
  const resolvers = [dead, { name: "home", address: `127.0.0.1:${server.port}` }];
  project.write("c.json", configOf(resolvers));
  const { exit, stdout, stderr } = await project.run("prove", "-c", "c.json", "--wait", "0");
  assert.equal(exit, 12);
  assert.match(stdout, /unreachable .*ECONNREFUSED/);
  assert.match(stdout, /^home +proved/m);
  assert.doesNotMatch(stdout + stderr, /\u001b/);
});

test("without resolvers or a published list, prove says what to do", async (context) => {
  const project = new DiskProject(context);
  project.write("own.txt", "||a.org^\n");
  project.write("c.json", configOf([]));
  const none = await project.run("prove", "-c", "c.json");
  assert.equal(none.exit, 2);
  assert.match(none.stderr, /error\[no-resolvers\][^]*hint: Add resolvers:/);
  project.write("c.json", configOf(["127.0.0.1"]));
  const early = await project.run("prove", "-c", "c.json");
  assert.equal(early.exit, 2);
  assert.match(early.stderr, /error\[not-published\][^]*rules\/list\.txt does not exist/);
  const bad = await project.run("prove", "-c", "c.json", "--wait", "soon");
  assert.equal(bad.exit, 2);
  assert.match(bad.stderr, /--wait must be a duration/);
});
