import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unboundConf } from "./servers.ts";

/** A key that primary and secondaries share. */
export const TSIG = {
  name: "rules",
  secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ=",
} as const;
const ZONE = "rpz.local";

export interface Place {
  readonly folder: string;
  readonly port: number;
}

export interface Secondary {
  readonly name: string;
  /** Writes its configuration; the command to start it with. */
  start(place: Place, primary: number, upstream: number): readonly string[];
  /** What is asked for behind a name, for one that serves the zone instead of going by it. */
  readonly suffix?: string;
  /** Whether it can be notified, and with the key; the others look by themselves every second. */
  readonly notify: "signed" | "plain" | "never";
}

function conf({ folder }: Place, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** BIND as primary: differences are worked out when the file is read again, and secondaries are told. */
export function primaryCommand(
  place: Place,
  zoneFile: string,
  listeners: readonly { readonly port: number; readonly how: Secondary["notify"] }[],
): string[] {
  const { folder, port } = place;
  const notify = listeners
    .filter(({ how }) => how !== "never")
    .map(
      ({ port: to, how }) => `127.0.0.1 port ${to}${how === "signed" ? ` key ${TSIG.name}` : ""};`,
    )
    .join(" ");
  return [
    "named",
    "-f",
    "-c",
    conf(
      place,
      "named.conf",
      `key "${TSIG.name}" { algorithm hmac-sha256; secret "${TSIG.secret}"; };
key "rndc" { algorithm hmac-sha256; secret "${TSIG.secret}"; };
controls { inet 127.0.0.1 port ${port + 1} allow { 127.0.0.1; } keys { "rndc"; }; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion no; dnssec-validation no; notify-delay 0; max-cache-size 8m; notify explicit; also-notify { ${notify} };
 max-journal-size 200m; transfers-out 20; serial-query-rate 100; };
logging { channel x { file "${folder}/xfer.log"; severity info; print-time yes; }; category xfer-out { x; }; category notify { x; }; };
zone "${ZONE}" { type primary; file "${zoneFile}"; ixfr-from-differences yes; max-ixfr-ratio unlimited; allow-transfer { key ${TSIG.name}; 127.0.0.1; }; };
`,
    ),
  ];
}

export function controlFile(place: Place): string {
  return conf(
    place,
    "rndc.conf",
    `key "rndc" { algorithm hmac-sha256; secret "${TSIG.secret}"; };\noptions { default-server 127.0.0.1; default-port ${place.port + 1}; default-key "rndc"; };\n`,
  );
}

/** Makes the primary read its zone again. */
export function reload(place: Place): void {
  execFileSync("rndc", ["-c", controlFile(place), "reload", ZONE], { stdio: "pipe" });
}

/**
 * Makes the primary tell its secondaries about the zone every few seconds while something is done: one that starts late misses the
 * first notice, and asks by itself only after minutes.
 */
export async function whileNotifying<T>(place: Place, work: () => Promise<T>): Promise<T> {
  const args = ["-c", controlFile(place), "notify", ZONE];
  const again = setInterval(() => execFile("rndc", args, () => {}), 3000);
  try {
    return await work();
  } finally {
    clearInterval(again);
  }
}

export const secondaries: readonly Secondary[] = [
  {
    name: "BIND",
    notify: "signed",
    start: (place, primary, upstream) => [
      "named",
      "-g",
      "-c",
      conf(
        place,
        "named.conf",
        `key "${TSIG.name}" { algorithm hmac-sha256; secret "${TSIG.secret}"; };
options { directory "${place.folder}"; listen-on port ${place.port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; }; dnssec-validation no; max-cache-size 8m;
 response-policy { zone "${ZONE}"; } break-dnssec yes qname-wait-recurse no min-update-interval 0; };
zone "${ZONE}" { type secondary; file "zone"; masterfile-format text; primaries { 127.0.0.1 port ${primary} key ${TSIG.name}; }; allow-notify { 127.0.0.1; }; allow-query { any; }; min-refresh-time 1; };
`,
      ),
    ],
  },
  {
    name: "unbound",
    // It has no keys for zones before 1.24.
    notify: "plain",
    start: (place, primary, upstream) => [
      "unbound",
      "-d",
      "-c",
      unboundConf(
        { ...place, upstream },
        "respip iterator",
        `rpz:
  name: ${ZONE}
  primary: 127.0.0.1@${primary}
  allow-notify: 127.0.0.1
  zonefile: ${place.folder}/zone`,
      ),
    ],
  },
  {
    name: "Knot DNS, for Knot Resolver",
    notify: "plain",
    suffix: ".rpz.local",
    start: (place, primary) => [
      "knotd",
      "-c",
      conf(
        place,
        "knot.conf",
        `server:
  listen: 127.0.0.1@${place.port}
  rundir: ${place.folder}
database:
  storage: ${place.folder}
key:
  - id: ${TSIG.name}
    algorithm: hmac-sha256
    secret: ${TSIG.secret}
remote:
  - id: primary
    address: 127.0.0.1@${primary}
    key: ${TSIG.name}
acl:
  - id: notified
    address: 127.0.0.1
    action: notify
zone:
  - domain: ${ZONE}
    master: primary
    acl: notified
    storage: ${place.folder}
    file: zone
    zonefile-sync: 0
    journal-content: changes
`,
      ),
    ],
  },
  {
    name: "PowerDNS Recursor",
    notify: "never",
    start: (place, primary, upstream) => {
      conf(
        place,
        "rpz.lua",
        `rpzPrimary("127.0.0.1:${primary}", "${ZONE}.", {policyName="c", refresh=1, tsigname="${TSIG.name}.", tsigalgo="hmac-sha256", tsigsecret="${TSIG.secret}"})\n`,
      );
      conf(
        place,
        "recursor.conf",
        `local-address=127.0.0.1
local-port=${place.port}
forward-zones-recurse=.=127.0.0.1:${upstream}
dont-query=
dnssec=off
daemon=no
disable-syslog=yes
threads=1
socket-dir=${place.folder}
hint-file=no
security-poll-suffix=
packetcache-ttl=0
lua-config-file=${place.folder}/rpz.lua
`,
      );
      return ["pdns_recursor", `--config-dir=${place.folder}`];
    },
  },
];

/** Starts a server and keeps what it says. */
export function startServer([program, ...words]: readonly string[]): {
  child: ChildProcess;
  log(): string;
} {
  const child = spawn(program!, words, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Uint8Array) => (said = `${said}${String(bytes)}`.slice(-20_000)));
  return { child, log: () => said };
}
