import type { Host } from "../host/host.ts";
import type { DownloadAccount } from "./download-budget.ts";
import { type FetchLimits, tooLargeText } from "./fetch-limits.ts";
import { sourceError } from "./source-error.ts";
import { Spool } from "./spool.ts";

/** Below this size any ratio is harmless. */
const RATIO_FROM = 1024 * 1024;
const MOST_ENCODINGS = 2;

/** What unpacking may take, and who is charged for it. */
export interface UnpackContext {
  readonly host: Host;
  readonly limits: FetchLimits;
  /** Bytes that are left of what the source may have; all of them without it. */
  readonly room?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly account?: DownloadAccount | undefined;
}

/**
 * Undoes the encodings of an answer, and gzip that the list itself is in (`list.txt.gz`). Strict: data that stops early or
 * expands beyond the limits is an error, never a shorter list. The spool that was given is closed when another is returned.
 */
export async function unpack(
  raw: Spool,
  content: string | undefined,
  label: string,
  context: UnpackContext,
): Promise<Spool> {
  const names = (content ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  let spool = raw;
  try {
    if (names.length > MOST_ENCODINGS) throw new Error("it is packed too many times");
    for (const name of names.toReversed()) spool = await inflate(name, spool, context);
    if (isGzip(spool)) spool = await inflate("gzip", spool, context);
    return spool;
  } catch (error) {
    spool.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError("source-not-text", `Cannot unpack ${label}`, reason);
  }
}

function isGzip(spool: Spool): boolean {
  const head = new Uint8Array(Math.min(2, spool.size));
  if (head.length === 2) spool.read(0, head);
  return head[0] === 0x1f && head[1] === 0x8b;
}

async function inflate(
  name: string,
  packed: Spool,
  { host, limits, signal, account, room = limits.maxBytes }: UnpackContext,
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
  const spool = new Spool(host, account);
  const most = Math.min(room, Math.max(RATIO_FROM, packed.size * limits.maxRatio));
  try {
    const take = async (unpacked: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const piece of unpacked) {
        if (spool.size + piece.length > most)
          throw new Error(
            most === room
              ? tooLargeText(limits)
              : `${packed.size} bytes expand to more than ${most}`,
          );
        spool.append(piece);
      }
    };
    await pipeline(copiesOf(packed), make(), take, signal === undefined ? {} : { signal });
  } catch (error) {
    spool.close();
    throw error;
  }
  packed.close();
  return spool;
}

/** A stream keeps what it is given. */
function* copiesOf(spool: Spool): Generator<Uint8Array> {
  for (const piece of spool.pieces()) yield piece.slice();
}
