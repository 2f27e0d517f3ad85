import { type NameFormat } from "./name-format.ts";

/** sing-box refuses a rule without names, so each list begins with a reserved name that never exists. */
const FIRST = '"rules-compiler.invalid"';

export const singBox: NameFormat = {
  summary:
    "A rule-set in source format (version 2, sing-box 1.10 or newer), and a second one of exceptions.",
  usedBy: "sing-box",
  extension: ".sing-box.json",
  lines: () => ({
    subtree: [',"%"'],
    below: [',".%"'],
    exact: [',"%"'],
    allowSubtree: [',"%"'],
    allowBelow: [',".%"'],
    allowExact: [',"%"'],
  }),
  header: () => [`{"version":2,"rules":[{"domain_suffix":[${FIRST}`],
  exactOpening: `],"domain":[${FIRST}`,
  footer: ["]}]}"],
  hasAllowFile: true,
  allowWins: true,
  memoryPerName: 150,
};
