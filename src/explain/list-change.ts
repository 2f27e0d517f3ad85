import type { BuildRecord } from "../record/build-record.ts";
import { type ListDifference, effectiveDiff } from "./effective-diff.ts";
import { PlainList } from "./plain-list.ts";
import { ruleLocations } from "./rule-locations.ts";
import type { LineLocation } from "./why.ts";

/** A list, and the record of its build if there is one. */
export interface ListState {
  readonly bytes: Uint8Array;
  readonly record?: BuildRecord | undefined;
}

export interface ListChange extends ListDifference {
  readonly rulesBefore: number;
  readonly rulesNow: number;
  /** Where rules that came or went, or decide, stand; as far as records tell. */
  readonly places: ReadonlyMap<string, LineLocation>;
  /** Rules that came and went, by the source they are from. */
  readonly bySource: readonly {
    readonly source: string;
    readonly added: number;
    readonly removed: number;
  }[];
}

/** Whether both lists have the same rules. */
export function isSame({ added, removed }: ListChange): boolean {
  return added.length + removed.length === 0;
}

/** What changes from one list to another: in text, in effect, and by whom. */
export async function listChange(old: ListState, fresh: ListState): Promise<ListChange> {
  const before = await PlainList.read(old.bytes);
  const now = await PlainList.read(fresh.bytes);
  const difference = effectiveDiff(before, now);
  const { added, removed, changes } = difference;
  const decisive = changes.flatMap(({ rule }) => rule ?? []);
  const placesIn = (
    { bytes, record }: ListState,
    texts: readonly string[],
  ): Map<string, LineLocation> =>
    record === undefined ? new Map() : ruleLocations(bytes, record, new Set(texts));
  const wentFrom = placesIn(old, [...removed, ...decisive]);
  const cameFrom = placesIn(fresh, [...added, ...decisive]);
  return {
    ...difference,
    rulesBefore: before.texts.size,
    rulesNow: now.texts.size,
    places: new Map([...wentFrom, ...cameFrom]),
    bySource: countBySource(added, removed, cameFrom, wentFrom),
  };
}

function countBySource(
  added: readonly string[],
  removed: readonly string[],
  cameFrom: ReadonlyMap<string, LineLocation>,
  wentFrom: ReadonlyMap<string, LineLocation>,
): ListChange["bySource"] {
  const counts = new Map<string, { added: number; removed: number }>();
  const count = (place: LineLocation | undefined, key: "added" | "removed"): void => {
    if (place === undefined) return;
    const known = counts.get(place.source) ?? { added: 0, removed: 0 };
    known[key]++;
    counts.set(place.source, known);
  };
  for (const text of added) count(cameFrom.get(text), "added");
  for (const text of removed) count(wentFrom.get(text), "removed");
  return [...counts]
    .map(([source, figures]) => ({ source, ...figures }))
    .toSorted((a, b) => b.added + b.removed - a.added - a.removed);
}
