import type { Packing } from "./host.ts";

/** File extensions of packings; the most compact first. */
export const PACKED_ENDINGS: Readonly<Record<Packing, string>> = {
  zstd: "zst",
  br: "br",
  gzip: "gz",
};
