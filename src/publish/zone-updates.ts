import { AT, DOLLAR, decodeUtf8, eachLine, encodeUtf8 } from "../bytes/text.ts";
import { ifAvailable, readLines } from "../host/files.ts";
import { type Host, HostError, type Scratch } from "../host/host.ts";
import type { FileSet } from "./file-set.ts";
import { readStart } from "./list-file.ts";
import { type OutputPlan, updatesFile } from "./output-plan.ts";
import { LineDifference } from "./patches.ts";
import type { ZoneUpdates } from "../documents/facts.ts";

/** A message has at most 65,535 bytes (RFC 1035). The rest is for the header, the prerequisite, the SOA record and a signature. */
const MESSAGE_BYTES = 60_000;
/** Type, class, TTL, length, and the longest data. */
const RECORD_BYTES = 10 + 16;
/** If more of the zone changes, reading the file is faster. */
const LARGEST_SHARE = 0.25;
/** Begins a comment. */
const SEMICOLON = 59;

interface Soa {
  /** The data before and after the serial. */
  readonly before: string;
  readonly serial: number;
  readonly after: string;
}

interface ZoneHead {
  readonly soa: Soa | undefined;
  /** Everything else above the records, without comments. */
  readonly others: string;
  readonly records: number;
}

/**
 * Adds a script for `nsupdate` to a set, which changes the published zone to that of the set. Every message is valid for one serial and
 * sets the next one, so the script does nothing on a server with another version, and continues where an interrupted run
 * stopped. The last message sets the serial of the file. Without such a script, an older one is removed.
 */
export async function writeUpdates(
  plan: OutputPlan,
  set: FileSet,
  host: Host,
  openScratch: () => Scratch,
): Promise<ZoneUpdates> {
  const path = updatesFile(plan.path);
  const none = async (whole: "first" | "settings" | "large"): Promise<ZoneUpdates> => {
    await set.remove(path);
    return { whole };
  };
  if (!(await host.exists(plan.path))) return await none("first");
  const after = set.placeOf(plan.path);
  const sizes = [await host.sizeOf(plan.path), await host.sizeOf(after)] as const;
  const difference = new LineDifference(openScratch, sizes[0] + sizes[1]);
  try {
    const old = await readZone(plan.path, "before", difference, host);
    const fresh = await readZone(after, "after", difference, host);
    const from = old.soa;
    const to = fresh.soa;
    if (from === undefined || to === undefined || !isAlike(old, fresh))
      return await none("settings");
    const { removed, added } = difference.changes();
    const records = removed.length + added.length;
    if (records > fresh.records * LARGEST_SHARE) return await none("large");
    const messages = messagesOf(removed, added, plan);
    const room = (to.serial - from.serial) >>> 0;
    if (room < messages.length || room > 0x7fff_ffff) return await none("large");
    await set.write(path, (file) =>
      writeScript({ from, to, messages, records }, plan, (text) => file.write(encodeUtf8(text))),
    );
    return { file: updatesFile(plan.name), records, messages: messages.length };
  } finally {
    difference.close();
  }
}

/** Passes the records on, and returns the rest. */
async function readZone(
  path: string,
  side: "before" | "after",
  difference: LineDifference,
  host: Host,
): Promise<ZoneHead> {
  const head: string[] = [];
  let records = 0;
  await readLines(path, host, (lines) =>
    eachLine(lines, (start, end) => {
      if (lines[start] === AT || lines[start] === DOLLAR) head.push(decodeUtf8(lines, start, end));
      else if (end > start && lines[start] !== SEMICOLON) {
        difference.add(side, lines, start, end);
        records++;
      }
    }),
  );
  const others = head.filter((line) => !line.startsWith("@ SOA ")).join("\n");
  return { soa: soaOf(head.find((line) => line.startsWith("@ SOA "))), others, records };
}

function soaOf(line = ""): Soa | undefined {
  const { before, serial, after } =
    /^@ SOA (?<before>\S+ \S+) (?<serial>\d{1,10}) (?<after>.+)$/.exec(line)?.groups ?? {};
  if (before === undefined || serial === undefined || after === undefined) return undefined;
  return { before, serial: Number(serial), after };
}

/** Whether two zones differ in nothing but their records and serials. */
function isAlike(old: ZoneHead, fresh: ZoneHead): boolean {
  return (
    old.others === fresh.others &&
    old.soa?.before === fresh.soa?.before &&
    old.soa?.after === fresh.soa?.after
  );
}

/** The lines of each message. Records are removed before others are added, because a name may have only one CNAME record. */
function messagesOf(
  removed: readonly string[],
  added: readonly string[],
  { options: { origin, ttl } }: OutputPlan,
): string[][] {
  const messages: string[][] = [[]];
  let bytes = 0;
  const add = (record: string, toLine: (owner: string, data: string) => string): void => {
    const space = record.indexOf(" ");
    const owner = `${record.slice(0, space)}.${origin}.`;
    const size = owner.length + 1 + RECORD_BYTES;
    if (bytes + size > MESSAGE_BYTES) {
      messages.push([]);
      bytes = 0;
    }
    bytes += size;
    messages.at(-1)!.push(toLine(owner, record.slice(space + 1)));
  };
  for (const record of removed) add(record, (owner, data) => `update delete ${owner} ${data}`);
  for (const record of added) add(record, (owner, data) => `update add ${owner} ${ttl} ${data}`);
  return messages;
}

interface Script {
  readonly from: Soa;
  readonly to: Soa;
  readonly messages: readonly (readonly string[])[];
  readonly records: number;
}

