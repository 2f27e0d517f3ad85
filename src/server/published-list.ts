import { createHash } from "node:crypto";
import { type FileStamp, type Host, HostError, type OpenFile, type Packing } from "../host/host.ts";
import { PACKED_ENDINGS } from "../host/packed-endings.ts";
import { temporaryFor } from "../host/write-whole.ts";
import { recordFolder } from "../record/record-folder.ts";

/** Up to this size a list and its packed forms are kept in memory. */
const IN_MEMORY = 64 * 1024 * 1024;
const BLOCK = 256 * 1024;

const PACKINGS = Object.entries(PACKED_ENDINGS) as [Packing, string][];

/** The bytes of a list in one of its forms. They never change; a new list has new ones. */
export interface Form {
  readonly packing: Packing | undefined;
  readonly size: number;
  /** Strong: other bytes have another. */
  readonly etag: string;
  /** The head of an answer with all of it. */
  readonly headers: Readonly<Record<string, string>>;
  /** A part of the bytes. Rejects with a `HostError` when they are gone. */
  read(start: number, end: number): Uint8Array | AsyncIterable<Uint8Array>;
}

/** One state of a list that was published. */
export interface Edition {
  readonly name: string;
  /** Tells it from any other. */
  readonly tag: string;
  /** When it was published, in whole seconds. */
  readonly modified: Date;
  readonly stamp: string;
  /** The plain form first. */
  readonly forms: readonly Form[];
  readonly size: number;
}

/** Reads a list that is there; undefined when it is not. A list is replaced, never written to, so what was opened stays whole. */
export async function editionOf(
  path: string,
  packedIn: string,
  host: Host,
): Promise<Edition | undefined> {
  try {
    const { digest, stamp, size, bytes } = await readList(path, host);
    const tag = digest.slice(0, 32);
    const modified = new Date(Math.floor(Math.max(0, stamp.changed) / 1000) * 1000);
    const forms = [
      formOf({ path, stamp: stamp.text, bytes, size }, tag, undefined, modified, host),
    ];
    for (const [packing, ending] of PACKINGS) {
      const packed = await packedForm(
        host.path.join(packedIn, `${host.path.basename(path)}.${tag}.${ending}`),
        host,
      );
      if (packed !== undefined)
        forms.push(formOf(packed, `${tag}-${ending}`, packing, modified, host));
    }
    return { name: host.path.basename(path), tag, modified, stamp: stamp.text, forms, size };
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** Makes the packed forms of an edition, and removes those of earlier ones. Rejects with a `HostError`. */
export async function packEdition(
  path: string,
  { tag, forms, stamp }: Edition,
  packedIn: string,
  host: Host,
): Promise<void> {
  await host.makeFolder(packedIn);
  const current = new Set<string>();
  for (const [packing, ending] of PACKINGS) {
    const packed = host.path.join(packedIn, `${host.path.basename(path)}.${tag}.${ending}`);
    current.add(host.path.basename(packed));
    if (forms.some((form) => form.packing === packing)) continue;
    const temporary = temporaryFor(packed);
    try {
      await host.packFile?.(path, temporary, packing);
      // It may have been replaced meanwhile; then these are the bytes of another edition.
      if ((await host.stampOf(path))?.text !== stamp) return;
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

async function packedForm(path: string, host: Host): Promise<StoredForm | undefined> {
  const stamp = (await host.stampOf(path))?.text;
  if (stamp === undefined) return undefined;
  const size = await host.sizeOf(path);
  const bytes = size <= IN_MEMORY ? await host.readFile(path) : undefined;
  return { path, stamp, size, bytes };
}

interface StoredForm {
  readonly path: string;
  readonly stamp: string;
  readonly size: number;
  /** Undefined when they are too many to be kept. */
  readonly bytes: Uint8Array | undefined;
}

function formOf(
  { path, stamp, size, bytes }: StoredForm,
  tag: string,
  packing: Packing | undefined,
  modified: Date,
  host: Host,
): Form {
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
      bytes === undefined ? piecesOf(path, stamp, start, end, host) : bytes.subarray(start, end),
  };
}

async function* piecesOf(
  path: string,
  stamp: string,
  start: number,
  end: number,
  host: Host,
): AsyncGenerator<Uint8Array> {
  let file: OpenFile | undefined;
  try {
    file = await host.openFile(path);
    if (file.stamp.text !== stamp) throw new HostError("ESTALE", "the list was replaced");
    for (let at = start; at < end;) {
      const piece = new Uint8Array(Math.min(BLOCK, end - at));
      const count = await file.read(piece, at);
      if (count === 0) throw new HostError("EIO", "the file is shorter than it was");
      yield piece.subarray(0, count);
      at += count;
    }
  } finally {
    await file?.close();
  }
}

/** Where packed forms of a list are kept. */
export function packedFolder(path: string, host: Host): string {
  return host.path.join(recordFolder(path, host), "packed");
}
