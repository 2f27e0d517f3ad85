import { decodeUtf8 } from "../bytes/utf8.ts";
import { printable } from "../diagnostics/printable.ts";
import type { DownloadedBody } from "./downloaded-body.ts";

/** A file in an archive. Its name is compared and shown, and never a path. */
export interface ArchiveMember {
  readonly name: string;
  /** Where its bytes are in the archive. */
  readonly start: number;
  readonly end: number;
  /** Of zip: its size when it is unpacked, its checksum, and whether it is packed. */
  readonly zip?: { readonly size: number; readonly crc: number; readonly isPacked: boolean };
  /** Why it cannot be read. Other files of the archive can. */
  readonly problem?: string;
}

const MOST_MEMBERS = 100_000;
const LONGEST_NAME = 4096;
const LARGEST_DIRECTORY = 16 * 1024 * 1024;
const TAR_BLOCK = 512;

/** The files of a zip or tar archive; undefined if it is neither. Throws if the archive is damaged. */
export function membersOf(body: DownloadedBody): ArchiveMember[] | undefined {
  const head = bytesAt(body, 0, Math.min(body.size, TAR_BLOCK));
  // An empty zip archive begins with its directory's end.
  if (head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5))
    return zipMembers(body);
  return decodeUtf8(head, 257, 262) === "ustar" ? tarMembers(body) : undefined;
}

/** The one file that a pattern selects, in which `*` matches any text. Without a pattern, the only file. */
export function chosenMember(
  members: readonly ArchiveMember[],
  pattern: string | undefined,
): ArchiveMember {
  const chosen = members.filter(({ name }) => pattern === undefined || matches(name, pattern));
  const [first, second] = chosen;
  if (first !== undefined && second === undefined) {
    if (first.problem !== undefined) throw new Error(first.problem);
    return first;
  }
  const names = (first === undefined ? members : chosen).slice(0, 3);
  const shown = names.map(({ name }) => printable(name, 60)).join(" ");
  throw new Error(
    first === undefined
      ? `it has no file that member selects; it has ${shown === "" ? "none at all" : shown}`
      : `member must select one of its files; it has ${chosen.length}: ${shown}`,
  );
}

function matches(name: string, pattern: string): boolean {
  const [start = "", ...parts] = pattern.split("*");
  const end = parts.pop();
  if (end === undefined) return name === pattern;
  if (!name.startsWith(start) || name.length < start.length + end.length) return false;
  let at = start.length;
  const stop = name.length - end.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > stop) return false;
    at = found + part.length;
  }
  return name.endsWith(end);
}

function bytesAt(body: DownloadedBody, start: number, size: number): Uint8Array {
  if (start < 0 || size < 0 || start + size > body.size) throw damaged();
  const bytes = new Uint8Array(size);
  if (size > 0) body.read(start, bytes);
  return bytes;
}

function viewAt(body: DownloadedBody, start: number, size: number): DataView {
  return new DataView(bytesAt(body, start, size).buffer);
}

function damaged(): Error {
  return new Error("the archive is damaged or not complete");
}

/** Reads the directory at the end (APPNOTE 6.3, without zip64 and several disks). */
function zipMembers(body: DownloadedBody): ArchiveMember[] {
  const tailSize = Math.min(body.size, 22 + 65_535);
  const tail = viewAt(body, body.size - tailSize, tailSize);
  let at = tailSize - 22;
  while (at >= 0 && !(tail.getUint32(at, true) === 0x06054b50 && isEnd(tail, at))) at--;
  if (at < 0) throw damaged();
  const count = tail.getUint16(at + 10, true);
  const size = tail.getUint32(at + 12, true);
  const start = tail.getUint32(at + 16, true);
  if (count === 0xffff || start === 0xffffffff) throw new Error("zip64 is not supported");
  if (size > LARGEST_DIRECTORY) throw damaged();
  const directory = bytesAt(body, start, size);
  const members: ArchiveMember[] = [];
  let entry = 0;
  for (let number = 0; number < count; number++) {
    if (entry + 46 > size) throw damaged();
    const view = new DataView(directory.buffer, entry);
    if (view.getUint32(0, true) !== 0x02014b50) throw damaged();
    const nameEnd = entry + 46 + view.getUint16(28, true);
    const next = nameEnd + view.getUint16(30, true) + view.getUint16(32, true);
    if (next > size) throw damaged();
    const name = decodeUtf8(directory, entry + 46, nameEnd);
    if (!name.endsWith("/")) members.push(zipMember(body, name, view, start));
    entry = next;
  }
  return members;
}

function isEnd(tail: DataView, at: number): boolean {
  return at + 22 + tail.getUint16(at + 20, true) === tail.byteLength;
}

function zipMember(
  body: DownloadedBody,
  name: string,
  entry: DataView,
  directory: number,
): ArchiveMember {
  const [flags, method] = [entry.getUint16(8, true), entry.getUint16(10, true)];
  const [crc, packedSize] = [entry.getUint32(16, true), entry.getUint32(20, true)];
  const size = entry.getUint32(24, true);
  const header = entry.getUint32(42, true);
  const problem =
    (flags & 1) !== 0
      ? "the file in the archive is encrypted"
      : method !== 0 && method !== 8
        ? `packing method ${method} is not supported`
        : undefined;
  if (problem !== undefined) return { name, start: 0, end: 0, problem };
  const local = viewAt(body, header, 30);
  if (local.getUint32(0, true) !== 0x04034b50) throw damaged();
  const start = header + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  const end = start + packedSize;
  if (end > directory || (method === 0 && size !== packedSize)) throw damaged();
  return { name, start, end, zip: { size, crc, isPacked: method !== 0 } };
}

/** Reads headers of POSIX and GNU tar. Links, folders and devices are not files. */
function tarMembers(body: DownloadedBody): ArchiveMember[] {
  const members: ArchiveMember[] = [];
  let longName: string | undefined;
  for (let at = 0, count = 0; ; count++) {
    if (count > MOST_MEMBERS) throw new Error(`it has more than ${MOST_MEMBERS} files`);
    const header = bytesAt(body, at, TAR_BLOCK);
    if (header.every((byte) => byte === 0)) return members;
    if (!isTarHeader(header)) throw damaged();
    const size = octal(header, 124, 136);
    const start = at + TAR_BLOCK;
    if (start + size > body.size) throw damaged();
    const type = String.fromCharCode(header[156]!);
    if (type === "L" || type === "x") {
      if (size > LONGEST_NAME * 16) throw damaged();
      const text = decodeUtf8(bytesAt(body, start, size));
      longName = type === "L" ? text.replace(/\0.*$/s, "") : paxPath(text);
    } else if (type !== "g") {
      const prefix = textIn(header, 345, 500);
      const name = longName ?? `${prefix === "" ? "" : `${prefix}/`}${textIn(header, 0, 100)}`;
      if (type === "0" || type === "\0") members.push({ name, start, end: start + size });
      longName = undefined;
    }
    at = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
}

function isTarHeader(header: Uint8Array): boolean {
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
  return sum === octal(header, 148, 156);
}

function octal(header: Uint8Array, start: number, end: number): number {
  const text = textIn(header, start, end).trim();
  if (!/^[0-7]{1,12}$/.test(text)) throw damaged();
  return Number.parseInt(text, 8);
}

function textIn(header: Uint8Array, start: number, end: number): string {
  return decodeUtf8(header, start, end).replace(/\0.*$/s, "");
}

function paxPath(text: string): string | undefined {
  return /^\d+ path=(?<path>[^\n]+)\n/m.exec(text)?.groups?.["path"];
}
