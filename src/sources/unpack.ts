import {
  decodeUtf8,
  encodeUtf8,
  indexOfBytes,
  isValidUtf8,
  repairUtf8,
  skipBlanks,
} from "../bytes/text.ts";
import { CompilerError } from "../diagnostics/render.ts";
import { printable } from "../diagnostics/text.ts";
import type { Host } from "../host/host.ts";
import { crc32Of } from "./copies.ts";
import {
  type DownloadAccount,
  DownloadedBody,
  FETCH_LIMITS,
  type FetchLimits,
  notSigned,
  sourceError,
  tooLargeHint,
  tooLargeText,
} from "./limits.ts";

/** Below this size any ratio is harmless. */
const RATIO_FROM = 1024 * 1024;
const MOST_ENCODINGS = 2;

/** The limits of unpacking, and the account that its bytes count towards. */
interface UnpackContext {
  readonly host: Host;
  readonly limits: FetchLimits;
  /** Bytes that the source may still use; `maxBytes` by default. */
  readonly room?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly account?: DownloadAccount | undefined;
  /** Selects a file of an archive. */
  readonly member?: string | undefined;
  /** Finds what is wrong with the signature of a file. */
  readonly findProblem?: ((file: DownloadedBody) => string | undefined) | undefined;
}

/**
 * Decodes the content encodings of a response, and a list that is itself packed (`list.txt.gz`) or in an archive. Truncated data and data
 * that expands beyond the limits are errors, never a shorter list. Closes the given body if it returns another one.
 */
