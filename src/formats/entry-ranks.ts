import { PatternRanks } from "../meaning/pattern-ranks.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { readRule } from "../meaning/rule.ts";
import type { Entry } from "./entry-texts.ts";
import { readSpecialRule } from "./special-rule.ts";

/** The best rank of the names that each entry matches, by its index. Entries without one are absent. */
export function entryRanks(entries: readonly Entry[], ranks: RankedNames): Map<number, number> {
  const found = new Map<number, number>();
  const patterns = new PatternRanks();
  for (const [index, { of }] of entries.entries()) {
    const rank = nameRank(of, ranks);
    if (rank !== undefined && rank !== Infinity) found.set(index, rank);
    if (rank !== undefined) continue;
    const rule = readRule(typeof of === "string" ? of : `||*.${of.name}^`);
    if (rule !== undefined) patterns.add(rule, index);
  }
  for (const [index, place] of patterns.resolve(ranks, Infinity))
    found.set(index, ranks.rankAt(place));
  return found;
}

/** The rank of an entry for names, Infinity without one; undefined for all others, and for those that skip a name. */
function nameRank(of: Entry["of"], ranks: RankedNames): number | undefined {
  if (typeof of === "object") {
    if (of.key === "below") return undefined;
    return (of.key === "exact" ? ranks.rankOf(of.name) : ranks.bestOf(of.name)) ?? Infinity;
  }
  const read = readSpecialRule(of);
  if (read.kind !== "names") return undefined;
  if (!read.rules.every(({ self, denied }) => self && denied.length === 0)) return undefined;
  const known = read.rules.map(
    ({ name, below }) => (below ? ranks.bestOf(name) : ranks.rankOf(name)) ?? Infinity,
  );
  return Math.min(...known);
}
