import { createReadStream, createWriteStream } from "node:fs";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib, { constants } from "node:zlib";
import { type Packing, toHostError } from "./host.ts";

/** Levels at which 25 MB of rules take about a second on the thread pool; the highest take minutes for a tenth less. */
const LEVELS = { gzip: 7, br: 6, zstd: 9 } as const;
/** For what is read once or never. */
const QUICK_LEVELS = { gzip: 1, br: 1, zstd: 1 } as const;

/** Bytes at a time: a quarter less time than with the usual 16 and 64 kB. */
const CHUNK = 1024 * 1024;

function packerOf(packing: Packing, level: number): Transform | undefined {
  const chunkSize = CHUNK;
  if (packing === "gzip") return zlib.createGzip({ level, chunkSize });
  if (packing === "br")
    return zlib.createBrotliCompress({
      chunkSize,
      params: { [constants.BROTLI_PARAM_QUALITY]: level },
    });
  // Deno before 2.9 has none.
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  return zlib.createZstdCompress?.({ chunkSize, params }) ?? undefined;
}

export function packFile(
  from: string,
  to: string,
  packing: Packing,
  pace?: "quick",
): Promise<void> | undefined {
  const packer = packerOf(packing, (pace === "quick" ? QUICK_LEVELS : LEVELS)[packing]);
  if (packer === undefined) return undefined;
  return pipeline(
    createReadStream(from, { highWaterMark: CHUNK }),
    packer,
    createWriteStream(to, { flags: "wx" }),
  ).catch((error: unknown) => {
    throw toHostError(error);
  });
}
