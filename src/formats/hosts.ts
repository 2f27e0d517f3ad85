import { type NameFormat, commentHeader } from "./name-format.ts";

export const hosts: NameFormat = {
  summary: "One address and one name per line. Names below a blocked name stay reachable.",
  usedBy: "operating systems, Pi-hole, dnsmasq, blocky",
  extension: ".hosts",
  answers: ["null"],
  lines: ({ hasBothAddresses }) => ({
    exact: hasBothAddresses ? ["0.0.0.0 %", ":: %"] : ["0.0.0.0 %"],
  }),
  header: commentHeader("#"),
  memoryPerName: 150,
};
