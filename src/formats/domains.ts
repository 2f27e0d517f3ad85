import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

export const domains: NameFormat = {
  summary: "A name a line, meant for itself alone; some programs take in what is below it.",
  usedBy: "Pi-hole, blocky, smartdns (domain-set), many others",
  extension: ".domains",
  answers: [],
  lines: () => ({ exact: ["%"] }),
  header: commentHeader("#"),
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
