import zlib, { brotliDecompressSync, gunzipSync } from "node:zlib";
import { snappyUncompress } from "hyparquet/src/snappy.js";
import { ParquetError } from "./parquet-error.ts";

type Unpacker = (bytes: Uint8Array, size: number) => Uint8Array;

/** By the number of the codec in the footer. */
const UNPACKERS: ReadonlyMap<number, Unpacker> = new Map<number, Unpacker>([
  [0, (bytes) => bytes],
  [
    1,
    (bytes, size) => {
      const page = new Uint8Array(size);
      snappyUncompress(bytes, page);
      return page;
    },
  ],
  [2, (bytes, size) => gunzipSync(bytes, { maxOutputLength: size })],
  [4, (bytes, size) => brotliDecompressSync(bytes, { maxOutputLength: size })],
  [
    6,
    (bytes, size) => {
      const unpack = zlib.zstdDecompressSync as typeof zlib.zstdDecompressSync | undefined;
      // Deno before 2.9 does not support zstd.
      if (unpack === undefined) throw new ParquetError("this runtime cannot unpack zstd");
      return unpack(bytes, { maxOutputLength: size });
    },
  ],
]);

/** The bytes of a page, which must have the declared size. */
export function unpackPage(bytes: Uint8Array, codec: number, size: number): Uint8Array {
  const unpack = UNPACKERS.get(codec);
  if (unpack === undefined)
    throw new ParquetError("its compression is not known: use zstd, gzip, snappy or none");
  if (size === 0) return new Uint8Array(0);
  let page: Uint8Array;
  try {
    page = unpack(bytes, size);
  } catch (error) {
    if (error instanceof ParquetError) throw error;
    // Libraries and runtimes throw errors of many classes for damaged bytes.
    throw new ParquetError("a page of it cannot be unpacked");
  }
  if (page.length !== size) throw new ParquetError("a page of it has another size than it says");
  return page;
}
