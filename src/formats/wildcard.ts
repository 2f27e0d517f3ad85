import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

export const wildcard: NameFormat = {
  summary: "`*.name` for a name and everything below it. No exceptions.",
  usedBy: "blocky, RethinkDNS and others that include the name itself",
  extension: ".wildcard",
  answers: [],
  lines: () => ({ subtree: ["*.%"] }),
  header: commentHeader("#"),
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
