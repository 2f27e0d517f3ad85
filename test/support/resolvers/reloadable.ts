import { Buffer } from "node:buffer";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { blocksOf } from "../markdown.ts";
import { type Server, type Setting, servers, unboundConf } from "./servers.ts";

/** A real resolver whose list can be read again, as a person would set it up. */
export interface Reloadable extends Pick<Server, "format" | "failsWhenPassed"> {
  /** Writes its configuration; returns the command to start it, and the hooks that reload it. */
  set(setting: Setting, controlPort: number): { words: readonly string[]; hooks: object[] };
  /** Whether `systemctl` restarts it. */
  readonly isRestarted?: boolean;
}

const KEY = Buffer.alloc(32, 7).toString("base64");

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function unbound(modules: string, list: (setting: Setting) => string): Reloadable["set"] {
  return (setting) => {
    const { folder } = setting;
    const control = `remote-control:\n  control-enable: yes\n  control-interface: ${folder}/unbound.ctl\n  control-use-cert: no`;
    const conf = unboundConf(setting, modules, `${list(setting)}\n${control}`);
    return {
      words: ["unbound", "-d", "-c", conf],
      hooks: [{ reload: "unbound", with: ["-c", conf] }],
    };
  };
}

/** The configuration of the guide, with the paths of the test. */
function dnsdistFunction(list: string): string {
  const guide = join(import.meta.dirname, "../../../docs/resolvers/dnsdist.md");
  const block = blocksOf(readFileSync(guide, "utf8")).find(({ title }) => title === "dnsdist.conf");
  return block!.text.replace("/var/lib/rules/my-list.dnsdist", list);
}

export const reloadables: ReadonlyMap<string, Reloadable> = new Map<string, Reloadable>([
  ["unbound", { format: "unbound", set: unbound("iterator", ({ list }) => `include: ${list}`) }],
  [
    "unbound with RPZ",
    {
      format: "rpz",
      set: unbound("respip iterator", ({ list }) => `rpz:\n  name: rpz.local\n  zonefile: ${list}`),
    },
  ],
  [
    "BIND",
    {
      format: "rpz",
      set: ({ folder, port, upstream, list }, control) => {
        const key = `key "rndc-key" { algorithm hmac-sha256; secret "${KEY}"; };\n`;
        const keyFile = write(folder, "rndc.key", key);
        const conf = write(
          folder,
          "named.conf",
          `${key}controls { inet 127.0.0.1 port ${control} allow { 127.0.0.1; } keys { "rndc-key"; }; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; };
 dnssec-validation no; max-cache-size 64m;
 response-policy { zone "rpz.local"; } break-dnssec yes qname-wait-recurse no min-update-interval 1; };
zone "rpz.local" { type primary; file "${list}"; };
`,
        );
        const options = ["-s", "127.0.0.1", "-p", String(control), "-k", keyFile];
        return { words: ["named", "-f", "-c", conf], hooks: [{ reload: "bind", with: options }] };
      },
    },
  ],
  [
    "Knot Resolver 5",
    {
      ...servers.get("Knot Resolver")!,
      isRestarted: true,
      set: (setting) => ({
        words: servers.get("Knot Resolver")!.start(setting),
        hooks: [{ reload: "knot-resolver-5" }],
      }),
    },
  ],
  [
    "Knot Resolver 5 that watches the zone",
    {
      ...servers.get("Knot Resolver")!,
      set: (setting) => {
        const words = servers.get("Knot Resolver")!.start(setting);
        const conf = join(setting.folder, "kresd.conf");
        writeFileSync(conf, readFileSync(conf, "utf8").replace(",false)", ",true)"));
        return { words, hooks: [] };
      },
    },
  ],
  [
    "PowerDNS Recursor",
    {
      format: "rpz",
      set: (setting) => {
        const words = servers.get("PowerDNS Recursor")!.start(setting);
        const socket = `--socket-dir=${setting.folder}`;
        const reload = { reload: "powerdns-recursor", with: [socket] };
        return { words, hooks: [reload, { run: ["rec_control", socket, "wipe-cache", ".$"] }] };
      },
    },
  ],
  [
    "dnsdist",
    {
      format: "dnsdist",
      set: ({ folder, port, upstream, list }, control) => {
        const conf = write(
          folder,
          "dnsdist.conf",
          `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
controlSocket('127.0.0.1:${control}'); setKey('${KEY}')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
${dnsdistFunction(list)}`,
        );
        return {
          words: ["dnsdist", "--supervised", "--disable-syslog", "-C", conf],
          hooks: [{ reload: "dnsdist", with: ["-C", conf] }],
        };
      },
    },
  ],
  [
    "dnsmasq",
    {
      format: "dnsmasq-servers",
      set: ({ folder, port, upstream, list }) => {
        const pid = join(folder, "dnsmasq.pid");
        const words = `dnsmasq -k -p ${port} --listen-address=127.0.0.1 --bind-interfaces --no-resolv --no-hosts
          --server=127.0.0.1#${upstream} --cache-size=0 --user=root --pid-file=${pid} --servers-file=${list}`;
        return { words: words.split(/\s+/), hooks: [{ reload: "dnsmasq", pid_file: pid }] };
      },
    },
  ],
  [
    "smartdns",
    {
      format: "smartdns",
      isRestarted: true,
      set: (setting) => ({
        words: servers.get("smartdns")!.start(setting),
        hooks: [{ reload: "smartdns" }],
      }),
    },
  ],
]);

/** Writes a `systemctl` that really restarts one server, for machines without systemd; returns its folder. */
export function writeSystemctl(folder: string, unit: string, words: readonly string[]): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const pid = join(folder, "unit.pid");
  const command = words.map((word) => `'${word}'`).join(" ");
  const path = write(
    bin,
    "systemctl",
    `#!/bin/bash
[ "$1" = restart ] && [ "$2" = '${unit}' ] && [ $# = 2 ] || { echo "unknown: $*" >&2; exit 5; }
if [ -e '${pid}' ]; then kill -9 "$(cat '${pid}')"; while kill -0 "$(cat '${pid}')" 2>/dev/null; do sleep 0.05; done; fi
cd '${folder}' || exit 1
setsid ${command} > unit.log 2>&1 < /dev/null &
echo $! > '${pid}'
`,
  );
  chmodSync(path, 0o755);
  return bin;
}

export async function freeTcpPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((closed) => server.close(() => closed()));
  return port;
}
