/**
 * Three lists for clients of unbound: the combined file with tags, against a response policy zone a list (`rpz:` with `tags:`) that
 * unbound transfers from BIND. Prints the resident memory of unbound, and the longest time without an answer while an update of
 * 1 % arrives. Needs unbound, unbound-control and named.
 *
 *   node bench/unbound-lists.ts [NAMES] [SHARED]
 */
import { execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { startUpstream } from "../test/support/resolvers/dns-client.ts";

const NAMES = Number(process.argv[2] ?? 300_000);
/** How many names a list shares with the one before. */
const SHARED = Number(process.argv[3] ?? 0);
const LISTS = ["one", "two", "three"];
const PROGRAM = join(import.meta.dirname, "../dist/cli/bin.js");
const root = mkdtempSync(join(tmpdir(), "unbound-lists-"));
const [FIRST_PORT, SECRET] = [21_000 + (process.pid % 5000), "c2VjcmV0LXNlY3JldC1zZWNyZXQ="];

function write(file: string, text: string): string {
  writeFileSync(join(root, file), text);
  return join(root, file);
}

/** The names of a list; after the update, the first hundredth is replaced. */
function namesOf(list: number, isNew: boolean): string[] {
  const from = list * (NAMES - SHARED);
  const changed = Math.floor(NAMES / 100);
  return Array.from({ length: NAMES }, (_, index) => {
    const number = from + index;
    const kind = isNew && index < changed ? "new" : "name";
    return `${kind}${number}.domain${number % 9973}.example`;
  });
}

/** Compiles the lists into a folder. */
function compile(folder: string, isNew: boolean): void {
  for (const [list, name] of LISTS.entries())
    write(
      `${name}.txt`,
      namesOf(list, isNew)
        .map((one) => `||${one}^\n`)
        .join(""),
    );
  const config = {
    name: "All",
    sources: LISTS.map((name) => ({ name, source: `${name}.txt`, type: "adblock" })),
    transformations: ["Deduplicate", "InsertFinalNewLine"],
    outputs: [{ format: "rpz", file: "{slug}.rpz" }],
    lists: LISTS.map((name) => ({ name, sources: [name] })),
    combined: [{ format: "unbound-tags", file: "tags.conf" }],
  };
  write("c.json", JSON.stringify(config));
  execFileSync(process.execPath, [PROGRAM, "-c", "c.json", "--no-record"], {
    cwd: root,
    stdio: "pipe",
  });
  cpSync(join(root, "rules"), join(root, folder), { recursive: true });
}

/** Publishes what was compiled before, in no time. */
function publish(folder: string): void {
  for (const file of [...LISTS.map((name) => `${name}.rpz`), "tags.conf"])
    copyFileSync(join(root, folder, file), join(root, "rules", file));
}

interface Server {
  readonly pid: number;
  readonly log: () => string;
  stop(): Promise<void>;
}

function start(words: readonly string[]): Server {
  const child = spawn(words[0]!, words.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Uint8Array) => (log += String(piece)));
  const ended = new Promise<void>((end) => child.once("exit", () => end()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { pid: child.pid!, log: () => log, stop };
}

function memoryMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kb) / 1024);
}

function unboundConf(port: number, lists: string): string {
  return `server:
  directory: "${root}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  verbosity: 1
  do-daemonize: no
  num-threads: 1
  module-config: "respip iterator"
  interface: 127.0.0.1
  port: ${port}
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  msg-cache-size: 1m
  rrset-cache-size: 1m
${lists}
remote-control:
  control-enable: yes
  control-interface: 127.0.0.1
  control-port: ${port + 1}
  control-use-cert: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstream.port}
`;
}

function question(id: number, name: string): Uint8Array {
  const labels = name.split(".").flatMap((one) => [one.length, ...new TextEncoder().encode(one)]);
  return Uint8Array.of(id >> 8, id & 255, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1);
}

/** Asks for a name every five milliseconds, as a client with the first and the third list. */
class Prober {
  longestGapMs = 0;
  /** The response code of the last answer. */
  code = -1;
  private last = performance.now();
  private readonly socket = createSocket("udp4");
  private timer: NodeJS.Timeout | undefined;

  async start(port: number, name: string): Promise<void> {
    await new Promise<void>((bound) => this.socket.bind(0, "127.0.1.1", bound));
    this.socket.on("message", (answer) => {
      this.note();
      this.code = answer[3]! & 15;
    });
    let id = 0;
    this.timer = setInterval(
      () => this.socket.send(question(id++ & 0xffff, name), port, "127.0.0.1"),
      5,
    );
  }

