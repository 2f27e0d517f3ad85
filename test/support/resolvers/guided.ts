import { Buffer } from "node:buffer";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

interface GuidedPlace {
  readonly folder: string;
  readonly port: number;
  readonly upstream: number;
  /** The port of its control channel. */
  readonly control: number;
}

/** A server that a page of docs/resolvers is about, and what a system has configured before the reader adds the page's parts. */
export interface Guided {
  /** The name of its service. */
  readonly unit: string;
  /** `read` reads a file that the guide shows. `control` names programs of the guide with the options that they need here. */
  configure(
    place: GuidedPlace,
    read: (title: string) => string,
  ): {
    readonly words: readonly string[];
    readonly control: Readonly<Record<string, readonly string[]>>;
  };
}

const KEY = Buffer.alloc(32, 7).toString("base64");

function write({ folder }: GuidedPlace, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** By the name of the page. */
export const GUIDED: Readonly<Record<string, Guided>> = {
  "unbound.md": {
    unit: "unbound",
    configure: (place, read) => {
      const { folder, port, upstream } = place;
      const conf = write(
        place,
        "unbound.conf",
        `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  logfile: ""
  interface: 127.0.0.1
  port: ${port}
  do-not-query-localhost: no
  do-ip6: no
remote-control:
  control-enable: yes
  control-interface: ${folder}/unbound.ctl
  control-use-cert: no
forward-zone:
  name: "."
  forward-addr: 127.0.0.1@${upstream}
${read("rules.conf")}`,
      );
      return { words: ["unbound", "-d", "-c", conf], control: { "unbound-control": ["-c", conf] } };
    },
  },
  "bind.md": {
    unit: "named",
    configure: (place, read) => {
      const { folder, port, upstream, control } = place;
      const key = `key "rndc-key" { algorithm hmac-sha256; secret "${KEY}"; };\n`;
      const keyFile = write(place, "rndc.key", key);
      const conf = write(
        place,
        "named.conf",
        `${key}controls { inet 127.0.0.1 port ${control} allow { 127.0.0.1; } keys { "rndc-key"; }; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion yes; forward only; forwarders { 127.0.0.1 port ${upstream}; }; dnssec-validation no;
 ${read("options.conf")} };
${read("named.conf.local")}`,
      );
      const options = ["-s", "127.0.0.1", "-p", String(control), "-k", keyFile];
      return { words: ["named", "-f", "-c", conf], control: { rndc: options } };
    },
  },
  "knot-resolver.md": {
    unit: "kresd@1",
    configure: (place, read) => {
      const conf = write(
        place,
        "system.conf",
        `net.ipv6=false; net.listen('127.0.0.1',${place.port},{kind='dns'}); trust_anchors.remove('.')
${read("kresd.conf")}
policy.add(policy.all(policy.STUB('127.0.0.1@${place.upstream}')))
`,
      );
      return { words: ["kresd", "-n", "-q", "-c", conf, place.folder], control: {} };
    },
  },
  "powerdns-recursor.md": {
    unit: "pdns-recursor",
    configure: (place, read) => {
      const { folder, port, upstream } = place;
      const own = read("recursor.conf");
      write(
        place,
        "recursor.conf",
        `${own}local-address=127.0.0.1
local-port=${port}
forward-zones-recurse=.=127.0.0.1:${upstream}
dont-query=
dnssec=off
daemon=no
disable-syslog=yes
socket-dir=${folder}
hint-file=no
security-poll-suffix=
lua-config-file=${folder}/rules.lua
`,
      );
      return {
        words: ["pdns_recursor", `--config-dir=${folder}`],
        control: { rec_control: [`--socket-dir=${folder}`] },
      };
    },
  },
  "dnsdist.md": {
    unit: "dnsdist",
    configure: (place, read) => {
      const { port, upstream, control } = place;
      const conf = write(
        place,
        "system.conf",
        `setLocal('127.0.0.1:${port}'); setACL({'127.0.0.0/8'}); setSecurityPollSuffix('')
controlSocket('127.0.0.1:${control}'); setKey('${KEY}')
newServer({address='127.0.0.1:${upstream}', healthCheckMode='up'})
${read("dnsdist.conf")}`,
      );
      return {
        words: ["/usr/bin/dnsdist", "--supervised", "--disable-syslog", "-C", conf],
        control: { dnsdist: ["-C", conf] },
      };
    },
  },
  "dnsmasq.md": {
    unit: "dnsmasq",
    configure: (place, read) => {
      const { folder, port, upstream } = place;
      const conf = write(
        place,
        "system.conf",
        `port=${port}
listen-address=127.0.0.1
bind-interfaces
no-resolv
no-hosts
server=127.0.0.1#${upstream}
user=root
pid-file=${folder}/dnsmasq.pid
${read("rules.conf")}`,
      );
      return { words: ["dnsmasq", "-k", "-C", conf], control: {} };
    },
  },
  "smartdns.md": {
    unit: "smartdns",
    configure: (place, read) => {
      const { folder, port, upstream } = place;
      const conf = write(
        place,
        "system.conf",
        `bind 127.0.0.1:${port}
server 127.0.0.1:${upstream}
speed-check-mode none
log-level error
log-file ${folder}/log
${read("smartdns.conf")}`,
      );
      return { words: ["smartdns", "-f", "-c", conf, "-p", "-"], control: {} };
    },
  },
};
