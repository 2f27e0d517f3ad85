import type { BuildRecord } from "../record/build-record.ts";
import { type ListDifference, effectiveDiff } from "./effective-diff.ts";
import { PlainList } from "./plain-list.ts";
import { ruleLocations } from "./rule-locations.ts";
import type { LineLocation } from "./why.ts";

/** A list, and the record of its build if it exists. */
export interface ListState {
  readonly bytes: Uint8Array;
  readonly record?: BuildRecord | undefined;
}

/** A published file that changes with a list, or although its rules are the same. */
export interface FileChange {
  readonly file: string;
  /** Whether it is the list, which then has the same rules and other comments. */
  readonly isList?: true;
  /** The format of an output. */
  readonly format?: string;
  /** Names that come and go in an output that has every name by itself, such as a hosts file. */
  readonly added?: number;
  readonly removed?: number;
}

/** The changes from one list to another, in text and in effect. */
export interface ListChange extends ListDifference {
  readonly rulesBefore: number;
  readonly rulesNow: number;
  /** Whether only one of the lists has a canary, so that the new one must be published. */
  readonly changesCanary: boolean;
  /** The other files that change; the file of the list only if it has the same rules. */
  readonly files: readonly FileChange[];
  /** The locations of changed and deciding rules, if a record has them. */
  readonly locations: ReadonlyMap<string, LineLocation>;
  /** The number of added and removed rules per source. */
  readonly bySource: readonly {
    readonly source: string;
    readonly added: number;
    readonly removed: number;
  }[];
}

/** Whether nothing that is published changes. */
export function isSame(change: ListChange): boolean {
  return hasSameRules(change) && change.files.length === 0;
}

/** Whether both lists have the same rules, and both or none have a canary. */
export function hasSameRules({ added, removed, changesCanary }: ListChange): boolean {
  return added.length + removed.length === 0 && !changesCanary;
}

/** Compares two lists: their texts, their effect, and the sources of the changes. */
export async function listChange(old: ListState, fresh: ListState): Promise<ListChange> {
  const before = await PlainList.read(old.bytes);
  const now = await PlainList.read(fresh.bytes);
  const difference = effectiveDiff(before, now);
  const { added, removed, changes } = difference;
  const decisive = changes.flatMap(({ rule }) => rule ?? []);
  const locationsIn = (
    { bytes, record }: ListState,
    texts: readonly string[],
  ): Map<string, LineLocation> =>
    record === undefined ? new Map() : ruleLocations(bytes, record, new Set(texts));
  const oldLocations = locationsIn(old, [...removed, ...decisive]);
  const newLocations = locationsIn(fresh, [...added, ...decisive]);
  return {
    ...difference,
    rulesBefore: before.texts.size,
    rulesNow: now.texts.size,
    changesCanary: before.hasCanary !== now.hasCanary,
    files: [],
    locations: new Map([...oldLocations, ...newLocations]),
    bySource: countBySource(added, removed, newLocations, oldLocations),
  };
}

function countBySource(
  added: readonly string[],
  removed: readonly string[],
  newLocations: ReadonlyMap<string, LineLocation>,
  oldLocations: ReadonlyMap<string, LineLocation>,
): ListChange["bySource"] {
  const counts = new Map<string, { added: number; removed: number }>();
  const count = (location: LineLocation | undefined, key: "added" | "removed"): void => {
    if (location === undefined) return;
    const known = counts.get(location.source) ?? { added: 0, removed: 0 };
    known[key]++;
    counts.set(location.source, known);
  };
  for (const text of added) count(newLocations.get(text), "added");
  for (const text of removed) count(oldLocations.get(text), "removed");
  return [...counts]
    .map(([source, numbers]) => ({ source, ...numbers }))
    .toSorted((a, b) => b.added + b.removed - a.added - a.removed);
}
