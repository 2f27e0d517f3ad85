import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

const TARGETS = {
  nxdomain: ["CNAME ."],
  nodata: ["CNAME *."],
  null: ["A 0.0.0.0", "AAAA ::"],
  refused: ["CNAME rpz-drop."],
} as const;
const PASS = "CNAME rpz-passthru.";

/** Names are relative to the zone: with a final dot they would be outside of it. */
export const rpz: NameFormat = {
  summary: "A response policy zone, with a serial that grows when the rules change.",
  usedBy: "BIND, unbound, Knot Resolver, PowerDNS Recursor",
  extension: ".rpz",
  answers: ["nxdomain", "null", "nodata"],
  lines({ answer }) {
    const exact = TARGETS[answer].map((target) => `% ${target}`);
    const below = TARGETS[answer].map((target) => `*.% ${target}`);
    return {
      subtree: [...exact, ...below],
      exact,
      below,
      allowSubtree: [`% ${PASS}`, `*.% ${PASS}`],
      allowExact: [`% ${PASS}`],
      allowBelow: [`*.% ${PASS}`],
    };
  },
  header: (facts, { ttl }) => [
    ...commentHeader(";")(facts),
    `$TTL ${ttl}`,
    `@ SOA localhost. hostmaster.localhost. ${facts.serial} 3600 600 604800 ${ttl}`,
    "@ NS localhost.",
  ],
  hidesParents: true,
  // The full name includes `*.` and the name of the zone.
  longestName: ({ origin }) => LONGEST_NAME - 2 - origin.length - 1,
  memoryPerName: 1250,
  isMeasured: true,
};
