import { type NameFormat, commentHeader } from "./name-format.ts";

export const mihomo: NameFormat = {
  summary:
    "`+.name` lines for a rule provider with `behavior: domain` and `format: text`, and a second file of exceptions.",
  usedBy: "mihomo (Clash.Meta)",
  extension: ".mihomo",
  lines: () => ({
    subtree: ["+.%"],
    exact: ["%"],
    below: [".%"],
    allowSubtree: ["+.%"],
    allowExact: ["%"],
    allowBelow: [".%"],
  }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};
