import { PUBLIC_SCHEMA, RECOMMENDED, RECOMMENDED_WORD } from "../config/fields.ts";
import { printable } from "../diagnostics/text.ts";
import {
  type ImportedConfig,
  type ImportedList,
  type ImportedSettings,
} from "./hostlist-compiler.ts";

/** The file for the user's rules. */
export const USER_RULES = "own-rules.txt";
export const USER_RULES_NAME = "Own rules";

export interface NewConfig {
  readonly name: string;
  readonly setup: ImportedConfig;
  /** Formats of further files. */
  readonly formats: readonly string[];
  /** The file with the user's rules. */
  readonly userRulesFile: string;
  /** The files with the rules of other groups, by group. */
  readonly groupFiles?: ReadonlyMap<string, string>;
}

/** How many of the user's lines are rules, and not blank or comments. */
export function countOwnRules(lines: readonly string[]): number {
  return lines.filter((line) => !/^\s*(?:!|#(?![#@?$%])|$)/.test(line)).length;
}

/** The name of the source with the rules of a group. */
export function ownRulesOf(group: string): string {
  return `${USER_RULES_NAME} of ${group}`;
}

/** A configuration in YAML with comments. All values are quoted: names and addresses are untrusted. */
export function configText({ name, setup, formats, ...files }: NewConfig): string {
  const { allow, allowLists, groups, notes, settings, titles = {} } = setup;
  const isOne = groups === undefined;
  return `${[
    `# yaml-language-server: $schema=${PUBLIC_SCHEMA}`,
    "# Check it with: rules-compiler validate. See what a publish would change with: rules-compiler plan.",
    ...notes.map((note) => `# ${printable(note, 400)}`),
    `name: ${quoted(name)}`,
    ...Object.entries(titles).map(([key, text]) => `${key}: ${quoted(text)}`),
    "",
    ...settingLines(settings ?? { transformations: RECOMMENDED }),
    ...(isOne
      ? [
          "",
          "# Names that stay reachable, whatever the sources say.",
          ...listLines("allow", allow),
          ...allowFiles(allowLists, ""),
        ]
      : ["", ...groupLines(name, setup, groups)]),
    ...guardLines(setup.mayBlock ?? []),
    ...outputLines(formats),
    "",
    // The last key, so that an entry can be appended to the file.
    "# Where the rules come from. A source that fails is replaced by its last good copy. Add a list at the end.",
    "sources:",
    ...sourcesOf(setup, files),
  ].join("\n")}\n`;
}

function settingLines(settings: ImportedSettings): string[] {
  const { transformations, inclusions, exclusions } = settings;
  const written = new Set(transformations);
  const isUsual =
    written.size === RECOMMENDED.length && RECOMMENDED.every((name) => written.has(name));
  const named = isUsual ? undefined : transformations;
  const texts = Object.entries({ transformations: named, inclusions, exclusions });
  return [
    ...(isUsual ? [`transformations: ${RECOMMENDED_WORD} # ${RECOMMENDED.join(", ")}`] : []),
    ...texts.flatMap(([field, entries]) => (entries ? listLines(field, entries) : [])),
    ...fileLines("inclusions_sources", settings.inclusions_sources ?? []),
    ...fileLines("exclusions_sources", settings.exclusions_sources ?? []),
  ];
}

function sourcesOf(
  { lists, userRules }: ImportedConfig,
  { userRulesFile, groupFiles = new Map() }: Pick<NewConfig, "userRulesFile" | "groupFiles">,
): string[] {
  const off = lists.filter(({ isOn }) => !isOn);
  const dead = lists.filter(isDead);
  return [
    // If an output has room for a part of the rules only, later sources lose theirs first.
    ...(userRules.length === 0
      ? []
      : sourceLines({ name: USER_RULES_NAME, source: userRulesFile, type: "adblock", isOn: true })),
    ...Array.from(groupFiles).flatMap(([group, source]) =>
      sourceLines({ name: ownRulesOf(group), source, type: "adblock", isOn: true }),
    ),
    ...lists.filter(isUsed).flatMap(sourceLines),
    ...(off.length === 0 ? [] : ["  # These are disabled:"]),
    ...off.flatMap(sourceLines).map(asComment),
    ...(dead.length === 0 ? [] : ["  # These could not be read when this file was written:"]),
    ...dead.flatMap((list) => [...sourceLines(list).map(asComment), reasonLine(list)]),
  ];
}

