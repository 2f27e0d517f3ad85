import { withParents } from "../syntax/parents.ts";

/** What a rule for a name takes in: the name and all below it, the name alone, or all below it. */
export type Scope = "subtree" | "exact" | "below";

export interface NestedRule {
  readonly name: string;
  readonly scope: Scope;
  readonly isAllow: boolean;
}

/**
 * How strong a rule must be in adblock syntax: 0 a block, 1 an exception, 2 an important block, 3 an important exception.
 * There is nothing stronger.
 */
const STRONGEST = 3;

/**
 * Finds how strong rules must be, of which the most specific one shall win: stronger than every rule of the other kind that
 * is less specific and says something of the same names.
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

  /** From the least specific to the most. */
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

  /** Undefined for a rule that was not entered, -1 for one that would have to be stronger than rules can be. */
  levelOf(rule: NestedRule): number | undefined {
    return this.rules.get(rule.name)?.get(keyOf(rule))?.level;
  }

  /** The level of the strongest rule of the other kind that this one has to win over; -1 when there is none. */
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

/** A name has more labels than its parents; `*.name` and the name alone are more specific than both together. */
function rankOf({ name, scope }: NestedRule): number {
  return name.split(".").length * 2 + (scope === "subtree" ? 0 : 1);
}

/** Whether a rule for the same name or a parent takes in some of the names of this one. */
function isWithin(rule: NestedRule, other: NestedRule): boolean {
  if (other.name !== rule.name) return other.scope !== "exact";
  return other.scope === "subtree" || other.scope === rule.scope;
}
