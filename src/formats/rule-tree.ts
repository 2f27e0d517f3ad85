import { withParents } from "../syntax/parents.ts";
import { isBelow } from "../meaning/rule.ts";
import { Level, isBlock, stronger } from "./level.ts";
import type { NameRule } from "./special-rule.ts";

/** The strongest levels for a name, and for everything below it. */
export interface NameLevels {
  readonly self: Level;
  readonly below: Level;
}

/** The rules for one name. */
export interface TreeNode {
  /** The first of the most trusted sources that have the name. */
  source: number;
  /** Levels of its rules, except those with exclusions. */
  self: Level;
  below: Level;
  /** Its rules with exclusions (`$denyallow`). */
  limited: NameRule[] | undefined;
  /** Whether a source names it to block it. */
  isNamed: boolean;
}

/** Names with their strongest rules. */
export class RuleTree {
  readonly nodes: Map<string, TreeNode> = new Map();
  /** How trusted each source is; undefined if that does not matter. */
  private readonly tiers: readonly number[] | undefined;

  constructor(tiers?: readonly number[]) {
    this.tiers = tiers;
  }

  /** A name counts as that of the most trusted source that has it or a name below it, which needs no line of its own then. */
  raiseParents(): void {
    if (this.tiers === undefined) return;
    for (const [name, { source, isNamed }] of this.nodes)
      for (const parent of isNamed ? withParents(name).slice(1) : []) {
        const node = this.nodes.get(parent);
        if (node !== undefined) this.raise(node, source);
      }
  }

  private raise(node: TreeNode, source: number): void {
    const { tiers } = this;
    if (tiers !== undefined && (tiers[source] ?? 0) < (tiers[node.source] ?? 0))
      node.source = source;
  }

  enter(rule: NameRule, source: number): void {
    const node = this.node(rule.name, source);
    if (rule.self && isBlock(rule.level)) node.isNamed = true;
    if (rule.denied.length > 0) {
      (node.limited ??= []).push(rule);
      // Another rule, or none, applies to the excluded names.
      for (const name of rule.denied) if (isBelow(name, rule.name)) this.node(name, source);
      return;
    }
    if (rule.self) node.self = stronger(node.self, rule.level);
    if (rule.below) node.below = stronger(node.below, rule.level);
  }

  /** Adds a name of a source that a parent blocks. */
  enterCovered(name: string, source: number): void {
    this.node(name, source).isNamed = true;
  }

  /** Adds a name without a rule. */
  enterOpen(name: string): void {
    this.node(name, 0);
  }

  private node(name: string, source: number): TreeNode {
    let node = this.nodes.get(name);
    if (node === undefined)
      this.nodes.set(
        name,
        (node = {
          source,
          self: Level.None,
          below: Level.None,
          limited: undefined,
          isNamed: false,
        }),
      );
    else this.raise(node, source);
    return node;
  }

  /** The levels of a name, and of everything below it that is not in the tree, from its rules and those of its parents. */
  levels(name: string, node: TreeNode): NameLevels {
    let { self, below } = node;
    for (const rule of node.limited ?? []) {
      if (rule.denied.some((one) => isBelow(name, one))) continue;
      if (rule.self) self = stronger(self, rule.level);
      if (rule.below) below = stronger(below, rule.level);
    }
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
      const parent = this.nodes.get(name.slice(dot + 1));
      if (parent === undefined) continue;
      const level = belowOf(parent, name);
      self = stronger(self, level);
      below = stronger(below, level);
    }
    return { self, below };
  }
}

/** The strongest rule of a parent for a name below it. */
function belowOf({ below, limited }: TreeNode, name: string): Level {
  let level = below;
  for (const rule of limited ?? [])
    if (rule.below && !rule.denied.some((one) => isBelow(name, one)))
      level = stronger(level, rule.level);
  return level;
}
