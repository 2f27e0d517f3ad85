import { createHash } from "node:crypto";
import { type FileStamp, type Host, HostError, type OpenFile, type Packing } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { temporaryFor } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";

/** Up to this size a list and its compressed variants are kept in memory. */
const IN_MEMORY = 64 * 1024 * 1024;
const BLOCK = 256 * 1024;

const PACKINGS = Object.entries(PACKED_ENDINGS) as [Packing, string][];

/** A list with one content encoding. Its bytes never change; a new version of the list has new variants. */
export interface Variant {
  readonly packing: Packing | undefined;
  readonly size: number;
  /** A strong validator: different bytes have different tags. */
  readonly etag: string;
  /** The headers of a complete response. */
  readonly headers: Readonly<Record<string, string>>;
  /** A range of the bytes. Rejects with a `HostError` if the file is gone. */
  read(start: number, end: number): Uint8Array | AsyncIterable<Uint8Array>;
}

/** A published list at one point in time. */
export interface ListVersion {
  readonly name: string;
  /** Identifies the version: a digest of its bytes. */
  readonly tag: string;
  /** When it was published, in whole seconds. */
  readonly modified: Date;
  readonly fingerprint: string;
  /** The uncompressed variant comes first. */
  readonly variants: readonly Variant[];
  readonly size: number;
}

/** Reads a list; undefined if it does not exist. Lists are replaced, never modified, so an open file stays complete. */
export async function readListVersion(
  path: string,
  packedIn: string,
  host: Host,
): Promise<ListVersion | undefined> {
  return await ifAvailable(async () => {
    const { digest, stamp, size, bytes } = await readList(path, host);
    const tag = digest.slice(0, 32);
    const modified = new Date(Math.floor(Math.max(0, stamp.changed) / 1000) * 1000);
    const fingerprint = stamp.text;
    const variants = [variantOf({ path, fingerprint, bytes, size, tag }, modified, host)];
    for (const [packing, ending] of PACKINGS) {
      const packed = await readPacked(
        host.path.join(packedIn, `${host.path.basename(path)}.${tag}.${ending}`),
        host,
      );
      if (packed !== undefined)
        variants.push(variantOf({ ...packed, tag: `${tag}-${ending}`, packing }, modified, host));
    }
    return { name: host.path.basename(path), tag, modified, fingerprint, variants, size };
  });
}

/** Writes the compressed variants of a version and removes those of earlier ones. Rejects with a `HostError`. */
export async function packListVersion(
  path: string,
  { tag, variants, fingerprint }: ListVersion,
  packedIn: string,
  host: Host,
): Promise<void> {
  await host.makeFolder(packedIn);
  const current = new Set<string>();
  for (const [packing, ending] of PACKINGS) {
    const packed = host.path.join(packedIn, `${host.path.basename(path)}.${tag}.${ending}`);
    current.add(host.path.basename(packed));
    if (variants.some((variant) => variant.packing === packing)) continue;
    const temporary = temporaryFor(packed);
    try {
      await host.packFile?.(path, temporary, packing);
      // The list may have been replaced meanwhile; then these are the bytes of another version.
      if ((await host.stampOf(path))?.text !== fingerprint) return;
      if ((await host.sizeOf(temporary)) > 0) await host.rename(temporary, packed);
    } finally {
      await host.removeFile(temporary).catch(() => {});
    }
  }
  for (const name of await host.listFolder(packedIn))
    if (isPacked(name, host.path.basename(path)) && !current.has(name))
      await host.removeFile(host.path.join(packedIn, name)).catch(() => {});
}

function isPacked(name: string, list: string): boolean {
  return (
    name.startsWith(`${list}.`) &&
    /^[0-9a-f]{32}\.(?:gz|br|zst)(?:\.[a-z0-9]+\.tmp)?$/.test(name.slice(list.length + 1))
  );
}

async function readList(
  path: string,
  host: Host,
): Promise<{ digest: string; stamp: FileStamp; size: number; bytes: Uint8Array | undefined }> {
  const file = await host.openFile(path);
  try {
    const hash = createHash("sha256");
    const bytes = file.size <= IN_MEMORY ? new Uint8Array(file.size) : undefined;
    let size = 0;
    for (;;) {
      const block = new Uint8Array(BLOCK);
      const count = await file.read(block);
      if (count === 0) break;
      const part = block.subarray(0, count);
      hash.update(part);
      if (bytes !== undefined && size + count > bytes.length)
        throw new HostError("EAGAIN", "the file grew while it was read");
      bytes?.set(part, size);
      size += count;
    }
    return { digest: hash.digest("hex"), stamp: file.stamp, size, bytes };
  } finally {
    await file.close();
  }
}

async function readPacked(
  path: string,
  host: Host,
): Promise<Omit<StoredVariant, "tag"> | undefined> {
  const fingerprint = (await host.stampOf(path))?.text;
  if (fingerprint === undefined) return undefined;
  const size = await host.sizeOf(path);
  const bytes = size <= IN_MEMORY ? await host.readFile(path) : undefined;
  return { path, fingerprint, size, bytes };
}

interface StoredVariant {
  readonly path: string;
  readonly fingerprint: string;
  readonly size: number;
  /** Undefined if there are too many to keep in memory. */
  readonly bytes: Uint8Array | undefined;
  readonly tag: string;
  readonly packing?: Packing;
}

function variantOf(stored: StoredVariant, modified: Date, host: Host): Variant {
  const { size, bytes, tag, packing } = stored;
  const etag = `"${tag}"`;
  return {
    packing,
    size,
    etag,
    headers: {
      etag,
      "last-modified": modified.toUTCString(),
      "cache-control": "no-cache",
      vary: "accept-encoding",
      "accept-ranges": "bytes",
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-length": String(size),
      ...(packing === undefined ? {} : { "content-encoding": packing }),
    },
    read: (start, end) =>
      bytes === undefined ? readChunks(stored, start, end, host) : bytes.subarray(start, end),
  };
}

async function* readChunks(
  { path, fingerprint }: StoredVariant,
  start: number,
  end: number,
  host: Host,
): AsyncGenerator<Uint8Array> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    if (file.stamp.text !== fingerprint) throw new HostError("ESTALE", "the list was replaced");
    for (let at = start; at < end;) {
      const chunk = new Uint8Array(Math.min(BLOCK, end - at));
      const count = await file.read(chunk, at);
      if (count === 0) throw new HostError("EIO", "the file was truncated");
      yield chunk.subarray(0, count);
      at += count;
    }
  } finally {
    await file?.close();
  }
}

/** The folder for the compressed variants of a list. */
export function packedFolder(path: string, host: Host): string {
  return host.path.join(recordFolder(path, host), "packed");
}
