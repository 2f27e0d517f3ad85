import { type NameFormat, commentHeader } from "./name-format.ts";

export const blocky: NameFormat = {
  summary:
    "`*.name`, plain names and regular expressions for `denylists`, and a second file for `allowlists`.",
  usedBy: "blocky",
  extension: ".blocky",
  lines: () => ({
    subtree: ["*.%"],
    exact: ["%"],
    allowSubtree: ["*.%"],
    allowExact: ["%"],
    regex: ["/%/"],
    allowRegex: ["/%/"],
  }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};
