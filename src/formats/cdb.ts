import { type NameFormat } from "./name-format.ts";

/**
 * A line is a record: `+` and `-` for a name with everything below it, blocked or not; `=` and `!` for a name alone, which
 * dnsdist looks up first.
 */
export const cdb: NameFormat = {
  summary:
    "A constant database for the key-value stores of dnsdist, with a Lua file that uses it. The columns show the kinds of records.",
  usedBy: "dnsdist",
  extension: ".cdb",
  lines: () => ({
    subtree: ["+%"],
    below: ["+%"],
    exact: ["=%"],
    allowSubtree: ["-%"],
    allowBelow: ["-%"],
    allowExact: ["!%"],
    openExact: ["!%"],
  }),
  header: () => [],
  isDatabase: true,
  belowHidesSelf: true,
  memoryPerName: 47,
  isMeasured: true,
};
