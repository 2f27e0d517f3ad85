import { type ArchiveMember, chosenMember, membersOf } from "./archive.ts";
import { CompilerError } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import type { DownloadAccount } from "./download-budget.ts";
import { type FetchLimits, tooLargeText } from "./fetch-limits.ts";
import { isXz } from "./decode.ts";
import { notSigned, sourceError } from "./source-error.ts";
import { DownloadedBody } from "./downloaded-body.ts";

/** Below this size any ratio is harmless. */
const RATIO_FROM = 1024 * 1024;
const MOST_ENCODINGS = 2;

/** The limits of unpacking, and the account that its bytes count towards. */
export interface UnpackContext {
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
    for (const name of names.toReversed()) body = await inflate(name, body, context);
    if (problem !== undefined && body !== raw) problem = context.findProblem?.(body);
    if (problem !== undefined) throw notSigned(label, problem);
    const own = packingOf(body);
    if (own !== undefined) body = await inflate(own, body, context);
    const members = membersOf(body);
    if (members !== undefined)
      return await extract(body, chosenMember(members, context.member), context);
    if (context.member !== undefined) throw new Error("it is not an archive, but member is set");
    return body;
  } catch (error) {
    body.close();
    if (error instanceof CompilerError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError("source-not-text", `Cannot decompress ${label}`, reason);
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
    const text = zip?.isPacked === true ? await inflate("deflate-raw", own, context) : own;
    const isWhole =
      zip === undefined || (text.size === zip.size && ((await crcOf(text)) ?? zip.crc) === zip.crc);
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

/** The checksum of zip. */
async function crcOf(body: DownloadedBody): Promise<number | undefined> {
  const { crc32 } = await import("node:zlib");
  // Deno 2.0 does not have it.
  if (typeof crc32 !== "function") return undefined;
  let crc = 0;
  for (const piece of body.pieces()) crc = crc32(piece, crc);
  return crc;
}

async function inflate(
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
