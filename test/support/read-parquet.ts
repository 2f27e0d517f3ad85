import zlib from "node:zlib";
import { parquetReadObjects } from "hyparquet";

/** The rows of a Parquet file, read by a library. */
export async function readParquet(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  const copy = new Uint8Array(bytes);
  return await parquetReadObjects({
    file: copy.buffer,
    compressors: {
      GZIP: (input) => new Uint8Array(zlib.gunzipSync(input)),
      // Not an import by name: Deno 2.0 has no zstd.
      ZSTD: (input) => new Uint8Array(zlib.zstdDecompressSync(input)),
    },
  });
}
