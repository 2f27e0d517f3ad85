import { LONGEST_NAME, type NameFormat, commentHead } from "./name-format.ts";

export const domains: NameFormat = {
  summary: "One name per line, for the exact name; some programs also block subdomains.",
  usedBy: "Pi-hole, blocky, smartdns (domain-set), many others",
  extension: ".domains",
  answers: [],
  lines: () => ({ exact: ["%"] }),
  head: commentHead("#"),
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
