import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

/** The list once more: for files that are split, cut to a size or packed. The list itself is written by `adblock.ts`. */
export const adblockCopy: NameFormat = {
  summary:
    "Adblock syntax, with everything that is in the list; to be split, packed or cut to a size.",
  usedBy: "AdGuard Home, AdGuard DNS, Technitium",
  extension: ".adblock.txt",
  answers: [],
  lines: () => ({ subtree: ["||%^"] }),
  header: commentHeader("!"),
  isLossless: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 500,
};
