/** Fields of `guards`. */
export const GUARD_FIELDS = {
  max_shrink: {
    type: "number",
    description:
      "Percentage of its names that a remote source may lose from one publish to the next; 10 points more within 7 and 30 days. One that loses more is held. Default: 50.",
  },
  max_growth: {
    type: "number",
    description:
      "Percentage of its names that a remote source may gain from one publish to the next, and at least 1,000 names; 100 points more within 7 and 30 days. One that gains more is held. Default: 200.",
  },
  min_rules: {
    type: "number",
    description: "Minimum number of rules in the list and in each of its outputs. Default: 1.",
  },
  may_block: {
    type: "strings",
    description:
      "Protected names that rules may block, and [kinds](#names-that-people-need) of names that people need. By default, rules for such a name are dropped if their source is below full trust.",
    example: ["crl.microsoft.com", "games"],
  },
  may_block_suffixes: {
    type: "strings",
    description:
      "Public suffixes that rules of fully trusted sources may block as a whole, such as `top`; `*` for all. By default, such rules cause a warning; rules for the twenty largest suffixes and rules that block nearly everything are refused.",
    example: ["top", "zip"],
  },
  protect: {
    type: "files",
    description:
      "Files or URLs with names that must never be blocked, one per line, in addition to the built-in ones: connectivity checks, time, certificates, updates, package registries, and the servers of the sources.",
    example: ["never.txt"],
  },
  breaks_traffic: {
    type: "object",
    fields: {
      logs: {
        type: "strings",
        required: true,
        description: "Query logs, in any form that `--traffic` reads.",
      },
      max_queries: { type: "number", description: "How many queries may be newly blocked." },
      max_percent: { type: "number", description: "Which percentage of all queries." },
    },
    description:
      "Drops the lines of a source below full trust that would block more than `max_queries`, or more than `max_percent` percent, of the queries in `logs` that the published list does not block. Default: 1 percent. A source that is new to the list may block any. See [traffic](../guide/traffic.md).",
  },
  newly_blocks: {
    type: "number",
    most: 100_000,
    description:
      "Popular names up to this rank (`ranks`), at most 100000, that a source below full trust must not newly block: rules for such a name are dropped, and broader rules get exceptions. A name is new if no published list of the last 30 days blocked it. `may_block` permits names; a source that is new to the list may block any.",
  },
} as const;
