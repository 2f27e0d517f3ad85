import { LONGEST_NAME, type NameFormat, commentHeader } from "./name-format.ts";

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
  header: (facts) => [...commentHeader("#")(facts), ":127.0.0.2:Blocked"],
  longestName: () => LONGEST_NAME,
  memoryPerName: 50,
  isMeasured: true,
};
