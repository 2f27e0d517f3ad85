import { bindViews } from "./bind-views.ts";
import { combinedCdb } from "./combined-cdb.ts";
import type { CombinedFormat } from "./combined-format.ts";
import { unboundTags } from "./unbound-tags.ts";

/** All formats for several lists, by their name in the configuration. */
export const combinedFormats: ReadonlyMap<string, CombinedFormat> = new Map([
  ["bind-views", bindViews],
  ["cdb", combinedCdb],
  ["unbound-tags", unboundTags],
]);
