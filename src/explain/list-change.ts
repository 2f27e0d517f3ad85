import type { SourceChange } from "../documents/documents.ts";
import { BANG, LF, decodeUtf8, equalBytes, lineEnd } from "../bytes/text.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { isCanaryRule } from "../syntax/host-name.ts";
import {
  type Change,
  type ChangedName,
  type ListDifference,
  effectiveDiff,
  hasChange,
} from "./effective-diff.ts";
import { PlainList } from "./plain-list.ts";
import { type LineLocation, ruleLocations } from "./why.ts";
import type { FileChange } from "../documents/facts.ts";

export type { FileChange } from "../documents/facts.ts";

/** A list, and the record of its build if it exists. */
export interface ListState {
  readonly bytes: Uint8Array;
  readonly record?: BuildRecord | undefined;
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
  readonly bySource: readonly SourceChange[];
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
    rulesBefore: before.size,
    rulesNow: now.size,
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
    .map(([label, numbers]) => ({ label, ...numbers }))
    .toSorted((a, b) => b.added + b.removed - a.added - a.removed);
}

export interface ChangedRules {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Bytes that are compared at a time. */
const STEP = 65_536;

/** The added and removed rules. Most of two versions is equal at both ends; only the rest is compared line by line. */
export function changedRules(old: Uint8Array, fresh: Uint8Array): ChangedRules {
  const start = sameStart(old, fresh);
  const end = sameEnd(old, fresh, start);
  const before = linesOf(old, start, old.length - end);
  const now = linesOf(fresh, start, fresh.length - end);
  return {
    added: [...now].filter((line) => !before.has(line)),
    removed: [...before].filter((line) => !now.has(line)),
  };
}

/** The start of the first line that differs after the header, whose dates always differ. */
function sameStart(a: Uint8Array, b: Uint8Array): number {
  let at = headerEnd(a);
  if (at !== headerEnd(b)) return 0;
  const most = Math.min(a.length, b.length);
  while (at + STEP <= most && equalBytes(a.subarray(at, at + STEP), b.subarray(at, at + STEP)))
    at += STEP;
  while (at < most && a[at] === b[at]) at++;
  const line = a.lastIndexOf(LF, Math.max(0, at - 1)) + 1;
  return Math.max(line, 0);
}

/** The end of the comments at the start of a list. */
function headerEnd(list: Uint8Array): number {
  let at = 0;
  while (list[at] === BANG) at = lineEnd(list, at) + 1;
  return Math.min(at, list.length);
}

/** The number of equal bytes at the end, from the start of a line on. */
function sameEnd(a: Uint8Array, b: Uint8Array, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let count = 0;
  const step = (size: number): boolean =>
    count + size <= most &&
    equalBytes(
      a.subarray(a.length - count - size, a.length - count),
      b.subarray(b.length - count - size, b.length - count),
    );
  while (step(STEP)) count += STEP;
  while (step(1)) count++;
  return Math.max(0, a.length - lineEnd(a, a.length - count) - 1);
}

function linesOf(list: Uint8Array, start: number, end: number): Set<string> {
  const lines = decodeUtf8(list, start, Math.max(start, end)).split("\n");
  return new Set(
    lines.filter((line) => line !== "" && !line.startsWith("!") && !isCanaryRule(line)),
  );
}

/** The names that are newly blocked or freed, the most popular first if ranks are known. */
export function namesWith(
  kind: Change,
  changes: readonly ChangedName[],
  ranks: RankedNames | undefined,
): readonly ChangedName[] {
  const all = changes.filter((change) => hasChange(change, kind));
  if (ranks === undefined) return all;
  const ranked = all.map((name) => ({ name, rank: rankOfChange(name, ranks) ?? Infinity }));
  // Ranks without an end: their difference is not a number.
  return ranked
    .toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ name }) => name);
}

/** The best rank of the names whose answer changed. */
export function rankOfChange(
  { name, self, below }: ChangedName,
  ranks: RankedNames,
): number | undefined {
  return below === undefined || (self !== undefined && self !== below)
    ? ranks.rankOf(name)
    : ranks.bestOf(name);
}
