import type { Host, OpenFile } from "../host/host.ts";
import { HostError, toHostError } from "../host/host.ts";

const BLOCK = 1024 * 1024;

/** The bytes of a log, block by block; `.gz` and `.zst` are unpacked. Rejects with a `HostError`. */
export async function* logBlocks(path: string, host: Host): AsyncGenerator<Uint8Array> {
  const file = await host.openFile(path);
  try {
    const make = await unpackerFor(file);
    if (make === undefined) {
      yield* blocksOf(file);
      return;
    }
    const { Readable, pipeline } = await import("node:stream");
    // An error of any part destroys all of them, and the loop below throws it.
    const unpacked = pipeline(Readable.from(blocksOf(file)), make, () => {});
    for await (const piece of unpacked) yield piece as Uint8Array;
  } catch (error) {
    throw toHostError(error);
  } finally {
    await file.close();
  }
}

async function* blocksOf(file: OpenFile): AsyncGenerator<Uint8Array> {
  for (let position = 0; ;) {
    // Streams keep references to what they are given.
    const block = new Uint8Array(BLOCK);
    const count = await file.read(block, position);
    if (count === 0) return;
    position += count;
    yield block.subarray(0, count);
  }
}

async function unpackerFor(file: OpenFile): Promise<NodeJS.ReadWriteStream | undefined> {
  const head = new Uint8Array(4);
  const count = await file.read(head, 0);
  const isGzip = count >= 2 && head[0] === 0x1f && head[1] === 0x8b;
  const isZstd = count === 4 && [0x28, 0xb5, 0x2f, 0xfd].every((byte, at) => head[at] === byte);
  if (!isGzip && !isZstd) return undefined;
  const zlib = await import("node:zlib");
  if (isGzip) return zlib.createGunzip();
  const { createZstdDecompress } = zlib as Partial<typeof zlib>;
  if (createZstdDecompress === undefined)
    throw new HostError("ENOTSUP", "this runtime cannot unpack zstd");
  return createZstdDecompress();
}
