import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

/** What a server needs to be started: a folder for its files, where it listens, who is behind it, and the list. */
export interface Setting {
  readonly folder: string;
  readonly port: number;
  readonly upstream: number;
  readonly list: string;
  readonly allow: string;
}

export interface Server {
  /** The format that it reads. */
  readonly format: string;
  /** Its configuration, and the command to start it with. */
  start(setting: Setting): readonly string[];
  /** A command that ends with 0 when the list is good. */
  check?(setting: Setting): readonly string[];
  /** What the list of a check must not have said. */
  readonly complaint?: RegExp;
  readonly atOnce?: number;
  /** A name as it is asked for. */
  readonly suffix?: string;
  /** Names that an exception lets pass are looked for in the open internet, where there is none. */
  readonly failsWhenPassed?: boolean;
  /** How the answer of a name that is listed looks like: rbldnsd answers those, and none else. */
  readonly isInverted?: boolean;
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const DNSCRYPT = join(homedir(), ".cache/rules-compiler-dnscrypt/root/usr/sbin/dnscrypt-proxy");

function dnsmasq(more: (setting: Setting) => string[]): Server["start"] {
  return (setting) => [
    "dnsmasq",
    "-k",
    "-p",
    String(setting.port),
    "--listen-address=127.0.0.1",
    "--bind-interfaces",
    "--no-resolv",
    "--no-hosts",
    `--server=127.0.0.1#${setting.upstream}`,
    "--cache-size=0",
    "--dns-forward-max=10000",
    "--pid-file=",
    "--user=root",
    ...more(setting),
  ];
}

/** A configuration of unbound that forwards everything, with more behind it. */
export function unboundConf(
  { folder, port, upstream }: Pick<Setting, "folder" | "port" | "upstream">,
  modules: string,
  list: string,
): string {
  return write(
    folder,
    "unbound.conf",
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
  access-control: 127.0.0.0/8 allow
  do-not-query-localhost: no
  do-ip6: no
  num-queries-per-thread: 4096
  module-config: "${modules}"
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstream}
${list}
`,
  );
}

function namedConf({ folder, port, upstream, list }: Setting): string {
  return write(
    folder,
    "named.conf",
    `options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; };
 dnssec-validation no; max-cache-size 64m; recursive-clients 10000;
 response-policy { zone "rpz.local"; } break-dnssec yes qname-wait-recurse no min-update-interval 1; };
zone "rpz.local" { type primary; file "${list}"; };
`,
  );
}

function dnsdistConf({ folder, port, upstream, list, allow }: Setting): string {
  return write(
    folder,
    "dnsdist.conf",
    `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
local function names(path) local node=newSuffixMatchNode(); for line in io.lines(path) do if line ~= '' then node:add(newDNSName(line)) end end; return node end
addAction(SuffixMatchNodeRule(names('${allow}')), AllowAction())
addAction(SuffixMatchNodeRule(names('${list}')), RCodeAction(DNSRCode.NXDOMAIN))
`,
  );
}

function dnsdistCdbConf({ folder, port, upstream, list }: Setting): string {
  return write(
    folder,
    "dnsdist-cdb.conf",
    `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
local lists = dofile('${list}.lua')
addAction(lists.blocks(), RCodeAction(DNSRCode.NXDOMAIN))
`,
  );
}

/** The real ones, as a person would set them up. */
export const servers: ReadonlyMap<string, Server> = new Map<string, Server>([
  [
    "dnsmasq",
    {
      format: "dnsmasq",
      start: dnsmasq(({ list }) => [`--conf-file=${list}`]),
      check: ({ list }) => ["dnsmasq", "--test", `--conf-file=${list}`],
    },
  ],
  [
    "dnsmasq with servers-file",
    { format: "dnsmasq-servers", start: dnsmasq(({ list }) => [`--servers-file=${list}`]) },
  ],
  [
    "dnsmasq with hosts",
    { format: "hosts", start: dnsmasq(({ list }) => [`--addn-hosts=${list}`]) },
  ],
  [
    "unbound",
    {
      format: "unbound",
      start: (setting) => [
        "unbound",
        "-d",
        "-c",
        unboundConf(setting, "iterator", `include: ${setting.list}`),
      ],
      check: (setting) => [
        "unbound-checkconf",
        unboundConf(setting, "iterator", `include: ${setting.list}`),
      ],
      complaint: /error:|duplicate/,
    },
  ],
  [
    "unbound with RPZ",
    {
      format: "rpz",
      start: (setting) => [
        "unbound",
        "-d",
        "-c",
        unboundConf(
          setting,
          "respip iterator",
          `rpz:\n  name: rpz.local\n  zonefile: ${setting.list}`,
        ),
      ],
      check: ({ list }) => ["nsd-checkzone", "rpz.local", list],
    },
  ],
  [
    "BIND",
    {
      format: "rpz",
      start: (setting) => ["named", "-f", "-c", namedConf(setting)],
      check: ({ list }) => ["named-checkzone", "-k", "ignore", "rpz.local", list],
      complaint: /ignoring out-of-zone/,
    },
  ],
  [
    "Knot Resolver",
    {
      format: "rpz",
      failsWhenPassed: true,
      start: ({ folder, port, upstream, list }) => [
        "kresd",
        "-n",
        "-q",
        "-c",
        write(
          folder,
          "kresd.conf",
          `net.ipv6=false; net.listen('127.0.0.1',${port},{kind='dns'}); trust_anchors.remove('.')
