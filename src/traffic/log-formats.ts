import { jsonField } from "./json-field.ts";
import { LONGEST_NAME, type LineScan, scanAdGuardHome, scanDnsmasq } from "./scan-line.ts";

/** A text form of query logs, one line per query. */
export interface LogFormat {
  readonly name: string;
  /** The name that a line asks for; undefined for a line that is not a query. */
  nameIn(line: string): string | undefined;
  /** Finds the same as `nameIn` in bytes, for the logs that are the largest. */
  readonly scan?: LineScan;
  /** The address of the client that asked; undefined if the line has none. Without this method, no line has one. */
  clientIn?(line: string): string | undefined;
  /** The number of queries that a line represents; 1 without this method. */
  countIn?(line: string): number;
}

/** Expressions do not see longer lines, so that none takes long. */
const LONGEST_LINE = 4096;

/** The first group of each expression is the name, and the client. */
function byExpression(name: string, query: RegExp, client: RegExp): LogFormat {
  return {
    name,
    nameIn: (line) => bounded(found(query, line)?.[1]),
    clientIn: (line) => bounded(found(client, line)?.[1]),
  };
}

function found(expression: RegExp, line: string): RegExpExecArray | null {
  return line.length > LONGEST_LINE ? null : expression.exec(line);
}

function bounded(name: string | undefined): string | undefined {
  return name === undefined || name.length > LONGEST_NAME ? undefined : name;
}

const adGuardHome: LogFormat = {
  name: "AdGuard Home",
  nameIn: (line) => bounded(jsonField(line, "QH")),
  scan: scanAdGuardHome,
  clientIn: (line) => bounded(jsonField(line, "IP")),
};

/** `query[A] name from client`, also in Pi-hole's pihole.log. The resolver's own queries are `dnssec-query[…]`. */
const dnsmasq: LogFormat = {
  name: "dnsmasq",
  scan: scanDnsmasq,
  nameIn(line) {
    const type = line.indexOf("query[");
    if (type === -1 || (type > 0 && line[type - 1] !== " ")) return undefined;
    const start = line.indexOf("] ", type) + 2;
    const end = line.lastIndexOf(" from ");
    if (start === 1 || end < start) return undefined;
    const client = end + " from ".length;
    const isWhole = client < line.length && !line.includes(" ", client);
    return isWhole ? bounded(line.slice(start, end)) : undefined;
  },
  clientIn: (line) => bounded(line.slice(line.lastIndexOf(" ") + 1)),
};

const PLAIN =
  /^\s*(?:(\d+)\s+)?([^\s.#!|/@:,;{}"'<>()[\]][^\s#!|/@:,;{}"'<>()[\]]*)(?:\s+(\d+))?\s*$/;

/** One name per line, with an optional count before it, as `uniq -c` prints it, or behind it. */
const names: LogFormat = {
  name: "names",
  nameIn: (line) => bounded(found(PLAIN, line)?.[2]),
  countIn(line) {
    const parts = found(PLAIN, line);
    const count = Number(parts?.[1] ?? parts?.[3] ?? 1);
    return Number.isSafeInteger(count) ? count : 1;
  },
};

const UNBOUND = String.raw`unbound\[[\w:]+\](?:: \[\w+:\w+\])? (?:info|query|reply): ([0-9a-f.:]+)(?:@\d+)?`;
const UNBOUND_CLIENT = new RegExp(UNBOUND);

/** A log of unbound: what follows the name on a line. */
function unbound(name: string, rest: string): LogFormat {
  const query = `${UNBOUND.replace("([", "(?:[")} ${String.raw`(\S*)\. [A-Z0-9]+ [A-Z0-9]+`}${rest}`;
  return byExpression(name, new RegExp(query), UNBOUND_CLIENT);
}

/** What BIND's `dnstap-read` prints for messages of a type, between a client and the resolver. */
function dnstapRead(name: string, type: string, arrow: string): LogFormat {
  const start = String.raw`^\S+ \S+ ${type} `;
  return byExpression(
    name,
    new RegExp(`${start}\\S+ ${arrow} ${String.raw`\S+ \S+ \d+b (\S+)\/\S+\/\S+$`}`),
    new RegExp(`${start}(\\S+):\\d+ `),
  );
}

/** In order of preference: logs of unbound and dnstap may have replies beside the queries. */
const distinctFormats: readonly LogFormat[] = [
  adGuardHome,
  dnsmasq,
  byExpression(
    "BIND",
    /\bclient [^(]*\(.*\): (?:view [^\s]+: )?query: (\S+) \S+ \S+ /,
    /\bclient (?:@\S+ )?([0-9a-fA-F.:]+)(?:%[^\s#]+)?#\d+(?:\/key \S+)? /,
  ),
  byExpression(
    "dnsdist",
    /\bPacket from \S+ for (\S*)\. \S+ with id \d+/,
    /\bPacket from \[?([0-9a-fA-F.:]+?)(?:%[^\s\]]+)?\]?:\d+ for /,
  ),
  dnstapRead("dnstap", "CQ", "->"),
  dnstapRead("dnstap (responses)", "CR", "<-"),
  unbound("unbound", "$"),
  unbound("unbound (replies)", String.raw` [A-Z]+ [\d.]+ \d \d+`),
];

/** Plain names could be anything, so that at least this part of the lines must be names. */
const NAMES_SHARE = 0.5;

/** The format of a log, by its first lines; undefined if it is none of these. */
export function logFormatOf(lines: readonly string[]): LogFormat | undefined {
  const distinct = distinctFormats.find((format) =>
    lines.some((line) => format.nameIn(line) !== undefined),
  );
  if (distinct !== undefined) return distinct;
  const filled = lines.filter((line) => line.trim() !== "" && !/^\s*#/.test(line));
  const named = filled.filter((line) => names.nameIn(line) !== undefined);
  return named.length >= filled.length * NAMES_SHARE ? names : undefined;
}
