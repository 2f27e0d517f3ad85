import type { OpenFile } from "../host/host.ts";
import { HostError, toHostError } from "../host/host.ts";

const BLOCK = 1024 * 1024;
/** Bytes that are unpacked at a time. */
const PIECE = 256 * 1024;

/**
 * The bytes of a log, block by block; `.gz` and `.zst` are unpacked. All blocks but the last are of the same size, so that what a
 * reader learns from the first one does not depend on the packing. A block may be overwritten by the next. Closes the log. Rejects with a `HostError`.
 */
export async function* logBlocks(file: OpenFile): AsyncGenerator<Uint8Array> {
  try {
    const make = await unpackerFor(file);
    if (make === undefined) {
      yield* filled(blocksOf(file, new Uint8Array(BLOCK)));
      return;
    }
    const { Readable, pipeline } = await import("node:stream");
    // An error of any part destroys all of them, and the loop below throws it.
    const unpacked = pipeline(Readable.from(blocksOf(file)), make, () => {});
    yield* filled(unpacked as AsyncIterable<Uint8Array>);
  } catch (error) {
    throw toHostError(error);
  } finally {
    await file.close();
  }
}

/** Reads into `own`, or into a new block each time: streams keep references to what they are given. */
async function* blocksOf(file: OpenFile, own?: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    const block = own ?? new Uint8Array(BLOCK);
    const count = await file.read(block, position);
    if (count === 0) return;
    position += count;
    yield block.subarray(0, count);
  }
}

async function* filled(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = new Uint8Array(BLOCK);
  let length = 0;
  for await (const piece of pieces) {
    if (length === 0 && piece.length === BLOCK) {
      yield piece;
      continue;
    }
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + BLOCK - length);
      block.set(part, length);
      from += part.length;
      length += part.length;
      if (length < BLOCK) continue;
      yield block;
      block = new Uint8Array(BLOCK);
      length = 0;
    }
  }
  if (length > 0) yield block.subarray(0, length);
}

async function unpackerFor(file: OpenFile): Promise<NodeJS.ReadWriteStream | undefined> {
  const head = new Uint8Array(4);
  const count = await file.read(head, 0);
  const isGzip = count >= 2 && head[0] === 0x1f && head[1] === 0x8b;
  const isZstd = count === 4 && [0x28, 0xb5, 0x2f, 0xfd].every((byte, at) => head[at] === byte);
  if (!isGzip && !isZstd) return undefined;
  const zlib = await import("node:zlib");
  if (isGzip) return zlib.createGunzip({ chunkSize: PIECE });
  const { createZstdDecompress } = zlib as Partial<typeof zlib>;
  if (createZstdDecompress === undefined)
    throw new HostError("ENOTSUP", "this runtime cannot decompress zstd");
  return createZstdDecompress({ chunkSize: PIECE });
}
