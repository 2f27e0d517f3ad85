import { LONGEST_NAME, type NameFormat, commentHead } from "./name-format.ts";

const ZONES = {
  nxdomain: "always_nxdomain",
  null: "always_null",
  nodata: "always_nodata",
  refused: "always_refuse",
} as const;

export const unbound: NameFormat = {
  summary: "`local-zone` lines for an `include:`; the most specific one wins.",
  usedBy: "unbound, OPNsense",
  extension: ".unbound.conf",
  answers: ["nxdomain", "null", "nodata", "refused"],
  lines: ({ answer }) => ({
    subtree: [`local-zone: "%." ${ZONES[answer]}`],
    allowSubtree: ['local-zone: "%." always_transparent'],
  }),
  head: (facts) => [...commentHead("#")(facts), "server:"],
  longestName: () => LONGEST_NAME,
  memoryPerName: 490,
};
