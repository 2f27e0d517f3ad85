import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

export const dnscrypt: NameFormat = {
  summary: "Names for `blocked_names_file`, and a second file for `allowed_names_file`.",
  usedBy: "dnscrypt-proxy",
  extension: ".dnscrypt",
  answers: [],
  lines: () => ({ subtree: ["%"], exact: ["=%"], allowSubtree: ["%"], allowExact: ["=%"] }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 250,
};
