import { LONGEST_NAME, type NameFormat, type ScopeLines } from "./name-format.ts";

const entry = (scope: string, action: string, isImportant = false): string[] => [
  `,{"name":"%","scope":"${scope}","action":"${action}"${isImportant ? ',"important":true' : ""}}`,
];

const entries = (isImportant: boolean): ScopeLines => ({
  subtree: entry("subtree", "block", isImportant),
  exact: entry("exact", "block", isImportant),
  below: entry("below", "block", isImportant),
  allowSubtree: entry("subtree", "allow", isImportant),
  allowExact: entry("exact", "allow", isImportant),
  allowBelow: entry("below", "allow", isImportant),
});

/**
 * Expresses every rule: one that is not for a name is kept as it is. Of the names the closest entry counts; then the strongest of that entry
 * and the rules that match, as in adblock syntax: an important exception, an important block, an exception, a block.
 */
export const json: NameFormat = {
  summary: "One JSON document: names with scope and action, and all other rules as they are.",
  usedBy: "programs of your own",
  extension: ".json",
  answers: [],
  lines: () => ({
    ...entries(false),
    important: entries(true),
    openSubtree: entry("subtree", "none"),
    openExact: entry("exact", "none"),
    openBelow: entry("below", "none"),
    rule: [',{"rule":%}'],
  }),
  header: ({ lines }) => [
    `{"about":${JSON.stringify(lines.filter((line) => line !== ""))},`,
    '"rules":[',
  ],
  footer: ["]}"],
  isCommaFirst: true,
  longestName: () => LONGEST_NAME,
  memoryPerName: 150,
};
