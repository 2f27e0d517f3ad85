import { AT, DOLLAR, LF } from "../bytes/ascii.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { Host, Scratch } from "../host/host.ts";
import { readLines } from "../host/read-lines.ts";
import type { FileSet } from "./file-set.ts";
import { LineDifference } from "./line-difference.ts";
import { type OutputPlan, updatesFile } from "./output-plan.ts";

/** The difference to the zone that was published before, or why the whole zone is better. */
export type ZoneUpdates =
  | { readonly file: string; readonly records: number; readonly messages: number }
  | { readonly whole: "first" | "settings" | "large" };

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
  await readLines(path, host, (lines) => {
    for (let start = 0; start < lines.length;) {
      const next = lines.indexOf(LF, start);
      const end = next === -1 ? lines.length : next;
      if (lines[start] === AT || lines[start] === DOLLAR) head.push(decodeUtf8(lines, start, end));
      else if (end > start && lines[start] !== SEMICOLON) {
        difference.add(side, lines, start, end);
        records++;
      }
      start = end + 1;
    }
  });
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
