import { createReadStream, createWriteStream } from "node:fs";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib, { constants } from "node:zlib";
import { type Packing, toHostError } from "./host.ts";

/** Levels at which 25 MB of rules take about a second on the thread pool; the highest take minutes for a tenth less. */
const PACKERS: Readonly<Record<Packing, () => Transform | undefined>> = {
  gzip: () => zlib.createGzip({ level: 7 }),
  br: () => zlib.createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  // Deno before 2.9 has none.
  zstd: () =>
    zlib.createZstdCompress?.({ params: { [constants.ZSTD_c_compressionLevel]: 9 } }) ?? undefined,
};

export function packFile(from: string, to: string, packing: Packing): Promise<void> | undefined {
  const packer = PACKERS[packing]();
  if (packer === undefined) return undefined;
  return pipeline(createReadStream(from), packer, createWriteStream(to, { flags: "wx" })).catch(
    (error: unknown) => {
      throw toHostError(error);
    },
  );
}
