import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import dnsPacket from "dns-packet";
import { nodeHost } from "../../../src/host/node.ts";
import { type AliveRequest, type AliveResult, askAlive } from "../../../src/resolvers/alive.ts";
import { FILTERED } from "../../../src/resolvers/ask-names.ts";
import { freePort } from "../resolvers/servers.ts";
import { type World, answerOf, isDenied } from "./world.ts";

const SOA = "SOA a.example. b.example. 1 60 60 60 0";

/** A real authoritative server (Knot), with the zones of the root, `com`, `net` and `org` as they are on a day of a world. */
export class Authority {
  readonly port: number;
  private readonly folder: string;
  private readonly world: World;
  private readonly more: readonly string[];
  private serial = 1;

  private constructor(folder: string, port: number, world: World, more: readonly string[]) {
    this.folder = folder;
    this.port = port;
    this.world = world;
    this.more = more;
  }

  /** `more`: names that exist in `com` besides. */
  static async start(
    context: TestContext,
    folder: string,
    world: World,
    more: readonly string[],
  ): Promise<Authority> {
    mkdirSync(folder, { recursive: true });
    const authority = new Authority(folder, await freePort(), world, more);
    authority.writeZones();
    const zones = [".", "com", "net", "org", "example"];
    const conf = `server:
  listen: 127.0.0.1@${authority.port}
  rundir: ${folder}
control:
  listen: ${folder}/knot.sock
database:
  storage: ${folder}
template:
  - id: default
    storage: ${folder}
    zonefile-load: whole
    zonefile-sync: -1
    journal-content: none
zone:
${zones.map((zone) => `  - domain: ${zone}\n    file: ${zone === "." ? "root" : zone}.zone\n`).join("")}`;
    writeFileSync(join(folder, "knot.conf"), conf);
    const child = spawn("knotd", ["-c", join(folder, "knot.conf")], { stdio: "ignore" });
    context.after(() => child.kill("SIGKILL"));
    await answers(authority.port, "iana.org");
    return authority;
  }

  /** Makes it answer as on the current day of the world. */
  async reload(): Promise<void> {
    this.writeZones();
    execFileSync("knotc", ["-s", join(this.folder, "knot.sock"), "-b", "zone-reload"], {
      stdio: "ignore",
    });
  }

  private writeZones(): void {
    const { world, more } = this;
    const zones = new Map<string, string[]>(
      ["root", "com", "net", "org", "example"].map((zone) => [
        zone,
        [
          `$ORIGIN ${zone === "root" ? "." : `${zone}.`}`,
          "$TTL 0",
          `@ ${SOA.replace(" 1 ", ` ${this.serial} `)}`,
          "@ NS a.example.",
        ],
      ]),
    );
    this.serial++;
    const add = (name: string, line: string): void => {
      zones.get(name.slice(name.lastIndexOf(".") + 1))?.push(`${name}. ${line}`);
    };
    for (const one of world.names) {
      if (one.name.endsWith(".zz") || isDenied(one, world.day)) continue;
      // Without name servers of its own: the resolver would ask them.
      add(one.name, "A 192.0.2.80");
    }
    for (const name of ["iana.org", "ietf.org", "wikipedia.org", ...FILTERED, ...more])
      add(name, "A 192.0.2.80");
    add("a.example", "A 127.0.0.1");
    for (const [zone, lines] of zones)
      writeFileSync(join(this.folder, `${zone}.zone`), `${lines.join("\n")}\n`);
  }
}

