import type { CombinedFormat } from "./combined-format.ts";
import { unboundTags } from "./unbound-tags.ts";

/** All formats for several lists, by their name in the configuration. */
export const combinedFormats: ReadonlyMap<string, CombinedFormat> = new Map([
  ["unbound-tags", unboundTags],
]);
