import type { Proof } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setDefaultCACertificates } from "node:tls";
import { nodeHost } from "../../src/host/node.ts";
import { build } from "../../src/index.ts";
import type { ClientLimits } from "../../src/resolvers/dns-client.ts";
import { proveResolvers } from "../../src/resolvers/prove.ts";
import { askAll } from "../support/resolvers/dns-client.ts";
import { type Internet, startInternet } from "../support/resolvers/internet.ts";
import {
  Running,
  type Server,
  freePort,
  servers,
  unboundConf,
} from "../support/resolvers/servers.ts";
import { freeTcpPort } from "../support/resolvers/squid.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../support/resolvers/test-certificate.ts";
import { isNightly } from "../support/nightly.ts";

/** Real resolvers: publish, reload, prove; and each broken in several ways. */
const EVERY = [
  "BIND",
  "unbound",
  "unbound with RPZ",
  "Knot Resolver",
  "PowerDNS Recursor",
  "dnsdist",
  "dnsmasq",
  "dnsmasq with hosts",
  "smartdns",
];
/** The gate asks those that people run most. */
const SERVERS = isNightly ? EVERY : ["BIND", "unbound", "dnsmasq"];
const REPEATS = 8;
const READY_MS = 120_000;
const ACCEPT = ["source-shrunk", "source-grown"] as const;
/** A name that only broken files have, last in every order: when it is blocked, the file is loaded. */
const MARKER = "marker.zzz";
/** The user allows this name, so it decides. */
const ALLOWED = "allowed.net";
/** For resolvers that never answer. */
const QUICK = { datagramMs: [400, 400], streamMs: 800 };

const counts = { runs: 0, wrong: 0 };

function names(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, index) => {
    const number = from + index;
    // One in five does not exist any more, as in real lists.
    return `n${number}.${number % 5 === 0 ? "dead." : ""}site${number % 37}.org`;
  });
}

/** A configuration with two lists, of which the resolver reads one. */
class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "prove-"));
  readonly config = join(this.folder, "c.json");
  private readonly format: string;
  private readonly hasCanary: boolean;

  constructor(format: string, port: number, hasCanary: boolean) {
    this.format = format;
    this.hasCanary = hasCanary;
    // Some servers go on as somebody else.
    chmodSync(this.folder, 0o755);
    const config = {
      name: "All",
      sources: ["home", "other"].map((name) => ({ name, source: `${name}.src`, type: "adblock" })),
      transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
      allow: [ALLOWED],
      lists: [
        { name: "Home", sources: ["home"] },
        { name: "Other", sources: ["other"] },
      ],
      outputs: [{ format, file: "{slug}" }],
      resolvers: [{ name: "it", address: `127.0.0.1:${port}`, list: "Home" }],
    };
    writeFileSync(this.config, JSON.stringify(config));
  }

  async publish(home: readonly string[]): Promise<void> {
    writeFileSync(join(this.folder, "home.src"), home.map((name) => `||${name}^\n`).join(""));
    writeFileSync(join(this.folder, "other.src"), `||elsewhere.net^\n||${MARKER}^\n`);
    const asked = readFileSync(this.config, "utf8");
    // A list that was published before its resolvers were configured has no canary. With a canary, the other list has one, too.
    const lists = this.hasCanary ? ["Home", "Other"] : [];
    this.ask(lists.map((list) => ({ name: list, address: "127.0.0.1", list })));
    const outcome = await build({
      config: this.config,
      rulesDir: this.folder,
      cacheDir: false,
      accept: ACCEPT,
    });
    for (const { status, diagnostics } of outcome.lists)
      assert.ok(status === "published" || status === "unchanged", JSON.stringify(diagnostics));
    writeFileSync(this.config, asked);
  }

  file(slug: string): { list: string; allow: string } {
    return { list: join(this.folder, slug), allow: join(this.folder, `${slug}.allow`) };
  }

  /** Writes a file of the format with other rules, as a broken publish would leave it. */
  async broken(slug: string, rules: readonly string[]): Promise<void> {
    writeFileSync(join(this.folder, `${slug}.src`), `${[...rules, `||${MARKER}^`].join("\n")}\n`);
    await build({
      config: {
        name: slug,
        sources: [{ name: "Own", source: join(this.folder, `${slug}.src`), type: "adblock" }],
        outputs: [{ format: this.format as "rpz", file: slug }],
      },
      rulesDir: this.folder,
      cacheDir: false,
      accept: [...ACCEPT, "blocks-protected"],
    });
  }

  async prove(waitMs: number, limits?: ClientLimits): Promise<Proof> {
    const [proof] = await this.proveAll(waitMs, limits);
    return proof!;
  }

  /** Replaces the resolvers of the configuration. */
  ask(resolvers: readonly object[]): void {
    const config = JSON.parse(readFileSync(this.config, "utf8")) as object;
    writeFileSync(this.config, JSON.stringify({ ...config, resolvers }));
  }

  async proveAll(waitMs: number, limits?: ClientLimits): Promise<Proof[]> {
    const options = {
      configPath: this.config,
      inputs: [],
      inputType: undefined,
      filter: [],
      permit: [],
      output: undefined,
      copyToRules: false,
      rulesDir: this.folder,
    };
    return await proveResolvers(options, nodeHost(), { waitMs, limits });
  }
}

