import type { NameFormat } from "../name-format.ts";

/** The first byte of a line: what a list says about the name after it. */
export const Mark = {
  Subtree: 97,
  Exact: 98,
  Below: 99,
  AllowSubtree: 100,
  AllowExact: 101,
  AllowBelow: 102,
} as const;

/** A list as lines of marks and names, of which the most specific decides. Combined formats are made from it; it is never published. */
export const scopeMarks: NameFormat = {
  summary: "",
  usedBy: "",
  extension: "",
  lines: () => ({
    subtree: ["a%"],
    exact: ["b%"],
    below: ["c%"],
    allowSubtree: ["d%"],
    allowExact: ["e%"],
    allowBelow: ["f%"],
  }),
  header: () => [],
  memoryPerName: 0,
};
