import { type NameFormat, commentHeader } from "./name-format.ts";

export const pihole: NameFormat = {
  summary:
    "`||name^` and plain names, without modifiers; exceptions go into a second file, for an allowlist subscription.",
  usedBy: "Pi-hole 6",
  extension: ".pihole",
  lines: () => ({
    subtree: ["||%^"],
    exact: ["%"],
    allowSubtree: ["@@||%^"],
    allowExact: ["%"],
  }),
  header: commentHeader("#"),
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};
