import { skipBlanks } from "../bytes/blank.ts";
import { indexOfBytes } from "../bytes/search.ts";
import { decodeUtf8, encodeUtf8, isValidUtf8, repairUtf8 } from "../bytes/utf8.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { sourceError } from "./source-error.ts";
import { DownloadedBody } from "./downloaded-body.ts";
import type { UnpackContext } from "./unpack.ts";

/** Text of a list, converted to UTF-8. */
export interface DecodedText {
  readonly bytes: Uint8Array;
  /** Whether bytes that are not UTF-8 were replaced. */
  readonly isRepaired: boolean;
}

export interface Encoding {
  /** `Content-Encoding` of the response. */
  readonly content?: string | undefined;
  /** `charset=` of the response's `Content-Type`. */
  readonly charset?: string | undefined;
}

/** Unpacks, decodes, and rejects what is not a list. `label` names the list in messages. */
export async function decodeText(
  raw: Uint8Array,
  label: string,
  encoding: Encoding,
  maxBytes: number,
): Promise<DecodedText> {
  const unpacked = await unpack(raw, label, encoding.content, maxBytes);
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

export function isXz(head: Uint8Array): boolean {
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

async function unpack(
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
