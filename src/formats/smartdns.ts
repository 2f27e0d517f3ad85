import { type NameFormat, commentHeader } from "./name-format.ts";

export const smartdns: NameFormat = {
  summary: "`address /name/#` lines for a `conf-file`.",
  usedBy: "smartdns",
  extension: ".smartdns.conf",
  lines: () => ({ subtree: ["address /%/#"], allowSubtree: ["address /%/-"] }),
  header: commentHeader("#"),
  memoryPerName: 300,
  isMeasured: true,
};
