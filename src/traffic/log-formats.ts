import { Buffer } from "node:buffer";
import { BACKSLASH, BRACKET, COLON, COMMA, SPACE, encodeUtf8 } from "../bytes/text.ts";

/** A name in a DNS message has at most 255 bytes. A log writes some of them with four characters. */
const LONGEST_NAME = 1024;

/** The name that the last scan found. A new object per line would cost more than the scan. */
export const foundName = { start: 0, end: 0 };

/**
 * Finds the name that a line asks for: in `foundName`, if the line has one. An unusual line is "unknown", and has to be read as text. A
 * scan takes a quarter of the time of reading a line as text.
 */
type LineScan = (bytes: Uint8Array, start: number, end: number) => "name" | "none" | "unknown";

function nameOrNone(start: number, end: number): "name" | "none" {
  if (end - start > LONGEST_NAME) return "none";
  foundName.start = start;
  foundName.end = end;
  return "name";
}
const [Q, H] = [0x51, 0x48];

/** `{"T":"…","QH":"name",…`: reads texts up to the field only. Escapes, blanks and objects before the field are unusual. */
const scanAdGuardHome: LineScan = (bytes, start, end) => {
  if (start === end || bytes[start] !== 0x7b) return "none";
  for (let at = start + 1; ;) {
    const keyEnd = byteTextEnd(bytes, at, end);
    if (keyEnd === -1 || bytes[keyEnd + 1] !== COLON) return "unknown";
    const valueEnd = byteTextEnd(bytes, keyEnd + 2, end);
    if (valueEnd === -1) return "unknown";
    if (keyEnd - at === 3 && bytes[at + 1] === Q && bytes[at + 2] === H)
      return nameOrNone(keyEnd + 3, valueEnd);
    if (bytes[valueEnd + 1] !== COMMA) return "unknown";
    at = valueEnd + 2;
  }
};

/** The closing quote of a text that begins at a position; -1 if none begins there, or if it has a backslash. */
function byteTextEnd(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end || bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < end; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) return -1;
  }
  return -1;
}

const QUERY = encodeUtf8("query[");
const FROM = encodeUtf8(" from ");
const CLOSING = 0x5d;

/** `… query[A] name from client`. Most other lines differ at the end. */
const scanDnsmasq: LineScan = (bytes, start, end) => {
  let client = end;
  while (client > start && bytes[client - 1] !== SPACE) client--;
  const nameEnd = client - FROM.length;
  if (client === end || nameEnd < start || !isAt(bytes, nameEnd, FROM)) return "none";
  let type = start;
  while (type < end && !(bytes[type + 5] === BRACKET && isAt(bytes, type, QUERY))) type++;
  if (type === end || (type > start && bytes[type - 1] !== SPACE)) return "none";
  let nameStart = type + QUERY.length;
  while (nameStart < end && !(bytes[nameStart] === CLOSING && bytes[nameStart + 1] === SPACE))
    nameStart++;
  nameStart += 2;
  return nameEnd < nameStart ? "none" : nameOrNone(nameStart, nameEnd);
};

function isAt(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++)
    if (bytes[start + index] !== text[index]) return false;
  return true;
}

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

const QUOTE = 0x22;
const COMMA_BYTE = 0x2c;
const COLON_BYTE = 0x3a;
const BACKSLASH_BYTE = 0x5c;

/**
 * The text of a field in a line of JSON, one character per byte; undefined if the line has no such text. Scans the line up to the field
 * only, and leaves anything unusual to `JSON.parse`: escapes, blanks, objects before the field.
 */
export function jsonField(line: string, field: string): string | undefined {
  if (line.charCodeAt(0) !== 0x7b) return undefined;
  return scanned(line, field) ?? parsed(line, field);
}

/** Undefined if the field does not come before anything unusual. */
function scanned(line: string, field: string): string | undefined {
  for (let at = 1; ;) {
    const keyEnd = textEnd(line, at);
    if (keyEnd === -1 || line.charCodeAt(keyEnd + 1) !== COLON_BYTE) return undefined;
    const start = keyEnd + 2;
    const end = textEnd(line, start);
    if (end === -1) return undefined;
    const key = line.slice(at + 1, keyEnd);
    if (key === field) {
      const text = line.slice(start + 1, end);
      return text.includes("\\") ? undefined : text;
    }
    if (line.charCodeAt(end + 1) !== COMMA_BYTE) return undefined;
    at = end + 2;
  }
}

/** The closing quote of a text that begins at a position; -1 if none begins there, or if a backslash stands before the quote. */
function textEnd(line: string, start: number): number {
  if (line.charCodeAt(start) !== QUOTE) return -1;
  const end = line.indexOf('"', start + 1);
  return line.charCodeAt(end - 1) === BACKSLASH_BYTE ? -1 : end;
}

function parsed(line: string, field: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(line, "latin1").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const text = (value as Readonly<Record<string, unknown>>)[field];
  return typeof text === "string" ? Buffer.from(text).toString("latin1") : undefined;
}
