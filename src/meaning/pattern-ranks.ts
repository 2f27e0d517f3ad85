import { AhoCorasick, EXACT } from "../bytes/aho-corasick.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import { nameScope } from "./name-scope.ts";
import type { RankedNames } from "./ranked-names.ts";
import { type PlacedRule, RuleIndex, literalOf } from "./rule-index.ts";
import type { Rule } from "./rule.ts";

/** The best rank of the names that a rule matches, if the rule is for one name; undefined for a pattern. */
export function scopeRank(
  { pattern, denied }: Pick<Rule, "pattern" | "denied">,
  ranks: RankedNames,
): number | undefined {
  const scope = denied.length === 0 ? nameScope(pattern) : undefined;
  // Only subdomains: the name itself must not count.
  if (scope === undefined || !scope.self) return undefined;
  return (scope.below ? ranks.bestOf(scope.name) : ranks.rankOf(scope.name)) ?? Infinity;
}

/** Finds the most popular names that patterns match, in one pass over the names. */
export class PatternRanks {
  private readonly rules = new RuleIndex<PlacedRule>();
  /** A text of each pattern, which every matching name contains. */
  private readonly literals = new Set<string>();
  private count = 0;

  /** `row` identifies the rule in the result. */
  add(rule: Rule, row: number): void {
    this.rules.add({ ...rule, row });
    this.literals.add(literalOf(rule.pattern));
    this.count++;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** The index of the most popular name up to the rank `most`, by row. A rule without one is absent. */
  resolve(ranks: RankedNames, most: number): Map<number, number> {
    const found = new Map<number, number>();
    if (this.isEmpty) return found;
    const finder = this.literals.has("")
      ? undefined
      : new AhoCorasick(Array.from(this.literals, encodeUtf8));
    ranks.each(most, (bytes, start, end, index) => {
      if (finder !== undefined && finder.search(bytes, start, end, EXACT) === -1) return true;
      for (const { row } of this.rules.matching(decodeUtf8(bytes, start, end)))
        if (!found.has(row)) found.set(row, index);
      return found.size < this.count;
    });
    return found;
  }
}
