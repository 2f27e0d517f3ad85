import { LONGEST_NAME, type NameFormat, commentHead } from "./name-format.ts";

export const rbldnsd: NameFormat = {
  summary: "A `dnset` zone; exceptions begin with `!`.",
  usedBy: "rbldnsd",
  extension: ".rbldnsd",
  answers: [],
  lines: () => ({
    subtree: [".%"],
    exact: ["%"],
    below: ["*.%"],
    allowSubtree: ["!.%"],
    allowExact: ["!%"],
  }),
  head: (facts) => [...commentHead("#")(facts), ":127.0.0.2:Blocked"],
  longestName: () => LONGEST_NAME,
  memoryPerName: 50,
  isMeasured: true,
};
