import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

const ZONES = {
  nxdomain: "always_nxdomain",
  null: "always_null",
  nodata: "always_nodata",
  refused: "always_refuse",
} as const;

export const unbound: NameFormat = {
  summary:
    "`local-zone` lines for an `include:`; the most specific one wins. A name alone is answered with 0.0.0.0.",
  usedBy: "unbound, OPNsense",
  extension: ".unbound.conf",
  answers: ["nxdomain", "null", "nodata", "refused"],
  lines: ({ answer }) => ({
    subtree: [`local-zone: "%." ${ZONES[answer]}`],
    // Names below it, which have no data, are resolved as usual. Other types of query get no data.
    exact: [
      'local-data: "%. A 0.0.0.0"',
      ...(answer === "null" ? ['local-data: "%. AAAA ::"'] : []),
    ],
    allowSubtree: ['local-zone: "%." always_transparent'],
  }),
  header: (facts) => [...commentHeader("#")(facts), "server:"],
  // Data in a zone that is always transparent does not count.
  isExactApart: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 490,
  isMeasured: true,
};
