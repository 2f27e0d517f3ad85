import { withParents } from "../syntax/parents.ts";
import { Level, type NameRule, isBlock } from "./special-rule.ts";

export type Verdict = "block" | "allow";

/** What has to be said of a name so that, with the most specific name winning, everything is as the rules mean it. */
export interface NameVerdict {
  readonly name: string;
  /** For the name itself and for what is below it; undefined where a parent says it already, or nothing is said. */
  readonly self: Verdict | undefined;
  readonly below: Verdict | undefined;
  /** Whether a rule of its own blocks it, whatever a parent says. */
  readonly isNamed: boolean;
  /** What a parent says of it. */
  readonly inherited: Verdict | undefined;
  /** The parents that say so, as far as nothing else is said in between. */
  readonly parents: readonly string[];
  /** Names between it and that parent of which nothing else is said. */
  readonly between: readonly string[];
}

interface Node {
  self: Level;
  below: Level;
}

/** Names with the strongest rules for them, made into verdicts that no longer need to know which rule beats which. */
export class RuleTree {
  private readonly nodes = new Map<string, Node>();

  enter({ name, level, self, below }: NameRule): void {
    let node = this.nodes.get(name);
    if (node === undefined) this.nodes.set(name, (node = { self: Level.None, below: Level.None }));
    if (self && level > node.self) node.self = level;
    if (below && level > node.below) node.below = level;
  }

  /** In the order in which the names came. */
  *verdicts(): Generator<NameVerdict> {
    for (const [name, node] of this.nodes) {
      const verdict = this.verdict(name, node);
      const isSaid = verdict.self !== undefined || verdict.below !== undefined;
      const isUnder = isSaid && verdict.inherited !== undefined;
      yield {
        ...verdict,
        between: isUnder ? this.between(name) : [],
        parents: isUnder ? this.parents(name, verdict.inherited) : [],
      };
    }
  }

  private verdict(name: string, node: Node): Omit<NameVerdict, "between" | "parents"> {
    const inherited = this.inherited(name);
    const above = verdictOf(inherited);
    const self = verdictOf(strongest(node.self, inherited));
    const below = verdictOf(strongest(node.below, inherited));
    return {
      name,
      self: self === above ? undefined : self,
      below: below === above ? undefined : below,
      isNamed: self === "block" && isBlock(node.self),
      inherited: above,
    };
  }

  private between(name: string): string[] {
    const names: string[] = [];
    for (const parent of withParents(name).slice(1)) {
      const node = this.nodes.get(parent);
      if (node !== undefined) {
        const { self, below } = this.verdict(parent, node);
        if (self !== undefined || below !== undefined) break;
      }
      names.push(parent);
    }
    return names;
  }

  /** The strongest rule of a parent for everything below it. */
  private inherited(name: string): Level {
    let level: Level = Level.None;
    for (const parent of withParents(name).slice(1))
      level = strongest(level, this.nodes.get(parent)?.below ?? Level.None);
    return level;
  }

  /** Parents of which everything below has this verdict, up to the first that has another. */
  private parents(name: string, verdict: Verdict): string[] {
    const names: string[] = [];
    for (const parent of withParents(name).slice(1)) {
      const node = this.nodes.get(parent);
      if (node === undefined) continue;
      const below = verdictOf(strongest(node.below, this.inherited(parent)));
      if (below !== undefined && below !== verdict) break;
      names.push(parent);
    }
    return names;
  }
}

function strongest(a: Level, b: Level): Level {
  return a > b ? a : b;
}

function verdictOf(level: Level): Verdict | undefined {
  if (level === Level.None) return undefined;
  return isBlock(level) ? "block" : "allow";
}
