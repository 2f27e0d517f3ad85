import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

export const smartdns: NameFormat = {
  summary: "`address /name/#` lines for a `conf-file`.",
  usedBy: "smartdns",
  extension: ".smartdns.conf",
  answers: [],
  lines: () => ({ subtree: ["address /%/#"], allowSubtree: ["address /%/-"] }),
  header: commentHeader("#"),
  longestName: () => LONGEST_NAME,
  memoryPerName: 300,
  isMeasured: true,
};