function writeScript(
  { from, to, messages, records }: Script,
  { options: { origin, ttl }, updates = "" }: OutputPlan,
  write: (text: string) => void,
): void {
  const soa = (serial: number): string => `SOA ${to.before} ${serial} ${to.after}`;
  write(`; ${records} records, from serial ${from.serial} to ${to.serial}\n`);
  write(`server ${updates.replace("#", " ")}\nzone ${origin}.\n`);
  let serial = from.serial;
  for (const [index, lines] of messages.entries()) {
    const isLast = index === messages.length - 1;
    const next = isLast ? to.serial : (serial + 1) >>> 0;
    write(`prereq yxrrset ${origin}. ${soa(serial)}\n`);
    for (const line of lines) write(`${line}\n`);
    write(`update add ${origin}. ${ttl} ${soa(next)}\nsend\n`);
    serial = next;
  }
}

/** There may be many comments above the SOA record. */
const HEADER_BYTES = 65_536;
const HALF = 0x8000_0000;
/** How many bytes of a zone file may need a serial of their own at most: a quarter of the records changes, and a message has 60,000 bytes. */
const BYTES_PER_STEP = 80_000;

/**
 * The serial of a zone file: the Unix time in seconds if it is later than the serials of the existing file and of the
 * primary, else a few more than the later of these. State may be lost or restored, clocks may be wrong, and serials wrap around (RFC
 * 1982); they never go back. A file that differs only in the serial is not written, so the serial changes only with the rules.
 */
export async function nextSerial(plan: OutputPlan, timestamp: Date, host: Host): Promise<number> {
  const { path, updates, options } = plan;
  const seconds = Math.floor(timestamp.getTime() / 1000) >>> 0;
  const known = [await lastSerial(path, host)];
  if (updates !== undefined) known.push(await primarySerial(updates, options.origin, host));
  const last = known.filter((serial) => serial !== undefined).reduce(later, undefined);
  if (last === undefined) return seconds === 0 ? 1 : seconds;
  // Every message of a script for the primary needs a serial of its own.
  const size = updates === undefined ? 0 : ((await ifAvailable(() => host.sizeOf(path))) ?? 0);
  const step = 1 + Math.ceil(size / BYTES_PER_STEP);
  const ahead = (seconds - last) >>> 0;
  const next = ahead >= step && ahead < HALF ? seconds : (last + step) >>> 0;
  return next === 0 ? 1 : next;
}

function later(one: number | undefined, other: number): number {
  return one === undefined || isLater(other, one) ? other : one;
}

/** Whether a serial is later than another, in the arithmetic of RFC 1982. */
function isLater(serial: number, other: number): boolean {
  const ahead = (serial - other) >>> 0;
  return ahead > 0 && ahead < HALF;
}

async function lastSerial(path: string, host: Host): Promise<number | undefined> {
  const text = decodeUtf8((await readStart(path, HEADER_BYTES, host)) ?? new Uint8Array(0));
  const serial = /^@ SOA \S+ \S+ (?<serial>\d{1,10}) /m.exec(text)?.groups?.["serial"];
  return serial === undefined ? undefined : Number(serial) >>> 0;
}

const TIMEOUT_MS = 3000;
const DNS_HEADER_BYTES = 12;
const SOA = 6;
const IN = 1;
/** Type, class, TTL and length of a record. */
const ANSWER_BYTES = 10;
const POINTER = 0xc0;

/** The serial of a zone on its primary, `192.0.2.1#5353`; undefined if it does not answer, or has no such zone. */
async function primarySerial(
  primary: string,
  zone: string,
  host: Host,
): Promise<number | undefined> {
  if (host.exchange === undefined) return undefined;
  const [address = "", port = "53"] = primary.split("#");
  const id = crypto.getRandomValues(new Uint16Array(1))[0]!;
  let answer: Uint8Array = new Uint8Array(0);
  const take = (piece: Uint8Array): boolean => {
    const joined = new Uint8Array(answer.length + piece.length);
    joined.set(answer);
    joined.set(piece, answer.length);
    answer = joined;
    return answer.length >= 2 && answer.length >= 2 + ((answer[0]! << 8) | answer[1]!);
  };
  try {
    const message = questionFor(zone, id);
    const to = { protocol: "tcp", address, port: Number(port) } as const;
    await host.exchange({ ...to, message, timeoutMs: TIMEOUT_MS, take });
    return serialIn(new DataView(answer.buffer, 2), id);
  } catch (error) {
    if (error instanceof HostError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A question as it is sent over a connection, with its length. */
function questionFor(zone: string, id: number): Uint8Array {
  const labels = zone.split(".").filter((label) => label !== "");
  const name = labels.flatMap((label) => [label.length, ...encodeUtf8(label)]);
  const bytes = [id >> 8, id & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, SOA, 0, IN];
  return Uint8Array.from([bytes.length >> 8, bytes.length & 255, ...bytes]);
}

/** Throws a `RangeError` if the message is cut. */
function serialIn(message: DataView, id: number): number | undefined {
  const isGood = message.getUint16(0) === id && (message.getUint8(3) & 15) === 0;
  if (!isGood || message.getUint8(2) < 128) return undefined;
  let at = DNS_HEADER_BYTES;
  for (let left = message.getUint16(4); left > 0; left--) at = afterName(message, at) + 4;
  for (let left = message.getUint16(6); left > 0; left--) {
    const data = afterName(message, at) + ANSWER_BYTES;
    if (message.getUint16(data - ANSWER_BYTES) === SOA)
      return message.getUint32(afterName(message, afterName(message, data)));
    at = data + message.getUint16(data - 2);
  }
  return undefined;
}

/** The offset behind a name, which may end with a pointer. */
function afterName(message: DataView, start: number): number {
  for (let at = start; ;) {
    const length = message.getUint8(at);
    if (length >= POINTER) return at + 2;
    if (length === 0) return at + 1;
    at += length + 1;
  }
}
