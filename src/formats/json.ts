import { type NameFormat, type ScopeLines } from "./name-format.ts";

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
 * Expresses every rule; a rule without a name keeps its text. For a name, the closest entry counts. The strongest of that entry and
 * the matching rules wins, as in adblock syntax: important exception, important block, exception, block.
 */
export const json: NameFormat = {
  summary: "One JSON document: names with scope and action, and all other rules as text.",
  usedBy: "your own programs",
  extension: ".json",
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
  memoryPerName: 150,
};
