import { gzipSync } from "node:zlib";
import type { Host, MemoryHost } from "./internals.ts";

/** A world in memory that can pack files, and so keep records of builds. */
export function packingHost(memory: MemoryHost): Host {
  return {
    ...memory,
    packFile: (from, to, packing) =>
      packing === "gzip"
        ? Promise.resolve(void memory.files.set(to, gzipSync(memory.files.get(from)!)))
        : undefined,
  };
}
