import { type NameFormat, commentHeader } from "./name-format.ts";

/** A copy of the list that can be split, limited in size or compressed. `adblock.ts` writes the list itself. */
export const adblockCopy: NameFormat = {
  summary:
    "Adblock syntax with every rule of the list; can be split, compressed or limited in size.",
  usedBy: "AdGuard Home, AdGuard DNS, Technitium",
  extension: ".adblock.txt",
  lines: () => ({ subtree: ["||%^"] }),
  header: commentHeader("!"),
  isLossless: true,
  memoryPerName: 500,
};
