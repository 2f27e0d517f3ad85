import { LONGEST_NAME, type NameFormat, commentHead } from "./name-format.ts";

export const hosts: NameFormat = {
  summary: "One address and one name per line. Blocks exact names only; subdomains stay reachable.",
  usedBy: "operating systems, Pi-hole, dnsmasq, blocky",
  extension: ".hosts",
  answers: ["null"],
  lines: ({ ipv6 }) => ({ exact: ipv6 ? ["0.0.0.0 %", ":: %"] : ["0.0.0.0 %"] }),
  head: commentHead("#"),
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
