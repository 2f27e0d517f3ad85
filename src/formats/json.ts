import { LONGEST_NAME, type NameFormat } from "./name-format.ts";

const entry = (scope: string, action: string): string[] => [
  `,{"name":"%","scope":"${scope}","action":"${action}"}`,
];

/** Says everything: what is no name stands in it as it is. */
export const json: NameFormat = {
  summary: "One JSON document: names with scope and action, and all other rules as they are.",
  usedBy: "programs of your own",
  extension: ".json",
  answers: [],
  lines: () => ({
    subtree: entry("subtree", "block"),
    exact: entry("exact", "block"),
    below: entry("below", "block"),
    allowSubtree: entry("subtree", "allow"),
    allowExact: entry("exact", "allow"),
    allowBelow: entry("below", "allow"),
    rule: [',{"rule":%}'],
  }),
  head: ({ lines }) => [
    `{"about":${JSON.stringify(lines.filter((line) => line !== ""))},`,
    '"rules":[',
  ],
  foot: ["]}"],
  isCommaFirst: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