/** A list for each group of clients, from the same sources. */
function groupLines(name: string, setup: ImportedConfig, groups: readonly string[]): string[] {
  const { lists, allowLists, groupRules } = setup;
  return [
    "# A list for each group of clients. Subscribe each group to its own.",
    "lists:",
    ...groups.flatMap((group, index) => {
      const isIn = (list: ImportedList): boolean => list.groups?.includes(group) ?? true;
      const sources = lists.filter((list) => isUsed(list) && isIn(list)).map((list) => list.name);
      const { userRules = [], allow = [] } = index === 0 ? setup : (groupRules?.get(group) ?? {});
      const ownName = index === 0 ? USER_RULES_NAME : ownRulesOf(group);
      const own = userRules.length > 0 ? [ownName] : [];
      if (sources.length + own.length === 0) return [];
      return [
        `  - name: ${quoted(index === 0 ? name : `${name} ${group}`)}`,
        ...indented(listLines("sources", [...own, ...sources])),
        ...(allow.length > 0 ? indented(listLines("allow", allow)) : []),
        ...allowFiles(allowLists.filter(isIn), "    "),
      ];
    }),
  ];
}

function allowFiles(lists: readonly ImportedList[], indent: string): string[] {
  const title = lists.some(isUsed) ? ["# Names that stay reachable, from files."] : [];
  return [...title, ...fileLines("allow_sources", lists)].map((line) => `${indent}${line}`);
}

function fileLines(field: string, lists: readonly ImportedList[]): string[] {
  const used = lists.filter(isUsed);
  const dead = lists.filter(isDead);
  return [
    ...(used.length === 0 ? [] : [`${field}:`]),
    ...used.map(fileLine),
    ...(dead.length === 0 ? [] : ["# These could not be read when this file was written:"]),
    ...dead.flatMap((list) => [`#   - ${quoted(list.source)}`, reasonLine(list).trimStart()]),
  ];
}

function fileLine({ source, found }: ImportedList): string {
  return found?.isPrivate === true
    ? `  - { source: ${quoted(source)}, allow_private: true } # it is in a private network`
    : `  - ${quoted(source)}`;
}

function guardLines(mayBlock: readonly string[]): string[] {
  if (mayBlock.length === 0) return [];
  return [
    "",
    "# Names that people need are protected. The lists block these kinds of them on purpose.",
    "guards:",
    `  may_block: [${mayBlock.join(", ")}]`,
  ];
}

function outputLines(formats: readonly string[]): string[] {
  return formats.length === 0
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
      ];
}

/** Whether a list becomes a source of the new configuration instead of a comment. */
export function isUsed({ isOn, found }: ImportedList): boolean {
  return isOn && found?.failure === undefined;
}

/** Why a list cannot be read; undefined if it can. */
export function problemOf({ found }: ImportedList): string | undefined {
  if (found?.failure === undefined) return undefined;
  const { message, cause } = found.failure;
  return [message, cause].filter(Boolean).join(": ");
}

function isDead(list: ImportedList): boolean {
  return list.isOn && !isUsed(list);
}

function reasonLine(list: ImportedList): string {
  // It is a comment still when the lines around it are not.
  return `  #   # ${printable(problemOf(list) ?? "", 300)}`;
}

function asComment(line: string): string {
  return line.replace(/^ {2}/, "  # ");
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `    ${line}`);
}

function sourceLines({ name, source, type, found, settings = {} }: ImportedList): string[] {
  return [
    `  - name: ${quoted(name)}`,
    `    source: ${quoted(source)}`,
    `    type: ${type === "adblock" && found?.isHosts === true ? "hosts" : type}`,
    ...(found?.isPrivate === true ? ["    allow_private: true # it is in a private network"] : []),
    ...(found?.onlyBlocks === true ? ["    trust: block-only # it has no exceptions"] : []),
    ...indented(settingLines(settings)),
  ];
}

function listLines(field: string, entries: readonly string[]): string[] {
  return entries.length === 0
    ? [`${field}: []`]
    : [`${field}:`, ...entries.map((entry) => `  - ${quoted(entry)}`)];
}

/** JSON is YAML. What some readers take for the end of a line, and what changes how a line looks, is escaped as well. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