modules={'policy'}; cache.size=50*MB
policy.add(policy.rpz(policy.DENY,'${list}',false)); policy.add(policy.all(policy.STUB('127.0.0.1@${upstream}')))
`,
        ),
        folder,
      ],
    },
  ],
  [
    "PowerDNS Recursor",
    {
      format: "rpz",
      start: ({ folder, port, upstream, list }) => {
        write(folder, "rpz.lua", `rpzFile("${list}",{policyName="c"})\n`);
        write(
          folder,
          "recursor.conf",
          `local-address=127.0.0.1
local-port=${port}
forward-zones-recurse=.=127.0.0.1:${upstream}
dont-query=
dnssec=off
daemon=no
disable-syslog=yes
threads=1
socket-dir=${folder}
hint-file=no
security-poll-suffix=
max-mthreads=4096
lua-config-file=${folder}/rpz.lua
`,
        );
        return ["pdns_recursor", `--config-dir=${folder}`];
      },
    },
  ],
  [
    "dnsdist",
    {
      format: "dnsdist",
      start: (setting) => [
        "dnsdist",
        "--supervised",
        "--disable-syslog",
        "-C",
        dnsdistConf(setting),
      ],
      check: (setting) => ["dnsdist", "--check-config", "-C", dnsdistConf(setting)],
    },
  ],
  [
    "dnsdist with a constant database",
    {
      format: "cdb",
      start: (setting) => [
        "dnsdist",
        "--supervised",
        "--disable-syslog",
        "-C",
        dnsdistCdbConf(setting),
      ],
      check: (setting) => ["dnsdist", "--check-config", "-C", dnsdistCdbConf(setting)],
    },
  ],
  [
    "smartdns",
    {
      format: "smartdns",
      start: ({ folder, port, upstream, list }) => [
        "smartdns",
        "-f",
        "-c",
        write(
          folder,
          "smartdns.conf",
          `bind 127.0.0.1:${port}\nserver 127.0.0.1:${upstream}\nspeed-check-mode none\ncache-size 0\nlog-level error\nlog-file ${folder}/log\nconf-file ${list}\n`,
        ),
        "-p",
        "-",
      ],
    },
  ],
  [
    "dnscrypt-proxy",
    {
      format: "dnscrypt",
      start: ({ folder, port, upstream, list, allow }) => {
        write(folder, "forward", `. 127.0.0.1:${upstream}\n`);
        const config = write(
          folder,
          "dnscrypt.toml",
          `listen_addresses=['127.0.0.1:${port}']
offline_mode=true
netprobe_timeout=0
cache=false
max_clients=5000
forwarding_rules='${folder}/forward'
blocked_query_response='refused'
[blocked_names]
blocked_names_file='${list}'
[allowed_names]
allowed_names_file='${allow}'
`,
        );
        return [DNSCRYPT, "-config", config];
      },
      atOnce: 8,
    },
  ],
  [
    "rbldnsd",
    {
      format: "rbldnsd",
      start: ({ folder, port, list }) => [
        "rbldnsd",
        "-n",
        "-b",
        `127.0.0.1/${port}`,
        "-u",
        "nobody:nogroup",
        "-w",
        folder,
        `bl.test:dnset:${list}`,
      ],
      suffix: ".bl.test",
      isInverted: true,
    },
  ],
]);

/** Why a server cannot be tried here; false when it can. Only dnscrypt-proxy is in no release of Debian that we run on. */
export function isMissing(name: string): string | false {
  return (
    name === "dnscrypt-proxy" && !existsSync(DNSCRYPT) && "NO DNSCRYPT-PROXY: it could not be had"
  );
}

/** A port that nobody uses for datagrams or connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const socket = createSocket("udp4");
    await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
    const { port } = socket.address();
    const server = createServer();
    const isFree = await new Promise<boolean>((known) => {
      server.once("error", () => known(false));
      server.listen(port, "127.0.0.1", () => known(true));
    });
    await new Promise<void>((closed) => socket.close(closed));
    if (!isFree) continue;
    await new Promise((closed) => server.close(closed));
    return port;
  }
}

/** A server that runs. */
export class Running {
  readonly port: number;
  readonly child: ChildProcess;
  private said = "";

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (bytes: Uint8Array) => {
        this.said = `${this.said}${String(bytes)}`.slice(-4000);
      });
  }

  /** Starts it; without a port, one is chosen here. */
  static async start(
    server: Server,
    setting: Omit<Setting, "port"> & { readonly port?: number },
  ): Promise<Running> {
    const port = setting.port ?? (await freePort());
    const [program, ...words] = server.start({ ...setting, port });
    const child = spawn(program!, words, {
      cwd: setting.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Running(port, child);
  }

  get log(): string {
    return this.said;
  }

  /** Bytes of memory that it has, those of its children included. */
  get memory(): number {
    const { pid } = this.child;
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(?<kb>\d+)/m.exec(status)?.groups?.["kb"] ?? 0) * 1024;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((closed) => this.child.on("close", closed));
    this.child.kill("SIGKILL");
    await ended;
  }
}

/** Runs a check to its end. */
export function runCheck(words: readonly string[]): { status: number | null; said: string } {
  const [program, ...rest] = words;
  const { status, stdout, stderr } = spawnSync(program!, rest, { encoding: "utf8" });
  return { status, said: `${stdout}${stderr}` };
}
