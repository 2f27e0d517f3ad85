import { skipBlanks } from "../bytes/blank.ts";
import { indexOfBytes } from "../bytes/search.ts";
import { decodeUtf8, encodeUtf8, isValidUtf8, repairUtf8 } from "../bytes/utf8.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import { printable } from "../diagnostics/printable.ts";
import { sourceError } from "./source-error.ts";
import { Spool } from "./spool.ts";
import type { UnpackContext } from "./unpack.ts";

/** Text of a list as UTF-8 bytes, whatever it came as. */
export interface DecodedText {
  readonly bytes: Uint8Array;
  /** Some bytes were no UTF-8 and were replaced. */
  readonly isRepaired: boolean;
}

export interface Encoding {
  /** `Content-Encoding` of the answer. */
  readonly content?: string | undefined;
  /** `charset=` of the answer's type. */
  readonly charset?: string | undefined;
}

/** Unpacks, decodes, and refuses what is no list. `label` names the list in messages. */
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

/** Text of an answer as UTF-8. What needs no decoding, as nearly all, stays where it is; the rest is decoded piece by piece. */
export async function recodeText(
  spool: Spool,
  label: string,
  charset: string | undefined,
  { host, limits, account, room = limits.maxBytes }: UnpackContext,
): Promise<Spool> {
  const head = new Uint8Array(Math.min(2, spool.size));
  if (head.length > 0) spool.read(0, head);
  const name = (charset ?? "utf-8").toLowerCase().replaceAll('"', "");
  const isWide = isPacked(head);
  if (!isWide && (name === "utf-8" || name === "utf8")) return spool;
  let recoded: Spool | undefined;
  try {
    // Servers say iso-8859-1 of everything; bytes that are UTF-8 speak for themselves.
    if (!isWide && isUtf8(spool)) return spool;
    const from = isWide ? (head[0] === 0xff ? "utf-16le" : "utf-16be") : name;
    recoded = new Spool(host, account);
    const decoder = decoderOf(from, label);
    for (const piece of spool.pieces())
      appendText(recoded, decoder.decode(piece, { stream: true }), room);
    appendText(recoded, decoder.decode(), room);
    spool.close();
    return recoded;
  } catch (error) {
    spool.close();
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

function appendText(spool: Spool, text: string, maxBytes: number): void {
  const bytes = encodeUtf8(text);
  if (spool.size + bytes.length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  spool.append(bytes);
}

function isUtf8(spool: Spool): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (const piece of spool.pieces()) decoder.decode(piece, { stream: true });
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}

/** Whether a file's first bytes say that it has to be unpacked or decoded as a whole: gzip, or UTF-16. */
export function isPacked(head: Uint8Array): boolean {
  const [first, second] = head;
  return (
    (first === 0x1f && second === 0x8b) ||
    (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff)
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
    // A file that is itself gzip (`list.txt.gz`), whatever the server says of it.
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await inflate("gzip", bytes, maxBytes);
    return bytes;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError("source-not-text", `Cannot unpack ${label}`, reason);
  }
}

/** Strict: data that stops early or expands beyond the limit is an error, never a shorter list. */
async function inflate(
  name: string,
  bytes: Uint8Array,
  maxOutputLength: number,
): Promise<Uint8Array> {
  if (name === "" || name === "identity") return bytes;
  // Loaded when the first packed list is met: 5 ms that a run over files can do without.
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
  // Servers say iso-8859-1 of everything; bytes that are UTF-8 speak for themselves.
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
