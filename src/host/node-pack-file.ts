import { createWriteStream, statSync } from "node:fs";
import { chmod, open, readFile, writeFile } from "node:fs/promises";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { constants } from "node:zlib";
import { type Packing, toHostError } from "./host.ts";

/** Levels that pack 25 MB of rules in about a second; the highest take minutes and save another tenth. */
const LEVELS = { gzip: 7, br: 6, zstd: 9 } as const;
/** For files that are read once or never. */
const QUICK_LEVELS = { gzip: 1, br: 1, zstd: 1 } as const;

/** Buffer size: a quarter faster than the default of 16 and 64 kB. */
const MOST_AT_A_TIME = 1024 * 1024;
/** A file of this size is packed while the program waits: a few milliseconds, less than a stream takes to start. */
const SMALL = 65_536;

function settingsOf(packing: Packing, level: number): object {
  if (packing === "gzip") return { level };
  if (packing === "br") return { params: { [constants.BROTLI_PARAM_QUALITY]: level } };
  return { params: { [constants.ZSTD_c_compressionLevel]: level } };
}

/** A stream that packs; undefined if the runtime cannot. */
export function packerOf(
  packing: Packing,
  level: number = QUICK_LEVELS[packing],
): Transform | undefined {
  const settings = { ...settingsOf(packing, level), chunkSize: MOST_AT_A_TIME };
  if (packing === "gzip") return zlib.createGzip(settings);
  if (packing === "br") return zlib.createBrotliCompress(settings);
  // Deno before 2.9 does not support zstd.
  return zlib.createZstdCompress?.(settings) ?? undefined;
}

export function packFile(
  from: string,
  to: string,
  packing: Packing,
  pace?: "quick",
): Promise<void> | undefined {
  const { size, mode } = statSync(from, { throwIfNoEntry: false }) ?? { size: 0, mode: 0o644 };
  const level = (pace === "quick" ? QUICK_LEVELS : LEVELS)[packing];
  const pack = { gzip: zlib.gzipSync, br: zlib.brotliCompressSync, zstd: zlib.zstdCompressSync };
  if ((pack[packing] as unknown) === undefined) return undefined;
  const work =
    size <= SMALL
      ? readFile(from).then((bytes) =>
          writeFile(to, pack[packing](bytes, settingsOf(packing, level)), { flag: "wx" }),
        )
      : packInPieces(from, to, packerOf(packing, level)!);
  // The packed file gets the same permissions.
  return work
    .then(() => chmod(to, mode & 0o777))
    .catch((error: unknown) => {
      throw toHostError(error);
    });
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
