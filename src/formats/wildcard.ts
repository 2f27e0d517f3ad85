import { type NameFormat, commentHeader } from "./name-format.ts";

export const wildcard: NameFormat = {
  summary: "`*.name` for a name and everything below it. No exceptions.",
  usedBy: "blocky, RethinkDNS and others that include the name itself",
  extension: ".wildcard",
  lines: () => ({ subtree: ["*.%"] }),
  header: commentHeader("#"),
  memoryPerName: 150,
};
