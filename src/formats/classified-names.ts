import type { LossReason } from "../documents/facts.ts";
import { encodeUtf8 } from "../bytes/text.ts";
import { LiteralIndex, RuleIndex } from "../meaning/rule-index.ts";
import { type Rule, isBelow } from "../meaning/rule.ts";
import { Level, isAllowLevel, isBlockLevel, levelOf, stronger } from "../meaning/verdict.ts";
import { endOfPattern, patternParts, patternWords } from "../syntax/name-pattern.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { LONG_NAME, type NameBlock } from "./names.ts";
import type { NameAnswers } from "./rewrites.ts";
import type { NameRule } from "./special-rule.ts";

/** What the list means for a name and for what is below it. */
export interface NameFact extends NameLevels {
  readonly name: string;
  readonly source: number;
  /** Whether a source names it to block it, and whether a rule for this name blocks the names below it. */
  readonly isNamed: boolean;
  readonly blocksBelow: boolean;
  /** The levels after pattern exceptions. */
  readonly freed: FreedLevels;
  /** The answers of rewrites, which win over all levels. */
  readonly answers: NameAnswers | undefined;
}

/** The answers for a name with this level. */
type AnswersOf = (name: string, self: Level) => NameAnswers | undefined;

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
export function classifyNames(
  tree: RuleTree,
  exceptions: PatternExceptions,
  answersOf: AnswersOf,
): ClassifiedNames {
  const facts: NameFact[] = [];
  /** Names with rules other than simple blocks, and all their parents. */
  const tied = new Set<string>();
  const excepted = new Set<string>();
  for (const [name, node] of tree.nodes) {
    const levels = tree.levels(name, node);
    const answers = answersOf(name, levels.self);
    const fact = {
      name,
      ...levels,
      ...factOf(node),
      answers,
      freed: exceptions.free(name, levels),
    };
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

function factOf({
  source,
  isNamed,
  limited,
  below,
}: TreeNode): Pick<NameFact, "source" | "isNamed" | "blocksBelow"> {
  const blocksBelow =
    isBlockLevel(below) || limited?.some((rule) => rule.below && isBlockLevel(rule.level)) === true;
  return { source, isNamed, blocksBelow };
}

/** Whether it is a common block: of the name alone, or of everything below it too. */
function isSimple({ name, self, below, freed, answers }: NameFact, { limited }: TreeNode): boolean {
  if (limited !== undefined || answers !== undefined || name.length > LONG_NAME) return false;
  if (self > Level.Block || below > self) return false;
  return freed.self === self && freed.below === below && !freed.isUnsure;
}

function isExcepted({ self, below, freed, answers }: NameFact): boolean {
  const isFree = (self === Level.None && below === Level.None) || answers !== undefined;
  return isFree || isAllowLevel(freed.self) || isAllowLevel(freed.below) || freed.isUnsure;
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

/** An exception with a pattern, and what the pattern reveals about the names that it can match. */
export interface PatternException extends Rule {
  readonly row: number;
  readonly level: Level;
  /** The common suffix of the names that it is meant for; "" if they can be anywhere. */
  readonly end: string;
  /** Whether every name that it matches has that suffix. */
  readonly isEndSure: boolean;
  /** Without a suffix: words of which one occurs in each name that it is meant for. */
  readonly words: readonly string[];
  /** Whether it also matches everything below a name that it matches. */
  readonly takesBelow: boolean;
  /** Why formats cannot express it. */
  readonly reason: LossReason;
}

/** The levels of a name after the pattern exceptions. */
interface FreedLevels {
  readonly self: Level;
  readonly below: Level;
  /** Whether unknown names below it are freed. */
  readonly isUnsure: boolean;
}

/** The exceptions of a list that are patterns or regular expressions. */
export class PatternExceptions {
  readonly all: PatternException[] = [];
  /** Those that can match below any name. */
  readonly floating: PatternException[] = [];
  private readonly index = new RuleIndex<PatternException>();
  /** Whether one may match names without its suffix. */
  private hasUnsure = false;
  /** By the names that they are meant for. */
  private readonly reach = new ExceptionReach();

  add(rule: Rule): void {
    const { end, isSure } = endOfPattern(rule.pattern);
    const exception: PatternException = {
      ...rule,
      row: this.all.length,
      level: levelOf(rule),
      end,
      isEndSure: isSure,
      words: end === "" ? patternWords(rule.pattern) : [],
      takesBelow: rule.denied.length === 0 && takesBelow(rule.pattern),
      reason: reasonOf(rule),
    };
    this.all.push(exception);
    this.index.add(exception);
    this.hasUnsure ||= !isSure;
    if (end === "") this.floating.push(exception);
    else this.reach.addEnd(end, exception.level);
    for (const word of exception.words) this.reach.addWord(word, exception.level);
  }

  /** The level of the strongest that matches a name. */
  strongest(name: string): Level {
    if (this.all.length === 0) return Level.None;
    return this.index
      .matching(name)
      .reduce((level: Level, one) => stronger(level, one.level), Level.None);
  }

  matches(name: string): boolean {
    return this.strongest(name) > Level.None;
  }

  /** Whether one matches the name, or can match something below it. */
  reaches(name: string): boolean {
    return this.all.length > 0 && (this.matches(name) || this.reach.below(name) > Level.None);
  }

  free(name: string, { self, below }: NameLevels): FreedLevels {
    if (this.all.length === 0 || (!isBlockLevel(self) && !isBlockLevel(below)))
      return { self, below, isUnsure: false };
    let exact: Level = Level.None;
    let whole: Level = Level.None;
    let some = this.reach.below(name);
    // An exception that matches the name has a suffix that reaches it.
    if (some === Level.None && !this.hasUnsure) return { self, below, isUnsure: false };
    for (const { level, takesBelow: isWhole } of this.index.matching(name)) {
      exact = stronger(exact, level);
      if (isWhole) whole = stronger(whole, level);
      else some = stronger(some, level);
    }
    const freedBelow = isBlockLevel(below) ? stronger(below, whole) : below;
    return {
      self: isBlockLevel(self) ? stronger(self, exact) : self,
      below: freedBelow,
      isUnsure: isBlockLevel(freedBelow) && some > freedBelow,
    };
  }
}

function reasonOf({ denied, pattern, rewrite }: Rule): LossReason {
  if (rewrite !== undefined) return "rewrite";
  if (denied.length > 0) return "modifier";
  return isRegexText(pattern) ? "regex" : "pattern";
}

/** A pattern that need not match from the start of a name also matches everything below it. */
function takesBelow(pattern: string): boolean {
  if (!isRegexText(pattern)) return patternParts(pattern)?.startsAtName === false;
  const bare = pattern
    .slice(1, -1)
    .replace(/\\[^A]/g, "x")
    .replace(/\[[^\]]*\]/g, "x");
  return !/[\^\\]/.test(bare);
}

/** How strongly pattern exceptions can free names below a name. Indexed, because lists have many names and many exceptions. */
class ExceptionReach {
  /** By the suffix of the names that they are meant for. */
  private readonly byEnd = new Map<string, Level>();
  /** The same suffixes, by their parents. */
  private readonly byParent = new Map<string, Level>();
  /** The top-level domains of those suffixes; most names have another one. */
  private readonly tops = new Set<string>();
  /** By words that occur in the names that they are meant for. */
  private readonly levels = new Map<string, Level>();
  private readonly words = new LiteralIndex<string>();

  addEnd(end: string, level: Level): void {
    raise(this.byEnd, end, level);
    this.tops.add(topOf(end));
    for (let dot = end.indexOf("."); dot !== -1; dot = end.indexOf(".", dot + 1))
      raise(this.byParent, end.slice(dot + 1), level);
  }

  addWord(word: string, level: Level): void {
    if (!this.levels.has(word)) this.words.add([word], word);
    raise(this.levels, word, level);
  }

  below(name: string): Level {
    let level: Level = Level.None;
    if (this.tops.has(topOf(name))) {
      level = this.byParent.get(name) ?? level;
      for (let at = 0; at < name.length; at++)
        level = stronger(level, this.byEnd.get(name.slice(at)) ?? Level.None);
    }
    if (this.levels.size === 0) return level;
    for (const word of this.words.candidates(name))
      if (name.includes(word)) level = stronger(level, this.levels.get(word)!);
    return level;
  }
}

function topOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

function raise(levels: Map<string, Level>, key: string, level: Level): void {
  levels.set(key, stronger(levels.get(key) ?? Level.None, level));
}

/** The strongest levels for a name, and for everything below it. */
export interface NameLevels {
  readonly self: Level;
  readonly below: Level;
}

/** The rules for one name. */
interface TreeNode {
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
    if (rule.self && isBlockLevel(rule.level)) node.isNamed = true;
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
  enterOpen(name: string, source = 0): void {
    this.node(name, source);
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
