import { PUBLIC_SCHEMA } from "../config/fields.ts";
import { printable } from "../diagnostics/printable.ts";
import type { ForeignSetup } from "./foreign-setup.ts";

/** What a list for DNS gets, in the order in which it happens. */
export const USUAL_TRANSFORMATIONS: readonly (readonly [name: string, why: string])[] = [
  ["TrimLines", "indented lines are read like all others"],
  ["RemoveComments", "comments of the sources are not for resolvers"],
  ["Compress", "hosts lines become rules; what a parent blocks is not repeated"],
  ["Validate", "what is no rule for DNS, or would block too much, leaves"],
  ["Deduplicate", "every rule once"],
  ["RemoveEmptyLines", "empty lines say nothing"],
  ["InsertFinalNewLine", "the file ends with a line feed"],
];

/** The name of the file for rules of the owner's own. */
export const OWN_RULES = "own-rules.txt";
export const OWN_RULES_NAME = "Own rules";

export interface NewConfig {
  readonly name: string;
  readonly setup: ForeignSetup;
  /** Formats of further files. */
  readonly formats: readonly string[];
}

/** A configuration in YAML that says what each part is for. Everything is quoted: names and addresses are other people's. */
export function configText({ name, setup, formats }: NewConfig): string {
  const { lists, allowLists, ownRules, allow, notes } = setup;
  const own = ownRules.length === 0 ? [] : sourceLines(OWN_RULES_NAME, OWN_RULES, "adblock");
  const off = lists.filter(({ isOn }) => !isOn);
  const allowOn = allowLists.filter(({ isOn }) => isOn);
  return `${[
    `# yaml-language-server: $schema=${PUBLIC_SCHEMA}`,
    "# Check it with: rules-compiler validate. See what a publish would change with: rules-compiler plan.",
    ...notes.map((note) => `# ${printable(note, 400)}`),
    `name: ${quoted(name)}`,
    "",
    "# Where the rules come from. A source that fails is replaced by its last good copy.",
    "sources:",
    ...lists
      .filter(({ isOn }) => isOn)
      .flatMap((list) => sourceLines(list.name, list.source, list.type)),
    ...own,
    ...(off.length === 0 ? [] : ["  # These were switched off:"]),
    ...off.flatMap((list) =>
      sourceLines(list.name, list.source, list.type).map((line) => line.replace(/^ {2}/, "  # ")),
    ),
    "",
    "# Each happens once, in this order, whatever the order here.",
    "transformations:",
    ...USUAL_TRANSFORMATIONS.map(([one, why]) => `  - ${one} # ${why}`),
    "",
    "# Names that stay reachable, whatever the sources say.",
    ...listLines("allow", allow),
    ...(allowOn.length === 0
      ? []
      : [
          "",
          "# The same, from files.",
          ...listLines(
            "allow_sources",
            allowOn.map(({ source }) => source),
          ),
        ]),
    ...(formats.length === 0
      ? [
          "",
          "# For other resolvers as well: hosts, dnsmasq, unbound, rpz and more.",
          "# outputs:",
          "#   - format: rpz",
        ]
      : [
          "",
          "# The same list for other resolvers.",
          "outputs:",
          ...formats.map((format) => `  - format: ${format}`),
        ]),
  ].join("\n")}\n`;
}

function sourceLines(name: string, source: string, type: string): string[] {
  return [`  - name: ${quoted(name)}`, `    source: ${quoted(source)}`, `    type: ${type}`];
}

function listLines(field: string, entries: readonly string[]): string[] {
  return entries.length === 0
    ? [`${field}: []`]
    : [`${field}:`, ...entries.map((entry) => `  - ${quoted(entry)}`)];
}

/** JSON is YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
