import { type NameFormat, commentHeader } from "./name-format.ts";

export const dnscrypt: NameFormat = {
  summary: "Names for `blocked_names_file`, and a second file for `allowed_names_file`.",
  usedBy: "dnscrypt-proxy",
  extension: ".dnscrypt",
  lines: () => ({ subtree: ["%"], exact: ["=%"], allowSubtree: ["%"], allowExact: ["=%"] }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 250,
};
