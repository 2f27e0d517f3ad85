import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { PROGRAM } from "../support/command.ts";
import { blocksOf } from "../support/markdown.ts";
import { isNightly } from "../support/nightly.ts";
import { askAll, startUpstream } from "../support/resolvers/dns-client.ts";
import { freeTcpPort } from "../support/resolvers/reloadable.ts";
import { freePort, unboundConf } from "../support/resolvers/servers.ts";
import { switchName } from "../support/resolvers/switches.ts";
import { startServer, TSIG } from "../support/resolvers/zone-servers.ts";

/** The recipe of the guide, with real servers: a small list that changes at once, before a large one that stays. */
const NAMES = 200_000;
const LARGE = Number(process.env["NAMES"] ?? 20_000_000);
const LIMIT_MS = 10_000;

const page = blocksOf(readFileSync(join(import.meta.dirname, "../../docs/guide/scale.md"), "utf8"));

function shown(title: string, folder: string): string {
  const { text } = page.find((block) => block.title === title)!;
  return text.replaceAll("/var/lib/rules", join(folder, "rules"));
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly upstream: number;
}

interface Resolver {
  readonly name: string;
  /** Writes its configuration; the command to start it, and what its hook is called with. */
  set(place: Place, control: number): { words: string[]; hook?: object };
  /** Names of an exception are looked for in the open internet, where there is none. */
  readonly failsWhenPassed?: boolean;
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const resolvers: readonly Resolver[] = [
  {
    name: "BIND",
    set: ({ folder, port, upstream }, control) => {
      const key = `key "rndc" { algorithm hmac-sha256; secret "${TSIG.secret}"; };\n`;
      const keys = write(folder, "rndc.key", key);
      const conf = write(
        folder,
        "named.conf",
        `${key}controls { inet 127.0.0.1 port ${control} allow { 127.0.0.1; } keys { "rndc"; }; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none;
 recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; }; dnssec-validation no; max-cache-size 64m; max-cache-ttl 0;
${shown("bind-options.conf", join(folder, ".."))} };
${shown("bind-zones.conf", join(folder, ".."))}`,
      );
      const words = ["-s", "127.0.0.1", "-p", String(control), "-k", keys];
      const hook = { run: ["rndc", ...words, "reload", "hot.rpz"] };
      return { words: ["named", "-f", "-c", conf], hook };
    },
  },
  {
    name: "unbound",
    set: (place) => {
      const { folder } = place;
      const control = `remote-control:\n  control-enable: yes\n  control-interface: ${folder}/ctl\n  control-use-cert: no`;
      const zones = shown("unbound.conf", join(folder, ".."));
      const cache = "server:\n  cache-max-ttl: 0";
      const conf = unboundConf(place, "respip iterator", `${zones}\n${control}\n${cache}`);
      const hook = { run: ["unbound-control", "-c", conf, "auth_zone_reload", "hot.rpz"] };
      return { words: ["unbound", "-d", "-c", conf], hook };
    },
  },
  {
    name: "Knot Resolver",
    failsWhenPassed: true,
    set: ({ folder, port, upstream }) => {
      const conf = write(
        folder,
        "kresd.conf",
        `net.ipv6=false; net.listen('127.0.0.1',${port},{kind='dns'}); trust_anchors.remove('.')
modules={'policy'}; cache.size=50*MB;
${shown("kresd.conf", join(folder, ".."))}policy.add(policy.all(policy.STUB('127.0.0.1@${upstream}')))
`,
      );
      return { words: ["kresd", "-n", "-q", "-c", conf, folder] };
    },
  },
  {
    name: "dnsdist",
    set: ({ folder, port, upstream }) => {
      const conf = write(
        folder,
        "dnsdist.conf",
        `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
${shown("dnsdist.conf", join(folder, ".."))}`,
      );
      return { words: ["dnsdist", "--supervised", "--disable-syslog", "-C", conf] };
    },
  },
];

/** Runs the program; its seconds and CPU seconds. */
async function run(folder: string, ...words: string[]): Promise<{ seconds: number; cpu: number }> {
  const env = { ...process.env, RULES_DIR: join(folder, "rules") };
  const began = performance.now();
  const command = ["-f", "%U %S", process.execPath, PROGRAM, ...words];
  const child = spawn("/usr/bin/time", command, { cwd: folder, env });
  let said = "";
  child.stderr.on("data", (piece: Uint8Array) => (said += String(piece)));
  child.stdout.resume();
  const code = await new Promise((end) => child.once("close", end));
  assert.equal(code, 0, said);
  const [user, system] = said.trim().split("\n").at(-1)!.split(" ").map(Number);
  return { seconds: (performance.now() - began) / 1000, cpu: user! + system! };
}

async function writeNames(path: string, count: number): Promise<void> {
  const file = createWriteStream(path);
  for (let from = 0; from < count; from += 100_000) {
    const lines = Array.from({ length: 100_000 }, (_, index) => `||${switchName(from + index)}^\n`);
    if (!file.write(lines.join(""))) await once(file, "drain");
  }
  await new Promise<void>((end) => file.end(() => end()));
}

interface Step {
  readonly hot: readonly string[];
  readonly blocked: readonly string[];
  readonly passed: readonly string[];
}

/** A name becomes blocked and another of the large list free, and both back. */
const NEW = "urgent.org";
const coldName = switchName(4711);
const STEPS: readonly Step[] = [
  { hot: ["||first.org^"], blocked: ["first.org", coldName], passed: [NEW] },
  {
    hot: ["||first.org^", `||${NEW}^`, `@@||${coldName}^`],
    blocked: [NEW, `www.${NEW}`],
    passed: [coldName, `www.${coldName}`],
  },
  { hot: ["||first.org^"], blocked: [coldName], passed: [NEW] },
];

async function follow(
  context: TestContext,
  which: readonly Resolver[],
  names: number,
  outputs: readonly string[],
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "hot-"));
  const upstream = await startUpstream();
  const children: ChildProcess[] = [];
  context.after(() => {
    for (const child of children) child.kill("SIGKILL");
    upstream.close();
    rmSync(root, { recursive: true, force: true });
  });
  const hooks: object[] = [];
  const started = [];
  for (const one of which) {
    const folder = join(root, one.name.replace(" ", "-"));
    mkdirSync(folder);
    const port = await freePort();
    const { words, hook } = one.set({ folder, port, upstream: upstream.port }, await freeTcpPort());
    if (hook !== undefined) hooks.push(hook);
    started.push({ ...one, port, words });
  }
  for (const title of ["hot.yaml", "cold.yaml"]) {
    const config = parse(shown(title, root)) as { outputs: { format: string }[]; after?: object[] };
    config.outputs = config.outputs.filter(({ format }) => outputs.includes(format));
    if (config.after !== undefined) config.after = hooks;
    writeFileSync(join(root, `${title}.json`), JSON.stringify(config));
  }
  const publish = async (lines: readonly string[]): ReturnType<typeof run> => {
    writeFileSync(join(root, "hot.txt"), `${lines.join("\n")}\n`);
    return await run(root, "compile", "-c", "hot.yaml.json", "--permit", "hooks", "-q");
  };
  await writeNames(join(root, "cold.txt"), names);
  const large = await run(root, "compile", "-c", "cold.yaml.json", "-q", "--no-record");
  writeFileSync(join(root, "hot.txt"), `${STEPS[0]!.hot.join("\n")}\n`);
  await run(root, "compile", "-c", "hot.yaml.json", "-q");
  for (const { words } of started) children.push(startServer(words).child);
  const sample = Array.from({ length: 200 }, (_, index) =>
    switchName((1 + index * (names / 201)) | 0),
  );
  type Started = (typeof started)[number];
  const isAt = async (one: Started, { blocked, ...step }: Step): Promise<boolean> => {
    const { port, failsWhenPassed } = one;
    const passed = failsWhenPassed ? step.passed.filter((name) => name === NEW) : step.passed;
    const said = await askAll(port, [...blocked, ...passed]);
    return said.every(
      (answer, index) => answer === (index < blocked.length ? "blocked" : "passed"),
    );
  };
  for (const one of started)
    for (const end = Date.now() + 120_000; !(await isAt(one, STEPS[0]!)); await sleep(100))
      assert.ok(Date.now() < end, `${one.name} has loaded both lists`);
  for (const [index, step] of STEPS.entries()) {
    if (index === 0) continue;
    const began = performance.now();
    const took = new Map<string, number>();
    const watched = started.map(async (one) => {
      while (!(await isAt(one, step))) {
        assert.ok(performance.now() - began < 10 * LIMIT_MS, `${one.name}: ${index}`);
        await sleep(50);
      }
      took.set(one.name, performance.now() - began);
    });
    const [compiled] = await Promise.all([publish(step.hot), ...watched]);
    context.diagnostic(
      `change ${index} before ${names} names: ${[...took].map(([name, ms]) => `${name} ${(ms / 1000).toFixed(1)} s`).join(", ")}; CPU ${compiled.cpu.toFixed(1)} s, of the large list ${large.cpu.toFixed(1)} s`,
    );
    for (const [name, ms] of took) assert.ok(ms < LIMIT_MS, `${name} answers after ${ms} ms`);
    assert.ok(compiled.cpu < large.cpu, "the large list is not compiled again");
    for (const { name, port } of started) {
      const rest = sample.filter((one) => one !== coldName);
      const answers = await askAll(port, rest);
      assert.ok(
        answers.every((said) => said === "blocked"),
        `${name}: the large list stays`,
      );
    }
  }
}

test("a change of a small list is answered within 10 seconds before a large one, as zones and as databases", async (context) => {
  await follow(context, resolvers, NAMES, ["rpz", "cdb"]);
});

test(
  "the same with two constant databases, before 20 million names",
  { skip: !isNightly, timeout: 3_600_000 },
  async (context) => {
    await follow(context, resolvers.slice(-1), LARGE, ["cdb"]);
  },
);