class Trial {
  readonly project: Project;
  private readonly server: Server;
  private readonly port: number;
  readonly internet: Internet;
  private readonly name: string;
  running: Running | undefined;

  constructor(name: string, port: number, internet: Internet, canary: boolean) {
    this.name = name;
    this.server = servers.get(name)!;
    this.port = port;
    this.internet = internet;
    this.project = new Project(this.server.format, port, canary);
  }

  async start(slug: string): Promise<void> {
    await this.stop();
    const { folder } = this.project;
    const setting = { folder, upstream: this.internet.port, port: this.port };
    this.running = await Running.start(this.server, { ...setting, ...this.project.file(slug) });
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    this.running = undefined;
  }

  /** Starts it with a file that blocks the marker, and waits until it does. */
  async startBroken(slug: string): Promise<void> {
    await this.start(slug);
    const deadline = Date.now() + READY_MS;
    while (Date.now() < deadline) {
      const answers = await askAll(this.port, [MARKER, "free.net"], 2);
      if (answers.join() === "blocked,passed") return;
      await new Promise((later) => setTimeout(later, 50));
    }
    assert.fail(`${this.name} is not ready: ${this.running?.log}`);
  }

  /** Asks several times, and counts verdicts that differ. */
  async expect(outcome: string, waitMs = 0, repeats = REPEATS, detail = /^/): Promise<void> {
    for (let repeat = 0; repeat < repeats; repeat++) {
      const limits = outcome === "unreachable" ? QUICK : undefined;
      const proof = await this.project.prove(waitMs, limits);
      counts.runs++;
      if (proof.outcome === outcome && detail.test(proof.detail)) continue;
      counts.wrong++;
      assert.fail(
        `${this.name}: ${proof.outcome} instead of ${outcome} ${detail.source}: ${proof.detail}\n${this.running?.log.slice(-500)}`,
      );
    }
  }
}

async function trialOf(name: string, hasCanary: boolean, context: TestContext): Promise<Trial> {
  const internet = await startInternet();
  const trial = new Trial(name, await freePort(), internet, hasCanary);
  context.after(async () => {
    await trial.stop();
    internet.close();
    rmSync(trial.project.folder, { recursive: true });
  });
  return trial;
}

async function prove(name: string, context: TestContext): Promise<void> {
  const trial = await trialOf(name, true, context);
  const { project } = trial;
  const first = names(0, 400);
  const second = [...names(50, 400), ...names(1000, 1100)];
  await project.publish(first);
  await context.test("published, loaded and proved", async () => {
    await trial.start("home");
    await trial.expect("proved", READY_MS);
  });
  await context.test("stale while the old list is still loaded", async () => {
    await project.publish(second);
    await trial.expect("stale");
  });
  await context.test("proved after a restart, while it still loads", async () => {
    await trial.start("home");
    await trial.expect("proved", READY_MS, 1);
    await trial.expect("proved");
  });
  await context.test("proved although it pauses for a while", async () => {
    const { child } = trial.running!;
    child.kill("SIGSTOP");
    const resume = setTimeout(() => child.kill("SIGCONT"), 2500);
    try {
      await trial.expect("proved", READY_MS, 1);
    } finally {
      clearTimeout(resume);
      child.kill("SIGCONT");
    }
  });
  await context.test("unreachable while it hangs", async () => {
    trial.running!.child.kill("SIGSTOP");
    await trial.expect("unreachable", 0, 2);
    trial.running!.child.kill("SIGCONT");
    await trial.expect("proved", READY_MS, 1);
  });
  await context.test("unreachable when it is stopped", async () => {
    await trial.stop();
    await trial.expect("unreachable");
  });
  await context.test("unfiltered when its policy has none of the names", async () => {
    await project.broken("empty", []);
    await trial.startBroken("empty");
    await trial.expect("unfiltered");
  });
  await context.test("unreachable when it has no list and cannot reach other servers", async () => {
    trial.internet.isSilent = true;
    await trial.expect("unreachable", 0, 2);
    trial.internet.isSilent = false;
  });
  await context.test("wrong when it reads the file of another list", async () => {
    await trial.startBroken("other");
    await trial.expect("wrong");
  });
  const rules = second.map((one) => `||${one}^`);
  await context.test("wrong when it has half of the list", async () => {
    await project.broken("half", rules.slice(0, rules.length / 2));
    await trial.startBroken("half");
    await trial.expect("wrong");
  });
  const text = readFileSync(join(project.folder, "home.txt"), "utf8");
  const canary = `||${/b-[\da-f]{12}\.canary\.rules-compiler\.example/.exec(text)![0]}^`;
  await context.test("wrong when it has the canary and half of the own names", async () => {
    await project.broken("fewer", [...rules.slice(0, rules.length / 2), canary]);
    await trial.startBroken("fewer");
    await trial.expect("wrong", 0, REPEATS, /^blocks the canary, but does not block n/);
  });
  await context.test("wrong when it also blocks a name that the user allows", async () => {
    await project.broken("more", [...rules, canary, `||${ALLOWED}^`]);
    await trial.startBroken("more");
    await trial.expect("wrong", 0, REPEATS, /^blocks the canary, but blocks allowed\.net$/);
  });
  await context.test("proved when it also blocks a protected name, which is reported", async () => {
    await project.broken("other-names", [...rules, canary, "||captive.apple.com^"]);
    await trial.startBroken("other-names");
    await trial.expect("proved", 0, REPEATS, /, but it blocks captive\.apple\.com$/);
  });
  await context.test("recovers when the right list is loaded again", async () => {
    await trial.start("home");
    await trial.expect("proved", READY_MS, 1);
  });
}