/** An authoritative server for `zz` whose faults are those of the world, and for `split`, which lacks what others see. */
export async function startBroken(context: TestContext, world: World): Promise<number> {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4_000_000 });
  socket.on("message", (bytes, { port, address }) => {
    const { id, questions = [] } = dnsPacket.decode(bytes);
    const [{ name, type } = { name: "", type: "A" as const }] = questions;
    const asked = name.toLowerCase();
    const said = asked.endsWith("zz")
      ? world.said(asked, type)
      : { rcode: asked === "split-stub.com" ? (0 as const) : (3 as const), soa: "split-stub.com" };
    if (said === undefined) return;
    socket.send(dnsPacket.encode(answerOf(said, { id, questions }, 0x8400)), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  context.after(() => void socket.close());
  return socket.address().port;
}

/** A real recursive resolver. */
export class Unbound {
  readonly port: number;
  private readonly child: ChildProcess;
  private readonly conf: string;

  private constructor(port: number, child: ChildProcess, conf: string) {
    this.port = port;
    this.child = child;
    this.conf = conf;
  }

  static async start(
    context: TestContext,
    folder: string,
    upstream: { readonly authority: number; readonly broken: number },
    more = "",
  ): Promise<Unbound> {
    mkdirSync(folder, { recursive: true });
    const port = await freePort();
    const conf = join(folder, "unbound.conf");
    writeFileSync(
      conf,
      `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  logfile: ""
  do-daemonize: no
  interface: 127.0.0.1
  port: ${port}
  so-rcvbuf: 0
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  do-ip6: no
  module-config: "iterator"
  num-queries-per-thread: 4096
  outgoing-range: 8192
  cache-max-ttl: 0
  cache-max-negative-ttl: 0
  infra-host-ttl: 0
${more}
remote-control:
  control-enable: yes
  control-interface: ${folder}/control.sock
  control-use-cert: no
${["com", "net", "org", "example", "."].map((zone) => stub(zone, upstream.authority)).join("")}${stub("zz", upstream.broken)}`,
    );
    const child = spawn("unbound", ["-d", "-c", conf], { stdio: "ignore" });
    context.after(() => child.kill("SIGKILL"));
    await answers(port, "iana.org");
    return new Unbound(port, child, conf);
  }

  /** Changes it while it runs. */
  control(...words: string[]): string {
    return execFileSync("unbound-control", ["-c", this.conf, ...words], { encoding: "utf8" });
  }

  /** Filters names from now on, with NXDOMAIN. */
  filter(names: readonly string[]): void {
    const input = names.map((name) => `${name} always_nxdomain\n`).join("");
    execFileSync("unbound-control", ["-c", this.conf, "local_zones"], { input, stdio: "pipe" });
  }

  unfilter(names: readonly string[]): void {
    const input = names.map((name) => `${name}\n`).join("");
    execFileSync("unbound-control", ["-c", this.conf, "local_zones_remove"], {
      input,
      stdio: "pipe",
    });
  }

  /** How many questions it was asked. */
  get questions(): number {
    return Number(
      /total\.num\.queries=(?<n>\d+)/.exec(this.control("stats_noreset"))?.groups?.["n"],
    );
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "close");
    this.child.kill("SIGKILL");
    await ended;
  }
}

function stub(zone: string, at: number): string {
  return `stub-zone:\n  name: "${zone}"\n  stub-addr: 127.0.0.1@${at}\n  stub-no-cache: yes\n`;
}

/** Resolves when a server answers for a name. */
async function answers(port: number, name: string): Promise<void> {
  for (;;) {
    const socket = createSocket("udp4");
    const message = dnsPacket.encode({
      type: "query",
      id: 1,
      flags: 0x100,
      questions: [{ name, type: "A" }],
    });
    const isReady = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), 200);
      socket.on("error", () => {});
      socket.on("message", (bytes) => {
        clearTimeout(timer);
        resolve((dnsPacket.decode(bytes).answers ?? []).length > 0);
      });
      socket.send(message, port, "127.0.0.1");
    });
    socket.close();
    if (isReady) return;
  }
}

export const START: number = Date.parse("2026-10-01T06:00:00Z");
export const DAY_MS: number = 86_400_000;
/** Names that others have and two wrong servers inside do not; the one knows it, the other is asked by the resolver. */
export const SPLIT: readonly string[] = Array.from({ length: 10 }, (_, index) => [
  `h${index}.split-static.com`,
  `h${index}.split-stub.com`,
]).flat();
export const GONE_BELOW: readonly string[] = Array.from(
  { length: 10 },
  (_, index) => `g${index}.split-stub.net`,
);

export interface Setting {
  readonly folder: string;
  readonly world: World;
  readonly authority: Authority;
  readonly broken: number;
  readonly ask: (unbound: readonly Unbound[], more?: Partial<AliveRequest>) => Promise<AliveResult>;
}

/** Real servers for a world, a list with its names, and a function that asks about them. */
export async function realSetting(context: TestContext, world: World): Promise<Setting> {
  const folder = mkdtempSync(join(tmpdir(), "alive-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const others = ["split-static.com", "split-stub.com", "split-stub.net", ...SPLIT];
  const authority = await Authority.start(context, join(folder, "knot"), world, others);
  const broken = await startBroken(context, world);
  const host = { ...nodeHost(), now: () => new Date(START + world.day * DAY_MS) };
  writeFileSync(join(folder, "l.txt"), "");
  writeFileSync(join(folder, "c.json"), '{"name":"L","sources":[{"source":"l.txt"}]}');
  const lines = [
    ...world.names.map(({ listed }) => `||${listed}^`),
    ...[...SPLIT, ...GONE_BELOW].map((name) => `0.0.0.0 ${name}`),
  ];
  writeFileSync(join(folder, "list.txt"), `${lines.join("\n")}\n`);
  const options = {
    configPath: join(folder, "c.json"),
    inputs: [],
    inputType: undefined,
    filter: [],
    permit: [],
    output: join(folder, "list.txt"),
    copyToRules: false,
    rulesDir: folder,
  };
  return {
    folder,
    world,
    authority,
    broken,
    ask: async (unbound, more) => {
      const resolvers = unbound.map(({ port }) => `127.0.0.1:${port}`);
      const limits = { datagramMs: [1500, 1500], streamMs: 2000 };
      return await askAlive({ resolvers, rate: 100_000, limits, ...more }, options, host);
    },
  };
}
