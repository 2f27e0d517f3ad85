import { encodeUtf8 } from "../bytes/utf8.ts";
import { withParents } from "../syntax/parents.ts";
import { Level, isAllow, isBlock } from "./level.ts";
import type { NameBlock } from "./name-blocks.ts";
import { LONG_NAME } from "./name-buffer.ts";
import type { FreedLevels, PatternExceptions } from "./pattern-exceptions.ts";
import type { NameLevels, RuleTree, TreeNode } from "./rule-tree.ts";

/** What the list means for a name and for what is below it. */
export interface NameFact extends NameLevels {
  readonly name: string;
  readonly source: number;
  /** Whether a source names it to block it, and whether a rule for this name blocks the names below it. */
  readonly isNamed: boolean;
  readonly blocksBelow: boolean;
  /** The levels after pattern exceptions. */
  readonly freed: FreedLevels;
}

/** The names of the tree, separated by their relations to each other. */
export interface ClassifiedNames {
  /** Groups of related names; parents come before their children. */
  readonly groups: readonly (readonly NameFact[])[];
  /** Unrelated names that are blocked with all names below them, alone, or by a parent. */
  readonly subtrees: readonly NameBlock[];
  readonly exacts: readonly NameBlock[];
  readonly covered: readonly NameBlock[];
  /** Names with exceptions, and all their parents. */
  readonly excepted: ReadonlySet<string>;
}

/** Most names that might be related to others turn out not to be, and join the blocks. */
export function classifyNames(tree: RuleTree, exceptions: PatternExceptions): ClassifiedNames {
  const facts: NameFact[] = [];
  /** Names with rules other than simple blocks, and all their parents. */
  const tied = new Set<string>();
  const excepted = new Set<string>();
  for (const [name, node] of tree.nodes) {
    const fact = factOf(name, node, tree, exceptions);
    facts.push(fact);
    if (isExcepted(fact)) for (const one of withParents(name)) excepted.add(one);
    if (!isSimple(fact, node)) for (const one of withParents(name)) tied.add(one);
  }
  const subtrees = new IndependentNames();
  const exacts = new IndependentNames();
  const covered = new IndependentNames();
  const groups = new Map<string, NameFact[]>();
  for (const fact of facts) {
    const { name } = fact;
    let root = name;
    let isTied = tied.has(name);
    let isCovered = false;
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
      const parent = name.slice(dot + 1);
      const node = tree.nodes.get(parent);
      if (node === undefined) continue;
      root = parent;
      isTied ||= tied.has(parent);
      isCovered ||= node.below === Level.Block;
    }
    if (isTied) {
      const group = groups.get(root);
      if (group === undefined) groups.set(root, [fact]);
      else group.push(fact);
    } else if (isCovered) {
      if (fact.isNamed) covered.add(fact);
    } else if (fact.below === Level.Block) subtrees.add(fact);
    else if (fact.self === Level.Block) exacts.add(fact);
  }
  return {
    groups: [...groups.values()].map((group) =>
      group.toSorted((a, b) => depthOf(a.name) - depthOf(b.name)),
    ),
    subtrees: subtrees.blocks(),
    exacts: exacts.blocks(),
    covered: covered.blocks(),
    excepted,
  };
}

function factOf(
  name: string,
  node: TreeNode,
  tree: RuleTree,
  exceptions: PatternExceptions,
): NameFact {
  const { source, isNamed, limited } = node;
  const { self, below } = tree.levels(name, node);
  const blocksBelow =
    isBlock(node.below) || limited?.some((rule) => rule.below && isBlock(rule.level)) === true;
  const freed = exceptions.free(name, self, below);
  return { name, source, isNamed, blocksBelow, self, below, freed };
}

/** Whether it is a common block: of the name alone, or of everything below it too. */
function isSimple({ name, self, below, freed }: NameFact, { limited }: TreeNode): boolean {
  if (limited !== undefined || name.length > LONG_NAME) return false;
  if (self > Level.Block || below > self) return false;
  return freed.self === self && freed.below === below && !freed.isUnsure;
}

function isExcepted({ self, below, freed }: NameFact): boolean {
  const isFree = self === Level.None && below === Level.None;
  return isFree || isAllow(freed.self) || isAllow(freed.below) || freed.isUnsure;
}

function depthOf(name: string): number {
  let depth = 0;
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) depth++;
  return depth;
}

/** Names that are not related to any others, by source. */
export class IndependentNames {
  private readonly all: Pick<NameFact, "name" | "source">[] = [];

  add(name: Pick<NameFact, "name" | "source">): void {
    this.all.push(name);
  }

  blocks(): NameBlock[] {
    return [...Map.groupBy(this.all, ({ source }) => source)]
      .toSorted(([a], [b]) => a - b)
      .map(([source, names]) => {
        const bytes = encodeUtf8(names.map(({ name }) => `${name}\n`).join(""));
        return { source, count: names.length, length: bytes.length, load: () => bytes };
      });
  }
}
