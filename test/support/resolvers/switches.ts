import type { Proof } from "../../../src/documents/facts.ts";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { PROGRAM } from "../command.ts";
import { listsIn } from "../documents.ts";
import { askAll } from "./dns-client.ts";
import { startInternet } from "./internet.ts";
import { freeTcpPort, reloadables, writeSystemctl } from "./reloadable.ts";
import { freePort } from "./servers.ts";
import { controlFile, primaryCommand, secondaries, startServer } from "./zone-servers.ts";

/** A way for a change to reach a resolver. */
export interface SwitchWay {
  readonly resolver: string;
  readonly how: string;
  readonly format: string;
  start(place: { folder: string; port: number; upstream: number; list: string }): Promise<Started>;
}

interface Started {
  /** The server that answers; undefined if `systemctl` starts it. */
  readonly child: ChildProcess | undefined;
  readonly others: readonly ChildProcess[];
  readonly hooks: readonly object[];
  readonly path?: string;
}

/** The list is a file of the resolver, which reads it again. */
function byFile(
  name: string,
  how: string,
  hooks?: (own: readonly object[]) => object[],
): SwitchWay {
  const kind = reloadables.get(name)!;
  return {
    resolver: name.replace(/ (?:with RPZ|that watches the zone)$/, ""),
    how,
    format: kind.format,
    start: async ({ folder, port, upstream, list }) => {
      const setting = { folder, port, upstream, list, allow: "" };
      const { words, hooks: own } = kind.set(setting, await freeTcpPort());
      const chosen = hooks === undefined ? own : hooks(own);
      if (kind.isRestarted !== true)
        return { child: startServer(words).child, others: [], hooks: chosen };
      const unit = name.startsWith("Knot") ? "kresd@*" : name;
      const path = `${writeSystemctl(folder, unit, words)}:${process.env["PATH"]}`;
      execFileSync("systemctl", ["restart", unit], { env: { ...process.env, PATH: path } });
      return { child: undefined, others: [], hooks: chosen, path };
    },
  };
}

/** The list is a zone of a primary on this machine, which sends the difference. */
function byTransfer(name: string): SwitchWay {
  const secondary = secondaries.find((one) => one.name === name)!;
  return {
    resolver: name,
    how: "zone transfer (IXFR) from a BIND primary",
    format: "rpz",
    start: async ({ folder, port, upstream, list }) => {
      const place = { folder: join(folder, "primary"), port: await freeTcpPort() };
      const primary = startServer(primaryCommand(place, list, [{ port, how: secondary.notify }]));
      const own = join(folder, "secondary");
      mkdirSync(own);
      const words = secondary.start({ folder: own, port }, place.port, upstream);
      // One that starts before the primary has the zone waits for minutes.
      await sleep(1000);
      const control = controlFile(place);
      for (;;) {
        const status = trySh("rndc", ["-c", control, "zonestatus", "rpz.local"]);
        if (status !== undefined && /serial: \d+/.test(status)) break;
        await sleep(200);
      }
      const hooks = [{ reload: "bind", with: ["-c", control] }];
      return { child: startServer(words).child, others: [primary.child], hooks };
    },
  };
}

function trySh(program: string, words: readonly string[]): string | undefined {
  try {
    return execFileSync(program, words, { encoding: "utf8", stdio: "pipe" });
  } catch {
    return undefined;
  }
}

/** `auth_zone_reload` instead of a reload of everything. */
function zoneReload(own: readonly object[]): object[] {
  const { with: words = [] } = own[0]! as { with?: string[] };
  return [{ run: ["unbound-control", ...words, "auth_zone_reload", "rpz.local"], timeout: "10m" }];
}

