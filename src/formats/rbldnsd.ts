import { type NameFormat, commentHeader } from "./name-format.ts";

export const rbldnsd: NameFormat = {
  summary: "A `dnset` zone; exceptions begin with `!`.",
  usedBy: "rbldnsd",
  extension: ".rbldnsd",
  lines: () => ({
    subtree: [".%"],
    exact: ["%"],
    below: ["*.%"],
    allowSubtree: ["!.%"],
    allowExact: ["!%"],
  }),
  header: (facts) => [...commentHeader("#")(facts), ":127.0.0.2:Blocked"],
  memoryPerName: 50,
  isMeasured: true,
};
