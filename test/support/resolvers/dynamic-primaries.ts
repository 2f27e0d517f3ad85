import { type ChildProcess, execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Place, TSIG, startServer } from "./zone-servers.ts";

/** The zone of dynamic updates. */
export const ZONE_NAME = "rpz.local";

/** A primary whose zone is changed by dynamic updates. */
export interface DynamicPrimary {
  readonly name: "BIND" | "Knot DNS";
  readonly place: Place;
  readonly child: ChildProcess;
  /** The command that reads the primary's own copy of the zone again, for a shell. */
  readonly whole: string;
  readonly keyFile: string;
  readonly copy: string;
  log(): string;
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Starts a primary with a copy of a zone file. */
export function startPrimary(
  name: DynamicPrimary["name"],
  place: Place,
  zoneFile: string,
): DynamicPrimary {
  const { folder, port } = place;
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, ZONE_NAME);
  copyFileSync(zoneFile, copy);
  const key = `key "${TSIG.name}" { algorithm hmac-sha256; secret "${TSIG.secret}"; };\n`;
  const keyFile = write(folder, "rules.key", key);
  const { command, whole } = name === "BIND" ? bind(place, copy, key) : knot(place, copy);
  const server = startServer(command);
  return {
    name,
    place: { folder, port },
    child: server.child,
    log: () => server.log(),
    whole,
    keyFile,
    copy,
  };
}

interface Started {
  readonly command: readonly string[];
  readonly whole: string;
}

function bind({ folder, port }: Place, copy: string, key: string): Started {
  const control = write(
    folder,
    "rndc.conf",
    `${key}options { default-server 127.0.0.1; default-port ${port + 1}; default-key "${TSIG.name}"; };\n`,
  );
  const conf = write(
    folder,
    "named.conf",
    `${key}controls { inet 127.0.0.1 port ${port + 1} allow { 127.0.0.1; } keys { "${TSIG.name}"; }; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
 session-keyfile none; recursion no; dnssec-validation no; max-cache-size 8m; notify no; };
logging { category update { null; }; };
zone "${ZONE_NAME}" { type primary; file "${copy}"; allow-update { key ${TSIG.name}; }; allow-transfer { 127.0.0.1; }; };
`,
  );
  const rndc = `rndc -c ${control}`;
  const whole = `${rndc} freeze "$zone" && cp "$1" "$own" && ${rndc} thaw "$zone"`;
  return { command: ["named", "-g", "-c", conf], whole };
}

function knot({ folder, port }: Place, copy: string): Started {
  const conf = write(
    folder,
    "knot.conf",
    `server:
  listen: 127.0.0.1@${port}
  rundir: ${folder}
control:
  listen: ${folder}/knot.sock
database:
  storage: ${folder}
key:
  - id: ${TSIG.name}
    algorithm: hmac-sha256
    secret: ${TSIG.secret}
acl:
  - id: update
    key: ${TSIG.name}
    action: update
  - id: transfer
    address: 127.0.0.1
    action: transfer
zone:
  - domain: ${ZONE_NAME}
    storage: ${folder}
    file: ${copy}
    acl: [update, transfer]
    zonefile-sync: -1
    zonefile-load: difference
    journal-content: changes
log:
  - target: stderr
    any: info
`,
  );
  const whole = `cp "$1" "$own" && knotc -s ${folder}/knot.sock -b zone-reload "$zone"`;
  return { command: ["knotd", "-c", conf], whole };
}

/** The records of the zone that a primary serves, sorted, without the second SOA record; undefined if it does not answer. */
export function transferred({ place }: DynamicPrimary): string[] | undefined {
  const words = ["@127.0.0.1", "-p", String(place.port), ZONE_NAME, "AXFR", "+noall", "+answer"];
  const more = ["+onesoa", "+tries=1", "+time=30"];
  try {
    const text = execFileSync("dig", [...words, ...more], { encoding: "utf8", maxBuffer: 1e9 });
    const records = text.split("\n").flatMap((line) => {
      const [owner, , , type, ...data] = line.trim().split(/\s+/);
      return type === undefined || line.startsWith(";")
        ? []
        : [`${owner} ${type} ${data.join(" ")}`];
    });
    return records.length === 0 ? undefined : records.toSorted();
  } catch {
    return undefined;
  }
}

/** The records of a zone file in the same form. */
export function recordsOf(zoneFile: string): string[] {
  return zoneFile
    .split("\n")
    .flatMap((line) => {
      if (line === "" || /^[;$]/.test(line)) return [];
      const space = line.indexOf(" ");
      const owner = line.slice(0, space);
      const name = owner === "@" ? `${ZONE_NAME}.` : `${owner}.${ZONE_NAME}.`;
      return [`${name} ${line.slice(space + 1)}`];
    })
    .toSorted();
}