export const SWITCH_WAYS: readonly SwitchWay[] = [
  byTransfer("unbound"),
  byFile("unbound", "`format: unbound`, `reload: unbound`"),
  byFile("unbound with RPZ", "zone file, `auth_zone_reload`", zoneReload),
  byFile("unbound with RPZ", "zone file, `reload: unbound`"),
  byTransfer("BIND"),
  byFile("BIND", "zone file, `reload: bind`"),
  byTransfer("PowerDNS Recursor"),
  byFile("PowerDNS Recursor", "zone file, `reload: powerdns-recursor`"),
  byFile("Knot Resolver 5 that watches the zone", "zone file, read by itself"),
  byFile("dnsdist", "`format: dnsdist`, `reload: dnsdist`"),
  byFile("dnsmasq", "`format: dnsmasq-servers`, `reload: dnsmasq`"),
  byFile("smartdns", "`format: smartdns`, `reload: smartdns`, a restart"),
  databases(),
];

function databases(): SwitchWay {
  return {
    resolver: "dnsdist",
    how: "`format: cdb`, read by itself",
    format: "cdb",
    start: async ({ folder, port, upstream, list }) => {
      const conf = join(folder, "dnsdist-cdb.conf");
      writeFileSync(
        conf,
        `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
local lists = dofile('${list}.lua')
addAction(lists.blocks(), RCodeAction(DNSRCode.NXDOMAIN))
`,
      );
      const words = ["dnsdist", "--supervised", "--disable-syslog", "-C", conf];
      return { child: startServer(words).child, others: [], hooks: [] };
    },
  };
}

/** What clients saw while a resolver changed from one list to the next. */
export interface SwitchFigures {
  /** From the start of the compile to the proof. */
  readonly seconds: number;
  /** The longest time in which no question was answered, as clients saw it. */
  readonly gapMs: number;
  /** The same as the program reports it. */
  readonly reportedMs: number;
  readonly asked: number;
  /** Not answered within a second. */
  readonly lost: number;
  /** A listed name that passed, or another that was blocked. */
  readonly wrong: number;
  /** What the resolver had in memory at the most, in MB. */
  readonly megabytes: number | undefined;
}

const QUESTION_MS = 8;
const LATE_MS = 1000;

/** Asks a resolver all the time: for listed names, for others, and for random ones. */
class Client {
  private readonly socket = createSocket({ type: "udp4", recvBufferSize: 4_000_000 });
  private readonly waiting = new Map<number, { at: number; isListed: boolean }>();
  private readonly timer: NodeJS.Timeout;
  private lastAnswer = performance.now();
  gapMs = 0;
  asked = 0;
  late = 0;
  wrong = 0;

  constructor(port: number, listed: readonly string[]) {
    this.socket.on("message", (answer) => this.take(answer));
    this.timer = setInterval(() => {
      const isListed = this.asked % 2 === 0;
      const name = isListed
        ? listed[this.asked % listed.length]!
        : `q${this.asked}.${this.asked % 4 === 1 ? "allowed.org" : `s${this.asked}.org`}`;
      const id = this.asked++ & 0xffff;
      this.waiting.set(id, { at: performance.now(), isListed });
      this.socket.send(questionOf(id, name), port, "127.0.0.1");
    }, QUESTION_MS);
  }

  private take(answer: Uint8Array): void {
    const id = (answer[0]! << 8) | answer[1]!;
    const asked = this.waiting.get(id);
    if (asked === undefined) return;
    this.waiting.delete(id);
    const now = performance.now();
    const rcode = answer[3]! & 15;
    if (now - asked.at > LATE_MS || rcode === 2) {
      this.late++;
      return;
    }
    this.gapMs = Math.max(this.gapMs, now - this.lastAnswer);
    this.lastAnswer = now;
    const isBlocked = answer[7] === 0;
    if (isBlocked !== asked.isListed) this.wrong++;
  }

  async end(): Promise<Pick<SwitchFigures, "gapMs" | "asked" | "lost" | "wrong">> {
    clearInterval(this.timer);
    await sleep(LATE_MS);
    this.socket.close();
    const { gapMs, asked, late, wrong, waiting } = this;
    return { gapMs: Math.round(gapMs), asked, lost: late + waiting.size, wrong };
  }
}

function questionOf(id: number, name: string): Uint8Array {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Uint8Array.from([
    id >> 8,
    id & 255,
    1,
    0,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    0,
    ...labels,
    0,
    0,
    1,
    0,
    1,
  ]);
}

