import { LONGEST_NAME, type NameFormat, commentHead } from "./name-format.ts";

export const squid: NameFormat = {
  summary: "`.name` lines for a `dstdomain` acl, and a second file for one that allows.",
  usedBy: "squid",
  extension: ".squid",
  answers: [],
  lines: () => ({ subtree: [".%"], exact: ["%"], allowSubtree: [".%"], allowExact: ["%"] }),
  head: commentHead("#"),
  hasAllowFile: true,
  allowWins: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