  reset(): void {
    this.longestGapMs = 0;
    this.last = performance.now();
  }

  stop(): void {
    this.note();
    clearInterval(this.timer);
    this.socket.close();
  }

  private note(): void {
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - this.last);
    this.last = now;
  }
}

async function until(what: string, isDone: () => boolean): Promise<number> {
  const began = performance.now();
  while (!isDone()) {
    if (performance.now() - began > 180_000) throw new Error(`${what} takes too long`);
    await sleep(5);
  }
  return (performance.now() - began) / 1000;
}

const BLOCKED = 3;
const CLIENT = `  access-control-tag: 127.0.1.1/32 "one three"\n`;
const fresh = namesOf(2, true)[0]!;
const upstream = await startUpstream();

async function measure(
  title: string,
  port: number,
  lists: string,
  update: () => void,
): Promise<void> {
  const conf = write(`unbound-${port}.conf`, unboundConf(port, lists));
  const server = start(["unbound", "-d", "-c", conf]);
  const prober = new Prober();
  try {
    await prober.start(port, namesOf(2, false).at(-1)!);
    const ready = await until(`${title}: start`, () => prober.code === BLOCKED);
    const other = new Prober();
    await other.start(port, fresh);
    await sleep(1000);
    const before = memoryMb(server.pid);
    let peak = before;
    prober.reset();
    update();
    const applied = await until(`${title}: update`, () => {
      peak = Math.max(peak, memoryMb(server.pid));
      return other.code === BLOCKED;
    });
    // The other lists may arrive later.
    await sleep(4000);
    peak = Math.max(peak, memoryMb(server.pid));
    other.stop();
    prober.stop();
    process.stdout.write(
      `${title}: ready after ${ready.toFixed(1)} s; ${before} MB, peak ${peak} MB, after the update ${memoryMb(server.pid)} MB; longest gap ${(prober.longestGapMs / 1000).toFixed(2)} s; new name blocked after ${applied.toFixed(1)} s\n`,
    );
  } finally {
    await server.stop();
  }
}

const [TAGS_PORT, ZONES_PORT, PRIMARY] = [FIRST_PORT, FIRST_PORT + 10, FIRST_PORT + 20];
try {
  compile("old", false);
  compile("new", true);
  publish("old");
  await measure(
    "unbound-tags",
    TAGS_PORT,
    `  include: "${join(root, "rules/tags.conf")}"\n${CLIENT}`,
    () => {
      publish("new");
      const conf = join(root, `unbound-${TAGS_PORT}.conf`);
      spawn("unbound-control", ["-c", conf, "reload"], { stdio: "ignore" });
    },
  );
  publish("old");
  const key = `key "rndc" { algorithm hmac-sha256; secret "${SECRET}"; };\n`;
  const zones = LISTS.map(
    (name) =>
      `zone "${name}.rpz" { type primary; file "${join(root, "rules", `${name}.rpz`)}"; ixfr-from-differences yes; max-ixfr-ratio unlimited; allow-transfer { any; }; };\n`,
  );
  const named = start([
    "named",
    "-g",
    "-c",
    write(
      "named.conf",
      `${key}controls { inet 127.0.0.1 port ${PRIMARY + 1} allow { 127.0.0.1; } keys { "rndc"; }; };
options { directory "${root}"; listen-on port ${PRIMARY} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none; session-keyfile none;
 recursion no; dnssec-validation no; notify-delay 0; notify explicit; also-notify { 127.0.0.1 port ${ZONES_PORT}; }; max-journal-size 500m; };
${zones.join("")}`,
    ),
  ]);
  const control = write(
    "rndc.conf",
    `${key}options { default-server 127.0.0.1; default-port ${PRIMARY + 1}; default-key "rndc"; };\n`,
  );
  try {
    await until("named", () => named.log().includes("all zones loaded"));
    const policies = LISTS.map(
      (name) =>
        `rpz:\n  name: ${name}.rpz\n  primary: 127.0.0.1@${PRIMARY}\n  allow-notify: 127.0.0.1\n  tags: "${name}"\n`,
    );
    const lists = `  define-tag: "${LISTS.join(" ")}"\n${CLIENT}${policies.join("")}`;
    await measure("rpz with tags, IXFR", ZONES_PORT, lists, () => {
      publish("new");
      spawn("rndc", ["-c", control, "reload"], { stdio: "ignore" });
    });
    const sent = named.log().match(/(?:AXFR|IXFR) (?:started|ended)[^\n]*/g) ?? [];
    process.stdout.write(`${sent.join("\n")}\n`);
  } finally {
    await named.stop();
  }
} finally {
  upstream.close();
  rmSync(root, { recursive: true });
}
