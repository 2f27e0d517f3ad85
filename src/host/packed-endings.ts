import type { Packing } from "./host.ts";

/** What the names of packed files end in; the smallest form first. */
export const PACKED_ENDINGS: Readonly<Record<Packing, string>> = {
  zstd: "zst",
  br: "br",
  gzip: "gz",
};
