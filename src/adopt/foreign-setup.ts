import type { SourceType } from "../config/fields.ts";
import { distinctNames } from "../diagnostics/distinct-names.ts";

/** A list that other software is set up with. */
export interface ForeignList {
  readonly name: string;
  /** Address or path. */
  readonly source: string;
  readonly type: SourceType;
  /** Whether it is switched on there. */
  readonly isOn: boolean;
}

/** What somebody runs now, whatever it is. */
export interface ForeignSetup {
  /** The software, as people call it. */
  readonly software: string;
  readonly lists: readonly ForeignList[];
  /** Lists of names that stay reachable. */
  readonly allowLists: readonly ForeignList[];
  /** Rules of the owner's own, in adblock syntax. */
  readonly ownRules: readonly string[];
  /** Names that stay reachable. */
  readonly allow: readonly string[];
  /** What was there and cannot be taken over, in words. */
  readonly notes: readonly string[];
}

/** A setup that is nothing but lists. */
export function setupOfLists(software: string, lists: readonly ForeignList[]): ForeignSetup {
  return { software, lists, allowLists: [], ownRules: [], allow: [], notes: [] };
}

/** What a reader looks at: the file's text, and what it says if it is YAML or JSON. */
export interface ForeignFile {
  readonly text: string;
  /** Undefined when it is neither. */
  readonly tree: unknown;
  /** Rows of a query, for a file that is a database. */
  readonly rows: ((query: string) => Promise<readonly Record<string, unknown>[]>) | undefined;
}

/** Reads the settings of one software; undefined when the file is not one of its. */
export type ForeignReader = (
  file: ForeignFile,
) => ForeignSetup | undefined | Promise<ForeignSetup | undefined>;

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
export function withOwnNames(lists: readonly ForeignList[]): ForeignList[] {
  const names = distinctNames(lists.map(({ name }) => name));
  return lists.map((list, index) => ({ ...list, name: names[index]! }));
}