export async function unpack(
  raw: DownloadedBody,
  content: string | undefined,
  label: string,
  context: UnpackContext,
): Promise<DownloadedBody> {
  const names = (content ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  let body = raw;
  try {
    if (names.length > MOST_ENCODINGS) throw new Error("it is compressed too many times");
    // Some servers name the compression of the file itself as one of the transfer.
    let problem = context.findProblem?.(raw);
    for (const name of names.toReversed()) body = await inflateFile(name, body, context);
    if (problem !== undefined && body !== raw) problem = context.findProblem?.(body);
    if (problem !== undefined) throw notSigned(label, problem);
    const own = packingOf(body);
    if (own !== undefined) body = await inflateFile(own, body, context);
    const members = membersOf(body);
    if (members !== undefined)
      return await extract(body, chosenMember(members, context.member), context);
    if (context.member !== undefined) throw new Error("it is not an archive, but member is set");
    return body;
  } catch (error) {
    body.close();
    if (error instanceof CompilerError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const isLarge = reason === tooLargeText(context.limits);
    throw sourceError("source-not-text", `Cannot decompress ${label}`, reason, {
      ...(isLarge && { hint: tooLargeHint(context.limits) }),
    });
  }
}

/** The packing of the bytes themselves, whatever the headers claim. */
function packingOf(body: DownloadedBody): string | undefined {
  const head = new Uint8Array(Math.min(6, body.size));
  if (head.length >= 4) body.read(0, head);
  if (isXz(head))
    throw new Error(
      "it is compressed as .xz, which is not supported: use a .gz, .zst or .zip of it, or decompress it by xz -d",
    );
  const [a, b, c, d] = head;
  if (a === 0x1f && b === 0x8b) return "gzip";
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? "zstd" : undefined;
}

/** Replaces an archive by one of its files. */
async function extract(
  archive: DownloadedBody,
  { start, end, zip }: ArchiveMember,
  context: UnpackContext,
): Promise<DownloadedBody> {
  const { host, account, limits, room = limits.maxBytes } = context;
  const own = new DownloadedBody(host, account);
  try {
    if (end - start > room) throw new Error(tooLargeText(limits));
    for (const piece of archive.pieces(start, end)) own.append(piece);
    const text = zip?.isPacked === true ? await inflateFile("deflate-raw", own, context) : own;
    const isWhole =
      zip === undefined || (text.size === zip.size && (await crc32Of(text.pieces())) === zip.crc);
    if (isWhole) {
      archive.close();
      return text;
    }
    text.close();
    throw new Error("the archive is damaged: a checksum is wrong");
  } catch (error) {
    own.close();
    throw error;
  }
}

async function inflateFile(
  name: string,
  packed: DownloadedBody,
  { host, limits, signal, account, room = limits.maxBytes }: UnpackContext,
): Promise<DownloadedBody> {
  // Loaded on first use: it takes 5 ms, which a build of plain files saves.
  const zlib = await import("node:zlib");
  const { pipeline } = await import("node:stream/promises");
  const makers = new Map([
    ["gzip", () => zlib.createGunzip()],
    ["x-gzip", () => zlib.createGunzip()],
    ["deflate", () => zlib.createInflate()],
    ["br", () => zlib.createBrotliDecompress()],
    ["deflate-raw", () => zlib.createInflateRaw()],
    ["zstd", () => zlib.createZstdDecompress()],
  ]);
  const make = makers.get(name);
  if (make === undefined) throw new Error(`unknown content encoding ${name}`);
  const body = new DownloadedBody(host, account);
  const most = Math.min(room, Math.max(RATIO_FROM, packed.size * limits.maxRatio));
  try {
    const take = async (unpacked: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const piece of unpacked) {
        if (body.size + piece.length > most)
          throw new Error(
            most === room
              ? tooLargeText(limits)
              : `${packed.size} bytes expand to more than ${most}`,
          );
        body.append(piece);
      }
    };
    await pipeline(copiesOf(packed), make(), take, signal === undefined ? {} : { signal });
  } catch (error) {
    body.close();
    throw error;
  }
  packed.close();
  return body;
}

/** Streams keep references to what they are given, so they get copies. */
function* copiesOf(body: DownloadedBody): Generator<Uint8Array> {
  for (const piece of body.pieces()) yield piece.slice();
}

/** A file in an archive. Its name is compared and shown, and never a path. */
interface ArchiveMember {
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
function membersOf(body: DownloadedBody): ArchiveMember[] | undefined {
  const head = bytesAt(body, 0, Math.min(body.size, TAR_BLOCK));
  // An empty zip archive begins with its directory's end.
  if (head[0] === 0x50 && head[1] === 0x4b && (head[2] === 3 || head[2] === 5))
    return zipMembers(body);
  return decodeUtf8(head, 257, 262) === "ustar" ? tarMembers(body) : undefined;
}

/** The one file that a pattern selects, in which `*` matches any text. Without a pattern, the only file. */
function chosenMember(
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
        ? `compression method ${method} is not supported`
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

/** Text of a list, converted to UTF-8. */
interface DecodedText {
  readonly bytes: Uint8Array;
  /** Whether bytes that are not UTF-8 were replaced. */
  readonly isRepaired: boolean;
}

interface Encoding {
  /** `Content-Encoding` of the response. */
  readonly content?: string | undefined;
  /** `charset=` of the response's `Content-Type`. */
  readonly charset?: string | undefined;
}

/** Decompresses, decodes, and rejects what is not a list. `label` names the list in messages. */
async function decodeText(
  raw: Uint8Array,
  label: string,
  encoding: Encoding,
  maxBytes: number,
): Promise<DecodedText> {
  const unpacked = await unpackEncoding(raw, label, encoding.content, maxBytes);
  const bytes = toUtf8(unpacked, label, encoding.charset);
  refuseNul(bytes, label);
  refuseHtml(bytes, label);
  if (isValidUtf8(bytes)) return { bytes, isRepaired: false };
  return { bytes: repairUtf8(bytes), isRepaired: true };
}

/** The body of a response as UTF-8. Nearly all bodies need no decoding and are returned as they are. */
export async function recodeText(
  body: DownloadedBody,
  label: string,
  charset: string | undefined,
  { host, limits, account, room = limits.maxBytes }: UnpackContext,
): Promise<DownloadedBody> {
  const head = new Uint8Array(Math.min(2, body.size));
  if (head.length > 0) body.read(0, head);
  const name = (charset ?? "utf-8").toLowerCase().replaceAll('"', "");
  const isTwoBytes = isWide(head);
  if (!isTwoBytes && (name === "utf-8" || name === "utf8")) return body;
  let recoded: DownloadedBody | undefined;
  try {
    // Servers claim iso-8859-1 for everything; valid UTF-8 is more trustworthy.
    if (!isTwoBytes && isUtf8(body)) return body;
    const from = isTwoBytes ? (head[0] === 0xff ? "utf-16le" : "utf-16be") : name;
    recoded = new DownloadedBody(host, account);
    const decoder = decoderOf(from, label);
    for (const piece of body.pieces())
      appendText(recoded, decoder.decode(piece, { stream: true }), room);
    appendText(recoded, decoder.decode(), room);
    body.close();
    return recoded;
  } catch (error) {
    body.close();
    recoded?.close();
    if (error instanceof CompilerError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError(
      "source-not-text",
      `Cannot decode ${label} as ${printable(name, 40)}`,
      reason,
    );
  }
}

function decoderOf(charset: string, label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    const message = `Cannot decode ${label} as ${printable(charset, 40)}`;
    throw sourceError("source-not-text", message, "unknown charset");
  }
}

function appendText(body: DownloadedBody, text: string, maxBytes: number): void {
  const bytes = encodeUtf8(text);
  if (body.size + bytes.length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  body.append(bytes);
}

function isUtf8(body: DownloadedBody): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (const piece of body.pieces()) decoder.decode(piece, { stream: true });
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}

/** Whether text begins as UTF-16 does. */
export function isWide([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

const XZ = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0];

function isXz(head: Uint8Array): boolean {
  return XZ.every((byte, at) => head[at] === byte);
}

/** Whether a file's first bytes mark it as packed or an archive, which must be read as a whole. */
export function isPacked(head: Uint8Array): boolean {
  const [first, second, third] = head;
  return (
    (first === 0x1f && second === 0x8b) ||
    (first === 0x28 && second === 0xb5 && third === 0x2f) ||
    isXz(head) ||
    (first === 0x50 && second === 0x4b && (third === 3 || third === 5)) ||
    decodeUtf8(head, 257, Math.min(262, head.length)) === "ustar"
  );
}

export function refuseNul(bytes: Uint8Array, label: string): void {
  if (indexOfBytes(bytes, 0) !== -1)
    throw sourceError(
      "source-not-text",
      `Not a text list: ${label}`,
      "it holds NUL bytes, as binary files do",
    );
}

export function refuseHtml(bytes: Uint8Array, label: string): void {
  if (looksLikeHtml(bytes))
    throw sourceError(
      "source-is-html",
      `A web page instead of a list: ${label}`,
      `it begins with ${decodeUtf8(bytes, 0, Math.min(60, bytes.length)).trim()}`,
    );
}

async function unpackEncoding(
  raw: Uint8Array,
  label: string,
  content: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  let bytes = raw;
  const names = (content ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  try {
    for (const name of names.toReversed()) bytes = await inflate(name, bytes, maxBytes);
    // A file that is itself gzip (`list.txt.gz`), whatever the headers claim.
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await inflate("gzip", bytes, maxBytes);
    return bytes;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError("source-not-text", `Cannot decompress ${label}`, reason);
  }
}

/** Truncated data and data that expands beyond the limit are errors, never a shorter list. */
async function inflate(
  name: string,
  bytes: Uint8Array,
  maxOutputLength: number,
): Promise<Uint8Array> {
  if (name === "" || name === "identity") return bytes;
  // Loaded on first use: it takes 5 ms, which a build of plain files saves.
  const { constants, brotliDecompressSync, gunzipSync, inflateSync } = await import("node:zlib");
  if (name === "gzip" || name === "x-gzip")
    return gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_FINISH });
  if (name === "deflate") return inflateSync(bytes, { maxOutputLength });
  if (name === "br") return brotliDecompressSync(bytes, { maxOutputLength });
  throw new Error(`unknown content encoding ${name}`);
}

function toUtf8(bytes: Uint8Array, label: string, charset: string | undefined): Uint8Array {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return recode(bytes, label, "utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return recode(bytes, label, "utf-16be");
  const name = (charset ?? "utf-8").toLowerCase().replaceAll('"', "");
  // Servers claim iso-8859-1 for everything; valid UTF-8 is more trustworthy.
  if (name === "utf-8" || name === "utf8" || isValidUtf8(bytes)) return bytes;
  return recode(bytes, label, name);
}

function recode(bytes: Uint8Array, label: string, charset: string): Uint8Array {
  try {
    return encodeUtf8(new TextDecoder(charset, { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError(
      "source-not-text",
      `Cannot decode ${label} as ${printable(charset, 40)}`,
      reason,
    );
  }
}

function looksLikeHtml(bytes: Uint8Array): boolean {
  const start = skipBlanks(bytes, 0, Math.min(bytes.length, 1024));
  const head = decodeUtf8(bytes, start, Math.min(bytes.length, start + 40));
  return /^<(?:!doctype html|html|head|body|title|script|meta|!--)/i.test(head);
}

/** The largest local file that is unpacked in memory. */
const MAX_LIST_BYTES = 512 * 1024 * 1024;

/** The text of a local file that is packed, in an archive, or UTF-16. Rejects with a `CompilerError`. */
export async function unpackedText(
  bytes: Uint8Array,
  { label, member }: { readonly label: string; readonly member?: string | undefined },
  host: Host,
): Promise<DecodedText> {
  const raw = isWide(bytes) ? bytes : await unpackedBytes(bytes, label, member, host);
  return await decodeText(raw, label, {}, MAX_LIST_BYTES);
}

async function unpackedBytes(
  bytes: Uint8Array,
  label: string,
  member: string | undefined,
  host: Host,
): Promise<Uint8Array> {
  const packed = new DownloadedBody(host);
  packed.append(bytes);
  const limits = { ...FETCH_LIMITS, maxBytes: MAX_LIST_BYTES, maxRatio: Infinity };
  const body = await unpack(packed, undefined, label, { host, limits, member });
  const text = new Uint8Array(body.size);
  if (text.length > 0) body.read(0, text);
  body.close();
  return text;
}
