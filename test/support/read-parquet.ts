import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";

/** The rows of a Parquet file, read by a library. */
export async function readParquet(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  const copy = new Uint8Array(bytes);
  return await parquetReadObjects({
    file: copy.buffer,
    compressors: {
      GZIP: (input) => new Uint8Array(gunzipSync(input)),
      ZSTD: (input) => new Uint8Array(zstdDecompressSync(input)),
    },
  });
}
