import type { Host } from "../host/host.ts";
import type { DownloadAccount } from "./download-budget.ts";
import { type FetchLimits, tooLargeText } from "./fetch-limits.ts";
import { sourceError } from "./source-error.ts";
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
}

/**
 * Decodes the content encodings of a response, and a list that is itself gzip (`list.txt.gz`). Truncated data and data
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
    if (names.length > MOST_ENCODINGS) throw new Error("it is packed too many times");
    for (const name of names.toReversed()) body = await inflate(name, body, context);
    if (isGzip(body)) body = await inflate("gzip", body, context);
    return body;
  } catch (error) {
    body.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw sourceError("source-not-text", `Cannot unpack ${label}`, reason);
  }
}

function isGzip(body: DownloadedBody): boolean {
  const head = new Uint8Array(Math.min(2, body.size));
  if (head.length === 2) body.read(0, head);
  return head[0] === 0x1f && head[1] === 0x8b;
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
