import { reasonOf } from "../diagnostics/reason.ts";
import { type Host, HostError, type Scratch } from "../host/host.ts";
import type { FetchLimits } from "./fetch-limits.ts";
import { sourceError } from "./source-error.ts";

/** Bytes outside memory. */
export interface Spool {
  readonly scratch: Scratch;
  size: number;
}

const PIECE = 256 * 1024;
/** Below this size any ratio is harmless. */
const RATIO_FROM = 1024 * 1024;
const MOST_ENCODINGS = 2;

/** Throws a `CompilerError` where nothing can be put aside. */
export function newSpool(host: Host): Spool {
  try {
    return { scratch: host.openScratch(), size: 0 };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw sourceError(
      "scratch-failed",
      "Nothing can be put into the temporary folder",
      reasonOf(error.code, error.message),
    );
  }
}

/** The bytes of a spool, in pieces that are good until the next. */
export function* piecesOf({ scratch, size }: Spool): Generator<Uint8Array> {
  const buffer = new Uint8Array(Math.min(PIECE, size));
  for (let at = 0; at < size; at += buffer.length) {
    const piece = buffer.subarray(0, Math.min(buffer.length, size - at));
    scratch.read(at, piece);
    yield piece;
  }
}

/**
 * Undoes the encodings of an answer, and gzip that the list itself is in (`list.txt.gz`). Strict: data that stops early or
 * expands beyond the limits is an error, never a shorter list. The spool that was given is closed when another is returned.
 */
export async function unpack(
  raw: Spool,
  content: string | undefined,
  label: string,
  host: Host,
  limits: FetchLimits,
  signal?: AbortSignal,
): Promise<Spool> {
  const names = (content ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  let spool = raw;
  try {
    if (names.length > MOST_ENCODINGS) throw new Error("it is packed too many times");
    for (const name of names.toReversed()) spool = await inflate(name, spool, host, limits, signal);
    if (isGzip(spool)) spool = await inflate("gzip", spool, host, limits, signal);
    return spool;
  } catch (error) {
    spool.scratch.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError("source-not-text", `Cannot unpack ${label}`, reason);
  }
}

function isGzip({ scratch, size }: Spool): boolean {
  const head = new Uint8Array(Math.min(2, size));
  if (head.length === 2) scratch.read(0, head);
  return head[0] === 0x1f && head[1] === 0x8b;
}

async function inflate(
  name: string,
  packed: Spool,
  host: Host,
  limits: FetchLimits,
  signal: AbortSignal | undefined,
): Promise<Spool> {
  // Loaded when the first packed list is met: 5 ms that a run over files can do without.
  const zlib = await import("node:zlib");
  const { pipeline } = await import("node:stream/promises");
  const makers = new Map([
    ["gzip", () => zlib.createGunzip()],
    ["x-gzip", () => zlib.createGunzip()],
    ["deflate", () => zlib.createInflate()],
    ["br", () => zlib.createBrotliDecompress()],
  ]);
  const make = makers.get(name);
  if (make === undefined) throw new Error(`unknown content encoding ${name}`);
  const spool = newSpool(host);
  const most = Math.min(limits.maxBytes, Math.max(RATIO_FROM, packed.size * limits.maxRatio));
  try {
    const take = async (unpacked: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const piece of unpacked) {
        if (spool.size + piece.length > most)
          throw new Error(`${packed.size} bytes expand to more than ${most}`);
        spool.scratch.append(piece);
        spool.size += piece.length;
      }
    };
    await pipeline(copiesOf(packed), make(), take, signal === undefined ? {} : { signal });
  } catch (error) {
    spool.scratch.close();
    throw error;
  }
  packed.scratch.close();
  return spool;
}

/** A stream keeps what it is given. */
function* copiesOf(spool: Spool): Generator<Uint8Array> {
  for (const piece of piecesOf(spool)) yield piece.slice();
}
