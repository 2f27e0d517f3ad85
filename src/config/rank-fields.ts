/** Lists of popular names. */
export const RANKS_FIELD = {
  ranks: {
    type: "files",
    description:
      "Lists of popular names, the most popular first; see [Popularity](../guide/popularity.md). The rank of a name is its place in the list; of several lists, the best place counts.",
    example: ["top-1m.csv.zip"],
  },
} as const;

/** Names for patterns that formats cannot express. */
export const EXPAND_FIELD = {
  expand: {
    type: "files",
    description:
      "Lists of names for formats that have neither wildcards nor regular expressions: those of them that a pattern of the list blocks are written as rules. Losses count these patterns as `expanded`.",
    example: ["top-1m.csv.zip"],
  },
} as const;
