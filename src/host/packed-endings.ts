import type { Packing } from "./host.ts";

/** File extensions of packings; the most compact first. */
export const PACKED_ENDINGS: Readonly<Record<Packing, string>> = {
  zstd: "zst",
  br: "br",
  gzip: "gz",
};

/** The end of the name of a compressed file. */
export const PACKED_ENDING: RegExp = new RegExp(
  `\\.(?:${Object.values(PACKED_ENDINGS).join("|")})$`,
);
