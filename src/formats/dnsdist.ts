import { LONGEST_NAME, type NameFormat } from "./name-format.ts";

/** Without a header: every line is a name, and an empty one would be the root. */
export const dnsdist: NameFormat = {
  summary:
    "Nothing but names, for a SuffixMatchNode filled by `io.lines`, and a second file of exceptions.",
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
