import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { missingCorpus, unpackedHistory } from "../support/corpus.ts";
import { listIn } from "../support/documents.ts";

/**
 * A release as users live with it: each package is installed in a clean root file system and compiles real lists, as they were on
 * seven days, from cron and from `serve`; then the next version takes over the same state.
 */
const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "week-"));
const LISTS = [
  "AdAway__adaway.github.io__hosts.txt",
  "mitchellkrogza__Badd-Boyz-Hosts__hosts",
  "privacy-protection-tools__anti-AD__anti-ad-easylist.txt",
];
const DAYS = 7;
const HOUR_MS = 3_600_000;
/** All times are in UTC. */
const MONDAY = Date.parse("2026-11-23T00:00:00Z");
const FAKE = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
const CONFIG = "/etc/rules-compiler/compiler-config.json";
const NEXT = "99.1.0";
/** For a week of `serve`. */
const PATIENCE_MS = 600_000;

/** A package of a release, and the script that installs or updates it in a machine. */
interface Package {
  readonly name: string;
  readonly file: RegExp;
  readonly install: (file: string) => string;
}

const PACKAGES: readonly Package[] = [
  {
    name: "tarball",
    file: /^rules-compiler-\d.*\.tgz$/,
    install: (file) => `npm install --global --no-audit --no-fund ${file}`,
  },
  {
    name: "wheel",
    file: /manylinux.*x86_64\.whl$/,
    install: (file) => `[ -d /opt/wheel ] || python3 -m venv /opt/wheel
      /opt/wheel/bin/pip install --quiet --no-index --upgrade ${file}
      ln -sf /opt/wheel/bin/rules-compiler /usr/local/bin/rules-compiler`,
  },
  {
    name: "deb",
    file: /_amd64\.deb$/,
    install: (file) => `apt-get install --yes ${file}`,
  },
  {
    name: "executable",
    file: /^rules-compiler-linux-x64\.tar\.gz$/,
    install: (file) => `tar -xzf ${file} -C /usr/local/bin`,
  },
];

const execute = promisify(execFile);

async function run(program: string, words: readonly string[], cwd = folder): Promise<string> {
  const { stdout } = await execute(program, words, { cwd, maxBuffer: 1 << 26 });
  return stdout;
}

/** A root file system of Debian's smallest packages, in which programs may see another clock. */
class Machine {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async named(name: string): Promise<Machine> {
    const path = join(folder, name);
    mkdirSync(path);
    await run("tar", ["-xf", join(folder, "machine.tar"), "-C", path]);
    const machine = new Machine(path);
    // Those of the machine around it, which may reach the npm registry in a way of its own.
    for (const file of ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt"])
      cpSync(file, machine.file(file), { dereference: true });
    if (name === "tarball") await machine.addNode();
    return machine;
  }

  private async addNode(): Promise<void> {
    cpSync(process.execPath, this.file("usr/local/bin/node"));
    const npm = (await run("sh", ["-c", 'readlink -f "$(command -v npm)"'])).trim();
    const lib = this.file("usr/local/lib/node_modules");
    cpSync(dirname(dirname(npm)), join(lib, "npm"), { recursive: true, dereference: true });
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", this.file("usr/local/bin/npm"));
    const registry = (await run("npm", ["config", "get", "registry"])).trim();
    mkdirSync(this.file("usr/local/etc"), { recursive: true });
    writeFileSync(
      this.file("usr/local/etc/npmrc"),
      `registry=${registry}\ncafile=/etc/ssl/certs/ca-certificates.crt\n`,
    );
  }

  file(path: string): string {
    return join(this.path, path);
  }

  /** The arguments of `unshare` for a script inside; whatever it starts ends with it. */
  words(script: string): string[] {
    const mounts = `mount -t proc proc '${this.path}/proc' && mount --rbind /dev '${this.path}/dev'`;
    const inside = `exec chroot '${this.path}' env -i HOME=/root TZ=UTC PATH=${PATH} sh -ec "$0"`;
    return [
      "--mount",
      "--pid",
      "--fork",
      "--kill-child",
      "sh",
      "-c",
      `${mounts} && ${inside}`,
      script,
    ];
  }

  async run(script: string): Promise<string> {
    return await run("unshare", this.words(script));
  }
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const RULES = "var/lib/rules-compiler";

/** Assignments, one a line, with which programs see a clock that starts at a time. */
function clockAt(time: number): string {
  const at = new Date(time).toISOString().slice(0, 19).replace("T", " ");
  return `LD_PRELOAD=${FAKE}\nFAKETIME=@${at}\nFAKETIME_DONT_FAKE_MONOTONIC=1\nNO_FAKE_STAT=1\n`;
}

function exported(assignments: string): string {
  return assignments.replaceAll(/^(\w+)=(.*)$/gm, "export $1='$2'");
}

let server: Server;
let day = 0;
const releases = new Map<string, string>();

async function release(checkout: string, name: string): Promise<void> {
  const made = join(folder, name);
  await run(process.execPath, ["scripts/release.ts", "--dry-run", made, "linux-x64"], checkout);
  releases.set(name, made);
}

/** A checkout of this commit with the next version. */
async function nextCheckout(): Promise<string> {
  const checkout = join(folder, "checkout");
  await run("git", ["clone", "--quiet", root, checkout]);
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  const path = join(checkout, "package.json");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/"version": "[\d.]+"/, `"version": "${NEXT}"`));
  await run(process.execPath, ["scripts/generate.ts"], checkout);
  await run("npm", ["run", "build"], checkout);
  return checkout;
}

