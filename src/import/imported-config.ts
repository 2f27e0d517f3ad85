import type { SourceType } from "../config/fields.ts";
import type { FormatName } from "../config/output-fields.ts";
import { distinctNames } from "../diagnostics/distinct-names.ts";

/** A list that other software is set up with. */
export interface ImportedList {
  readonly name: string;
  /** Address or path. */
  readonly source: string;
  readonly type: SourceType;
  /** Whether it is switched on there. */
  readonly isOn: boolean;
  /** The groups of clients that it is for, where there are some; without it, all. */
  readonly groups?: readonly string[];
  /** What was found when it was asked for; undefined when it was not. */
  readonly found?: FoundList;
}

/** A list as it is now. */
export interface FoundList {
  /** Why it cannot be read. */
  readonly problem?: string | undefined;
  /** Whether it is on this machine or in a private network. */
  readonly isPrivate: boolean;
  /** Whether it is known to hold no exceptions. */
  readonly onlyBlocks: boolean;
}

/** What somebody runs now, whatever it is. */
export interface ImportedConfig {
  /** The software, as people call it. */
  readonly software: string;
  readonly lists: readonly ImportedList[];
  /** Lists of names that stay reachable. */
  readonly allowLists: readonly ImportedList[];
  /** Rules of the owner's own, in adblock syntax. */
  readonly userRules: readonly string[];
  /** Names that stay reachable. */
  readonly allow: readonly string[];
  /** What was there and cannot be taken over, in words. */
  readonly notes: readonly string[];
  /** Groups of clients that get different lists, the usual one first; own rules and `allow` are the first one's. */
  readonly groups?: readonly string[];
  /** Formats that the software needs besides the list itself. */
  readonly formats?: readonly FormatName[];
}

/** A setup that is nothing but lists. */
export function configOfLists(software: string, lists: readonly ImportedList[]): ImportedConfig {
  return { software, lists, allowLists: [], userRules: [], allow: [], notes: [] };
}

/** What a reader looks at: the file's text, and what it says if it is YAML or JSON. */
export interface ImportedFile {
  readonly text: string;
  /** Undefined when it is neither. */
  readonly tree: unknown;
  /** Rows of a query, for a file that is a database. */
  readonly rows: ((query: string) => Promise<readonly Record<string, unknown>[]>) | undefined;
}

/** Reads the settings of one software; undefined when the file is not one of its. */
export type ConfigReader = (
  file: ImportedFile,
) => ImportedConfig | undefined | Promise<ImportedConfig | undefined>;

/** The lists among what a setting holds. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null)
    : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** Of an address without a name: its last part, and whose it is. */
export function nameOf(source: string): string {
  if (!URL.canParse(source)) return source.split("/").at(-1) ?? source;
  const { hostname, pathname } = new URL(source);
  const parts = pathname.split("/").filter((part) => part !== "");
  return [hostname, parts.at(-1)].filter(Boolean).join(" ");
}

/** The same lists with names that differ, as reports and `lists` want them. */
export function withUniqueNames(lists: readonly ImportedList[]): ImportedList[] {
  const names = distinctNames(lists.map(({ name }) => name));
  return lists.map((list, index) => ({ ...list, name: names[index]! }));
}
