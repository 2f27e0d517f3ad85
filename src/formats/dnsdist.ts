import { type NameFormat } from "./name-format.ts";

/** Has no header: every line is a name, and an empty line would be the root. */
export const dnsdist: NameFormat = {
  summary:
    "One name per line, for a SuffixMatchNode filled by `io.lines`, and a second file of exceptions.",
  usedBy: "dnsdist",
  extension: ".dnsdist",
  lines: () => ({ subtree: ["%"], allowSubtree: ["%"] }),
  header: () => [],
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 650,
  isMeasured: true,
};
