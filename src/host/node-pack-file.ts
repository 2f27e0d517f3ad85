import { createWriteStream, statSync } from "node:fs";
import { chmod, open, readFile, writeFile } from "node:fs/promises";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { constants } from "node:zlib";
import { type Packing, joinBytes, toHostError } from "./host.ts";

/** Levels that pack 25 MB of rules in about a second; the highest take minutes and save another tenth. */
const LEVELS = { gzip: 7, br: 6, zstd: 9 } as const;
/** For files that are read once or never. */
const QUICK_LEVELS = { gzip: 1, br: 1, zstd: 1 } as const;

/** Buffer size: a quarter faster than the default of 16 and 64 kB. Small files use less, to spare the garbage collector. */
const MOST_AT_A_TIME = 1024 * 1024;
const LEAST_AT_A_TIME = 16_384;

/** A stream that packs; undefined if the runtime cannot. */
export function packerOf(
  packing: Packing,
  level: number = QUICK_LEVELS[packing],
  chunkSize: number = MOST_AT_A_TIME,
): Transform | undefined {
  if (packing === "gzip") return zlib.createGzip({ level, chunkSize });
  if (packing === "br")
    return zlib.createBrotliCompress({
      chunkSize,
      params: { [constants.BROTLI_PARAM_QUALITY]: level },
    });
  // Deno before 2.9 does not support zstd.
  const params = { [constants.ZSTD_c_compressionLevel]: level };
  return zlib.createZstdCompress?.({ chunkSize, params }) ?? undefined;
}

export function packFile(
  from: string,
  to: string,
  packing: Packing,
  pace?: "quick",
): Promise<void> | undefined {
  const { size, mode } = statSync(from, { throwIfNoEntry: false }) ?? { size: 0, mode: 0o644 };
  const chunk = Math.max(LEAST_AT_A_TIME, Math.min(size, MOST_AT_A_TIME));
  const packer = packerOf(packing, (pace === "quick" ? QUICK_LEVELS : LEVELS)[packing], chunk);
  if (packer === undefined) return undefined;
  const work =
    size <= MOST_AT_A_TIME ? packAtOnce(from, to, packer) : packInPieces(from, to, packer);
  // The packed file gets the same permissions.
  return work
    .then(() => chmod(to, mode & 0o777))
    .catch((error: unknown) => {
      throw toHostError(error);
    });
}

/** Without streams: a tenth faster for a hundred small lists. */
async function packAtOnce(from: string, to: string, packer: Transform): Promise<void> {
  packer.end(await readFile(from));
  const parts: Uint8Array[] = [];
  for await (const part of packer) parts.push(part as Uint8Array);
  await writeFile(
    to,
    joinBytes(
      parts,
      parts.reduce((sum, { length }) => sum + length, 0),
    ),
    { flag: "wx" },
  );
}

/** Reads every piece into the same memory: new memory for each would wait for the garbage collector, 50 MB and more at a time. */
async function packInPieces(from: string, to: string, packer: Transform): Promise<void> {
  const file = await open(from);
  try {
    const written = pipeline(packer, createWriteStream(to, { flags: "wx" }));
    const piece = new Uint8Array(MOST_AT_A_TIME);
    const feed = async (): Promise<void> => {
      while (true) {
        const { bytesRead } = await file.read(piece, 0, piece.length);
        if (bytesRead === 0) break;
        // A failed write ends the wait, too: the packer then takes nothing more.
        await Promise.race([taken(packer, piece.subarray(0, bytesRead)), written]);
      }
      packer.end();
    };
    await Promise.all([feed(), written]);
  } catch (error) {
    packer.destroy();
    throw error;
  } finally {
    await file.close();
  }
}

/** Resolves when the packer needs these bytes no longer. */
export async function taken(packer: Transform, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    packer.write(bytes, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
