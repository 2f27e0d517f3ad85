import { type NameFormat, commentHeader } from "./name-format.ts";

export const squid: NameFormat = {
  summary: "`.name` lines for a `dstdomain` acl, and a second file for the acl that allows.",
  usedBy: "squid",
  extension: ".squid",
  lines: () => ({ subtree: [".%"], exact: ["%"], allowSubtree: [".%"], allowExact: ["%"] }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};