export function switchName(index: number): string {
  return `${"abcdefgh"[index % 8]}${(index * 7919).toString(36)}.d${index % 9973}.org`;
}

/** Publishes a list, starts a resolver with it, and replaces some of its names while clients ask. */
export async function runSwitch(
  way: SwitchWay,
  { names, changed }: { readonly names: number; readonly changed: number },
  folder: string,
): Promise<SwitchFigures> {
  mkdirSync(folder, { recursive: true });
  const internet = await startInternet();
  const port = await freePort();
  const list = join(folder, "artifact");
  const config = (hooks: readonly object[]): void =>
    writeFileSync(
      join(folder, "c.json"),
      JSON.stringify({
        name: "List",
        sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
        transformations: ["Compress", "Deduplicate"],
        outputs: [{ format: way.format, file: "artifact" }],
        after: hooks.map((hook) => ({ timeout: "10m", ...hook })),
        resolvers: [{ name: "it", address: `127.0.0.1:${port}` }],
      }),
    );
  const write = (from: number): void => {
    const lines = Array.from({ length: names }, (_, index) => `||${switchName(from + index)}^\n`);
    writeFileSync(join(folder, "own.txt"), lines.join(""));
  };
  let env: Record<string, string> = { RULES_DIR: folder };
  const program = async (...words: string[]): Promise<string> =>
    await output(process.execPath, [PROGRAM, ...words, "-c", "c.json"], folder, env);
  config([]);
  write(0);
  await program("compile", "--no-cache", "--no-record", "-q");
  const { child, others, hooks, path } = await way.start({
    folder,
    port,
    upstream: internet.port,
    list,
  });
  if (path !== undefined) env = { ...env, PATH: path };
  try {
    config(hooks);
    // The next names stay; the first of them are replaced.
    const listed = Array.from({ length: 500 }, (_, index) =>
      switchName(changed + Math.floor((index * (names - changed)) / 500)),
    );
    await program("prove", "--wait", "5m");
    // BIND answers from the part of a zone that it has read, the canary included, before it has read the rest.
    while ((await askAll(port, listed)).some((said) => said !== "blocked")) await sleep(100);
    write(changed);
    const began = performance.now();
    const client = new Client(port, listed);
    const said = await program(
      "compile",
      "--no-cache",
      "--no-record",
      "--permit",
      "hooks",
      "--wait",
      "5m",
      "--json",
    );
    const seconds = (performance.now() - began) / 1000;
    const seen = await client.end();
    const [{ resolvers: [proof] = [] } = {}] = listsIn(said) as { resolvers?: Proof[] }[];
    if (proof?.outcome !== "proved") throw new Error(`${way.resolver}: ${JSON.stringify(proof)}`);
    return {
      seconds: Math.round(seconds * 10) / 10,
      reportedMs: proof.unansweredMs!,
      ...seen,
      megabytes: child === undefined ? undefined : peakOf(child),
    };
  } finally {
    internet.close();
    for (const one of [child, ...others]) one?.kill("SIGKILL");
    if (path !== undefined) trySh("sh", ["-c", `kill -9 "$(cat '${join(folder, "unit.pid")}')"`]);
  }
}

function peakOf({ pid }: ChildProcess): number | undefined {
  const status = trySh("cat", [`/proc/${pid}/status`]) ?? "";
  const kilobytes = /VmHWM:\s+(?<kilobytes>\d+)/.exec(status)?.groups?.["kilobytes"];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}

/** What a program prints. Our own event loop goes on. */
async function output(
  program: string,
  words: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  const child = spawn(program, words, { cwd, env: { ...process.env, ...env } });
  let said = "";
  let problems = "";
  child.stdout.on("data", (piece: Uint8Array) => (said += String(piece)));
  child.stderr.on("data", (piece: Uint8Array) => (problems += String(piece)));
  const code = await new Promise((end) => child.once("close", end));
  if (code !== 0) throw new Error(`${words.join(" ")} ended in ${String(code)}: ${problems}`);
  return said;
}