/** Copies a package of a release into a machine and installs it; the version that the program then has. */
async function installed(machine: Machine, one: Package, from: string): Promise<string> {
  const made = releases.get(from)!;
  const found = readdirSync(made).filter((file) => one.file.test(file));
  assert.equal(found.length, 1, `${one.file}: ${readdirSync(made).join(", ")}`);
  cpSync(join(made, found[0]!), machine.file(`root/${found[0]!}`));
  await machine.run(one.install(`/root/${found[0]!}`));
  return (await machine.run("rules-compiler --version")).trim();
}

before(
  async () => {
    if (missingCorpus !== false) return;
    await release(root, "now");
    await release(await nextCheckout(), "next");
    await run("mmdebstrap", [
      "--quiet",
      "--variant=apt",
      "--include=cron,faketime,python3-venv,procps",
      "bookworm",
      join(folder, "machine.tar"),
    ]);
    const versions = LISTS.map((list) => unpackedHistory(list, folder).slice(-DAYS));
    server = createServer((request, response) => {
      const path = versions[Number(request.url?.slice(1))]?.[day];
      if (path === undefined) response.writeHead(404).end();
      else response.end(readFileSync(path));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  },
  { timeout: 1_200_000 },
);
after(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

function configuration(): string {
  const { port } = server.address() as AddressInfo;
  return JSON.stringify({
    name: "Week",
    sources: LISTS.map((name, index) => ({
      name,
      source: `http://127.0.0.1:${port}/${index}`,
      allow_private: true,
    })),
    transformations: "recommended",
    outputs: [{ format: "hosts" }, { format: "rpz" }],
  });
}

/** The rules of a list, without its header. */
function rulesOf(path: string): string {
  return readFileSync(path, "utf8").replace(/^(?:!.*\n)+/, "");
}

/** What the checkout makes of the texts of today, without any state. */
async function rulesOfToday(): Promise<string> {
  const own = mkdtempSync(join(folder, "today-"));
  writeFileSync(join(own, "c.json"), configuration());
  const words = ["-q", "-c", "c.json", "--no-cache", "-o", "list.txt"];
  await run(process.execPath, [join(root, "dist/cli/bin.js"), ...words], own);
  return rulesOf(join(own, "list.txt"));
}

/** One run from Debian's cron, as in deploy/cron; what it printed. */
async function cronAt(machine: Machine, time: number): Promise<string> {
  const table = readFileSync(join(root, "deploy/cron/rules-compiler.cron"), "utf8");
  const [, line] = /^(0 \*\/6 \* \* \* .*)$/m.exec(table)!;
  writeFileSync(
    machine.file("root/table"),
    `${table.replace(/^0 .*\n?/m, "")}${clockAt(time)}${line!} >/root/said 2>&1; echo $? >/root/ended\n`,
  );
  rmSync(machine.file("root/ended"), { force: true });
  await machine.run(`crontab /root/table
    ${exported(clockAt(time - 3000))}
    cron -f &
    unset LD_PRELOAD
    for try in $(seq 600); do [ -s /root/ended ] && exit 0; sleep 0.1; done
    echo "cron ran nothing" >&2; exit 1`);
  assert.equal(readFileSync(machine.file("root/ended"), "utf8"), "0\n", saidIn(machine));
  return saidIn(machine);
}

function saidIn(machine: Machine): string {
  return readFileSync(machine.file("root/said"), "utf8");
}

/** A server inside a machine, whose clock is moved by hand. */
async function serveWeek(machine: Machine, expected: readonly string[]): Promise<void> {
  const clock = machine.file("root/clock");
  const set = (time: number): void => {
    writeFileSync(`${clock}.next`, clockText(time));
    renameSync(`${clock}.next`, clock);
  };
  const firstDay = MONDAY + DAYS * 24 * HOUR_MS;
  set(firstDay + 6.5 * HOUR_MS);
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const assignments = `LD_PRELOAD=${FAKE}\nFAKETIME_TIMESTAMP_FILE=/root/clock\nFAKETIME_CACHE_DURATION=1\nNO_FAKE_STAT=1\n`;
  const serving = spawn(
    "unshare",
    machine.words(
      `${exported(assignments)} export RULES_DIR=/${RULES}; exec rules-compiler serve -c ${CONFIG} --port ${port}`,
    ),
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise<void>((resolve) => serving.once("exit", () => resolve()));
  // Its log ends with it.
  const patience = setTimeout(() => serving.kill("SIGKILL"), PATIENCE_MS);
  const events = createInterface({ input: serving.stderr })[Symbol.asyncIterator]();
  const log: string[] = [];
  const url = `http://127.0.0.1:${port}`;
  try {
    for (const [index, rules] of expected.entries()) {
      day = index;
      if (index > 0) set(firstDay + (index * 24 + 6.5) * HOUR_MS);
      // A question wakes the server, which then sees what time it is.
      const waking = setInterval(() => void fetch(`${url}/health`).catch(() => {}), 200);
      try {
        for (;;) {
          const { value = "", done } = await events.next();
          log.push(value);
          assert.ok(done !== true, log.join("\n"));
          if (value.includes('"event":"run-ended"')) break;
        }
      } finally {
        clearInterval(waking);
      }
      const served = await (await fetch(`${url}/rules/week.txt`)).text();
      assert.equal(served.replace(/^(?:!.*\n)+/, ""), rules, `day ${index}\n${log.join("\n")}`);
      const health = await fetch(`${url}/health`);
      assert.equal(health.status, 200, await health.text());
    }
  } finally {
    clearTimeout(patience);
    serving.kill("SIGKILL");
    await ended;
  }
}

interface LoggedEvent {
  readonly at: string;
  readonly build?: string;
}

function eventsIn(log: string): readonly LoggedEvent[] {
  return (listIn(log) as { events: readonly LoggedEvent[] }).events;
}

/** How far a clock is from the real one: libfaketime sets absolute times again when threads read them at the same moment. */
function clockText(time: number): string {
  const seconds = ((time - Date.now()) / 1000).toFixed(3);
  return `${seconds.startsWith("-") ? "" : "+"}${seconds}\n`;
}

for (const one of PACKAGES)
  test(
    `the ${one.name}: a week of cron, a week of serve, and the next version over their state`,
    { skip: missingCorpus, timeout: 1_800_000 },
    async (context) => {
      const machine = await Machine.named(one.name);
      context.after(() => rmSync(machine.path, { recursive: true, force: true }));
      const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
        version: string;
      };
      assert.equal(await installed(machine, one, "now"), version);
      mkdirSync(dirname(machine.file(CONFIG)), { recursive: true });
      mkdirSync(machine.file(RULES), { recursive: true });
      writeFileSync(machine.file(CONFIG), configuration());
      const list = machine.file(join(RULES, "week.txt"));

      const expected: string[] = [];
      const said: string[] = [];
      // One machine runs four times a day, as in deploy/cron; the others once.
      const times = one.name === "deb" ? [0, 6, 12, 18] : [6];
      for (day = 0; day < DAYS; day++) {
        expected.push(await rulesOfToday());
        for (const hour of times) {
          said.push(await cronAt(machine, MONDAY + (day * 24 + hour) * HOUR_MS));
          assert.equal(rulesOf(list), expected[day], `day ${day}`);
        }
      }
      context.diagnostic(`${said.length} runs of cron, ${said.filter(Boolean).length} with news`);
      assert.ok(new Set(expected).size > 1, "the lists change");

      await serveWeek(machine, expected);
      const oldLog = await machine.run(
        `RULES_DIR=/${RULES} rules-compiler log -c ${CONFIG} --json`,
      );

      assert.equal(await installed(machine, one, "next"), NEXT);
      day = DAYS - 1;
      const at = MONDAY + (2 * DAYS + 2) * 24 * HOUR_MS;
      const quiet = await cronAt(machine, at);
      assert.equal(quiet, "", "the next version has no news about the same texts");
      assert.equal(rulesOf(list), expected[DAYS - 1]);
      const inside = `${exported(clockAt(at + HOUR_MS))}export RULES_DIR=/${RULES};`;
      const events = eventsIn(
        await machine.run(`${inside} rules-compiler log -c ${CONFIG} --json`),
      );
      const builds = eventsIn(oldLog).filter(({ build }) => build !== undefined);
      assert.ok(builds.length >= DAYS, oldLog);
      // One more build may have removed the oldest.
      assert.ok(events.filter(({ build }) => build !== undefined).length >= builds.length);
      const logged = new Set(events.map((event) => event.at));
      for (const build of builds)
        assert.ok(logged.has(build.at), `the build of ${build.at} is lost`);
      const [, name] = /^\|\|([\w.-]+)\^$/m.exec(expected[DAYS - 1]!)!;
      const why = await machine.run(`${inside} rules-compiler why -c ${CONFIG} ${name!}`);
      assert.match(why, /BLOCKED/);
      await machine.run(`${inside} rules-compiler rollback -c ${CONFIG} -q`);
      assert.notEqual(
        rulesOf(list),
        expected[DAYS - 1],
        "a build of the old version is published again",
      );
      context.diagnostic(
        `${builds.length} builds of the old version, ${events.length} events of both`,
      );
    },
  );