/** The same from names alone, which cannot tell a list from one that differs in other names only. */
async function proveByNames(name: string, context: TestContext): Promise<void> {
  const trial = await trialOf(name, false, context);
  const { project } = trial;
  const old = names(0, 400);
  const fresh = [...names(50, 400), ...names(1000, 1100)];
  await project.publish(old);
  assert.doesNotMatch(readFileSync(join(project.folder, "home.txt"), "utf8"), /canary/);
  await trial.start("home");
  await trial.expect("proved", READY_MS);
  await project.publish(fresh);
  await trial.expect("stale");
  await trial.start("home");
  await trial.expect("proved", READY_MS);
  const rules = fresh.map((one) => `||${one}^`);
  await project.broken("half", rules.slice(0, rules.length / 2));
  await trial.startBroken("half");
  await trial.expect("wrong");
  await project.broken("empty", []);
  await trial.startBroken("empty");
  await trial.expect("unfiltered");
  await trial.stop();
  await trial.expect("unreachable");
}

for (const name of SERVERS) {
  test(`${name}: every state is recognised`, { timeout: 900_000 }, async (context) => {
    await prove(name, context);
  });
  test(`${name}: without a canary, names show the state`, { timeout: 900_000 }, async (context) => {
    await proveByNames(name, context);
  });
}

test("unbound is proved over UDP, TCP and TLS", { timeout: 900_000 }, async (context) => {
  const internet = await startInternet();
  const port = await freePort();
  const tlsPort = await freeTcpPort();
  const project = new Project("unbound", port, true);
  const { folder } = project;
  project.ask([
    { name: "udp", address: `127.0.0.1:${port}`, list: "Home" },
    { name: "tcp", address: `tcp://127.0.0.1:${port}`, list: "Home" },
    { name: "tls", address: `tls://127.0.0.1:${tlsPort}#dns.example`, list: "Home" },
    { name: "other", address: `tls://127.0.0.1:${tlsPort}#other.example`, list: "Home" },
  ]);
  await project.publish(names(0, 100));
  writeFileSync(join(folder, "tls.pem"), TEST_CERTIFICATE);
  writeFileSync(join(folder, "tls.key"), TEST_KEY);
  const tls = `server:
  interface: 127.0.0.1@${tlsPort}
  tls-port: ${tlsPort}
  tls-service-pem: "${folder}/tls.pem"
  tls-service-key: "${folder}/tls.key"
`;
  const { list } = project.file("home");
  const setting = { folder, port, upstream: internet.port };
  const conf = unboundConf(setting, "iterator", `include: ${list}\n${tls}`);
  const server = { format: "unbound", start: () => ["unbound", "-d", "-c", conf] };
  const running = await Running.start(server, { ...setting, list, allow: "" });
  context.after(async () => {
    await running.stop();
    internet.close();
    rmSync(folder, { recursive: true });
  });
  setDefaultCACertificates([TEST_CERTIFICATE]);
  const proofs = await project.proveAll(15_000);
  assert.deepEqual(
    proofs.map(({ resolver, outcome }) => `${resolver} ${outcome}`),
    ["udp proved", "tcp proved", "tls proved", "other unreachable"],
    running.log,
  );
  assert.match(proofs[3]!.detail, /ERR_TLS_CERT_ALTNAME_INVALID/);
});

test("of many verdicts none is wrong", (context) => {
  context.diagnostic(`prove: ${counts.runs} verdicts, ${counts.wrong} wrong`);
  assert.ok(counts.runs >= SERVERS.length * 50, String(counts.runs));
  assert.equal(counts.wrong, 0);
});
