import type { RankedNames } from "../meaning/ranked-names.ts";
import { type Change, type ChangedName, hasChange } from "./effective-diff.ts";

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
