import { combinedCdb } from "./combined-cdb.ts";
import type { CombinedFormat } from "./combined-format.ts";
import { unboundTags } from "./unbound-tags.ts";

/** All formats for several lists, by their name in the configuration. */
export const combinedFormats: ReadonlyMap<string, CombinedFormat> = new Map([
  ["cdb", combinedCdb],
  ["unbound-tags", unboundTags],
]);
