import { type NameFormat, commentHeader } from "./name-format.ts";

const ZONES = {
  nxdomain: "always_nxdomain",
  null: "always_null",
  nodata: "always_nodata",
  refused: "always_refuse",
} as const;

export const unbound: NameFormat = {
  summary:
    "`local-zone` lines for an `include:`; the most specific one wins. A name that is blocked alone gets the answer 0.0.0.0.",
  usedBy: "unbound, OPNsense",
  extension: ".unbound.conf",
  answers: ["nxdomain", "null", "nodata", "refused"],
  lines: ({ answer }) => ({
    subtree: [`local-zone: "%." ${ZONES[answer]}`],
    // Names below it have no data and are resolved as usual. Other query types get an empty answer.
    exact: [
      'local-data: "%. A 0.0.0.0"',
      ...(answer === "null" ? ['local-data: "%. AAAA ::"'] : []),
    ],
    allowSubtree: ['local-zone: "%." always_transparent'],
  }),
  header: (facts) => [...commentHeader("#")(facts), "server:"],
  // Data in an always_transparent zone is ignored.
  allowHidesExact: true,
  memoryPerName: 490,
  isMeasured: true,
};
