import { withParents } from "../syntax/parents.ts";

/** What a rule for a name covers: the name and all subdomains, the name alone, or all subdomains. */
export type Scope = "subtree" | "exact" | "below";

export interface NestedRule {
  readonly name: string;
  readonly scope: Scope;
  readonly isAllow: boolean;
}

/**
 * Strength of a rule in adblock syntax: 0 a block, 1 an exception, 2 an important block, 3 an important exception. This is the
 * maximum.
 */
const STRONGEST = 3;

/**
 * Computes how strong rules must be so that the most specific one wins: stronger than every less specific rule of the other
 * kind for the same names.
 */
export class NestedLevels {
  private readonly rules = new Map<
    string,
    Map<string, NestedRule & { level: number | undefined }>
  >();

  enter(rule: NestedRule): void {
    let known = this.rules.get(rule.name);
    if (known === undefined) this.rules.set(rule.name, (known = new Map()));
    known.set(keyOf(rule), { ...rule, level: undefined });
  }

  /** Least specific rule first. */
  resolve(): void {
    const all = [...this.rules.values()].flatMap((some) => [...some.values()]);
    const inOrder = all
      .map((rule) => ({ rule, rank: rankOf(rule) }))
      .toSorted((a, b) => a.rank - b.rank || Number(a.rule.isAllow) - Number(b.rule.isAllow));
    for (const { rule } of inOrder) {
      const needed = this.strongestAgainst(rule) + 1;
      const least = rule.isAllow ? 1 : 0;
      const level = needed <= least ? least : needed % 2 === least ? needed : needed + 1;
      rule.level = level > STRONGEST ? -1 : level;
    }
  }

  /** Undefined for an unknown rule, -1 for one that would need more than the maximum strength. */
  levelOf(rule: NestedRule): number | undefined {
    return this.rules.get(rule.name)?.get(keyOf(rule))?.level;
  }

  /** The level of the strongest rule of the other kind that this one must override; -1 without one. */
  private strongestAgainst(rule: NestedRule): number {
    let strongest = -1;
    for (const name of withParents(rule.name))
      for (const other of this.rules.get(name)?.values() ?? [])
        if (other.isAllow !== rule.isAllow && isWithin(rule, other))
          strongest = Math.max(strongest, other.level ?? -1);
    return strongest;
  }
}

function keyOf({ scope, isAllow }: NestedRule): string {
  return `${scope} ${isAllow}`;
}

/** A name has more labels than its parents. `*.name` and the exact name are more specific than both together. */
function rankOf({ name, scope }: NestedRule): number {
  return name.split(".").length * 2 + (scope === "subtree" ? 0 : 1);
}

/** Whether a rule for the same name or a parent covers some of the names of this one. */
function isWithin(rule: NestedRule, other: NestedRule): boolean {
  if (other.name !== rule.name) return other.scope !== "exact";
  return other.scope === "subtree" || other.scope === rule.scope;
}
