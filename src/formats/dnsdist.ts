import { LONGEST_NAME, type NameFormat } from "./name-format.ts";

/** Has no header: every line is a name, and an empty line would be the root. */
export const dnsdist: NameFormat = {
  summary:
    "One name per line, for a SuffixMatchNode filled by `io.lines`, and a second file of exceptions.",
  usedBy: "dnsdist",
  extension: ".dnsdist",
  answers: [],
  lines: () => ({ subtree: ["%"], allowSubtree: ["%"] }),
  header: () => [],
  hasAllowFile: true,
  allowWins: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 650,
  isMeasured: true,
};
