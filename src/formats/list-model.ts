import type { LossReason } from "../documents/facts.ts";
import { decodeUtf8 } from "../bytes/text.ts";
import { addEnd, addWhole, nameFilter, sharedReader } from "../kernel/names.ts";
import { type PlacedRule, RuleIndex, literalOf, nameScope } from "../meaning/rule-index.ts";
import { answersNothing, cancelledKey, isBelow, readRule } from "../meaning/rule.ts";
import { Level, isAllowLevel, levelOf, stronger } from "../meaning/verdict.ts";
import { withParents } from "../syntax/public-suffix.ts";
import {
  type ClassifiedNames,
  type PatternException,
  PatternExceptions,
  RuleTree,
  classifyNames,
} from "./classified-names.ts";
import type { NameBlock, NameBuffer, NameTrial, SpecialRule } from "./names.ts";
import { NamedRewrites, RewriteExceptions, isNameRewrite } from "./rewrites.ts";
import { type NameRule, type Rewrite, readSpecialRule } from "./special-rule.ts";

/** A rule without a name, such as a pattern. */
interface NamelessRule extends SpecialRule {
  readonly reason: LossReason;
  /** The expression, if the rule is a regular expression without modifiers. */
  readonly regex?: string;
  /** Whether it is a rewrite of names, or an exception from some: formats with answers write it with the names. */
  readonly isAnswer?: boolean;
}

/** Properties of the list that its text does not show. */
export interface ListShape {
  /** Whether no plain name occurs twice or below another. */
  readonly isMinimal: boolean;
  /** Whether every covered name occurs once, and a rule of the list still covers it. */
  readonly hasSureCovers: boolean;
  /** Names that must stay reachable, and that the list does not block. */
  readonly protectedNames: readonly string[];
  /** Whether one of its rules is a canary, which blocks no name in use. */
  readonly hasCanary?: boolean;
  /** How trusted each source is, by its index; for outputs that leave out rules. */
  readonly tiers?: readonly number[];
  /** The most popular names that its rules match, the most popular first; for outputs that keep popular rules. */
  readonly popular?: readonly string[];
  /** Rules for known names, and the patterns that match these names. The list means the same with and without the rules. */
  readonly expanded?: {
    readonly rules: readonly SpecialRule[];
    readonly patterns: readonly string[];
  };
}

/**
 * The meaning of a list, from which all formats are written. Nearly all names are blocked with everything below them and are not
 * related to any other rule: they stay in blocks of bytes. All others are handled one by one.
 */
export class ListModel {
  readonly nameless: NamelessRule[] = [];
  readonly exceptions: PatternExceptions = new PatternExceptions();
  readonly tree: RuleTree;
  readonly names: ClassifiedNames;
  /** Patterns that are written as names. */
  readonly expanded: ReadonlySet<string>;
  private readonly buffer: NameBuffer;
  private readonly cancelled = new Set<string>();
  private readonly relatedFilter = nameFilter();
  private readonly eitherFilter = nameFilter();
  private readonly related = new RelatedNames(this.relatedFilter, this.eitherFilter);
  /** Names related to rules that may free a covered name. */
  private readonly freeing = new RelatedNames(this.eitherFilter);
  /** Names that occur in rules for other names. */
  private readonly mentioned: string[] = [];
  /** Patterns that block; indexed at the first query. */
  private patternBlocks: RuleIndex<PlacedRule> | undefined;
  /** Rules that change answers, and the exceptions from them. */
  private readonly rewrites: (Rewrite & SpecialRule)[] = [];
  /** The answers of names. */
  private readonly answers = new NamedRewrites();
  /** Plain names that are handled one by one. */
  private readonly relatedNames: SpecialRule[] = [];

  constructor(buffer: NameBuffer, shape: ListShape) {
    const { isMinimal, hasSureCovers, protectedNames, expanded } = shape;
    this.tree = new RuleTree(shape.tiers);
    this.buffer = buffer;
    this.expanded = new Set(expanded?.patterns);
    for (const { text } of buffer.specials) this.cancel(text);
    for (const special of buffer.specials) this.read(special);
    for (const special of expanded?.rules ?? []) this.read(special);
    this.freeRewritten();
    if (!isMinimal || (!hasSureCovers && buffer.covered.count > 0)) {
      this.related.takeAll();
      this.freeing.takeAll();
    }
    for (const exception of this.exceptions.all) {
      this.related.addException(exception);
      this.freeing.addException(exception);
    }
    for (const name of [...this.mentioned, ...protectedNames]) this.addFreedName(name);
    this.extractRelated();
    this.tree.raiseParents();
    this.names = classifyNames(this.tree, this.exceptions, (name, self) =>
      this.answers.of(name, () => self === Level.None && this.isOpen(name)),
    );
  }

  /** Whether no pattern decides about a name. */
  private isOpen(name: string): boolean {
    return !this.exceptions.matches(name) && !this.blocksByPattern(name, Level.None);
  }

  private cancel(text: string): void {
    const key = cancelledKey(text);
    if (key === undefined) return;
    this.cancelled.add(key);
    const name = nameScope(key)?.name;
    if (name !== undefined) this.related.addName(name, false);
  }

  private read({ text, source }: SpecialRule): void {
    if (cancelledKey(text) !== undefined) return;
    const read = readSpecialRule(text);
    if (read.kind === "exception") {
      if (!this.cancelled.has(read.rule.key)) this.exceptions.add(read.rule);
      return;
    }
    if (read.key !== undefined && this.cancelled.has(read.key)) return;
    if (read.kind === "lost") {
      const { reason, regex, name, rewrite, hosts } = read;
      if (rewrite !== undefined) this.rewrites.push({ ...rewrite, text, source });
      for (const one of hosts?.names ?? []) {
        this.answers.addHosts(one, text, hosts?.answer);
        this.tree.enterOpen(one, source);
        this.related.addName(one, false);
      }
      const isAnswer =
        (rewrite !== undefined && isNameRewrite(rewrite)) || (hosts?.names.length ?? 0) > 0;
      this.nameless.push({
        text,
        source,
        reason,
        ...(regex !== undefined && { regex }),
        ...(isAnswer && { isAnswer }),
      });
      if (name !== undefined) this.mention(name, source, text.startsWith("@@"));
      return;
    }
    for (const rule of read.rules) this.enter(rule, source);
  }

  private enter(rule: NameRule, source: number): void {
    this.tree.enter(rule, source);
    this.related.addName(rule.name, rule.below);
    this.mentioned.push(...rule.denied);
    if (isAllowLevel(rule.level) || rule.denied.length > 0)
      this.freeing.addFamily(rule.name, rule.below);
  }

  /**
   * A name that the list rewrites is not blocked, unless it is rewritten to a response code without records, which other rules may say in
   * their way. At worst, a name that an exception from rewrites is for is not blocked either.
   */
  private freeRewritten(): void {
    const exceptions = new RewriteExceptions();
    for (const { rule } of this.rewrites) if (rule.isAllow) exceptions.add(rule);
    for (const { rule, name, source, text, answer } of this.rewrites) {
      if (rule.isAllow) continue;
      const isFreed = !answersNothing(rule);
      if (name === undefined) {
        const limited = exceptions.limitPattern(rule);
        if (limited === undefined) continue;
        this.answers.addPattern(limited, answer);
        if (isFreed) this.exceptions.add(limited);
        continue;
      }
      const limited = exceptions.limitName(name, rule);
      if (limited === undefined) continue;
      this.answers.add(limited, text, exceptions.mayLimit(name, rule) ? undefined : answer);
      if (isFreed) this.enter(limited, source);
      else this.enterAnswered(limited, source);
      // A policy may be applied to the name that an answer leads to as well.
      if (answer?.kind === "cname" && isBelow(answer.name, name.name))
        this.tree.enterOpen(answer.name);
    }
  }

  /** A name that is answered without records: other rules may block it, where the format has no such answer. */
  private enterAnswered({ name, below, denied }: NameRule, source: number): void {
    this.tree.enterOpen(name, source);
    this.related.addName(name, below);
    for (const one of denied) if (isBelow(one, name)) this.tree.enterOpen(one, source);
    this.mentioned.push(...denied);
  }

  /** A name in a rule that formats cannot express: other rules may block it, or a pattern free it. */
  private mention(name: string, source: number, isException: boolean): void {
    if (isException) {
      this.mentioned.push(name);
      return;
    }
    this.tree.enterCovered(name, source);
    this.related.addName(name, false);
  }

  /** A name that only a pattern exception mentions needs its own exception. */
  private addFreedName(name: string): void {
    if (!this.exceptions.matches(name)) return;
    this.tree.enterOpen(name);
    this.related.addName(name, false);
    this.freeing.addFamily(name, false);
  }

  /** Takes the names that are related to other rules out of the blocks. */
  private extractRelated(): void {
    const { buffer } = this;
    if (this.related.isEmpty) return;
    const removeCovered = (): void =>
      buffer.covered.remove((bytes, source) => this.coveredTrial(bytes, source));
    // Covered names first: the parent of one that an exception frees is related to it. If all names are related to others, then
    // last: only those that a rule still covers are needed.
    if (!this.freeing.isAll) removeCovered();
    this.removeRelated();
    if (this.freeing.isAll) removeCovered();
  }

  private removeRelated(): void {
    const { buffer, tree, cancelled } = this;
    buffer.names.remove((bytes, source) => {
      const { starts, matched } = this.candidates(bytes, this.relatedFilter);
      const isOut = (start: number, end: number): boolean => {
        const name = decodeUtf8(bytes, start, end);
        if (!this.related.has(name) && matched?.has(start) !== true) return false;
        this.relatedNames.push({ text: `||${name}^`, source });
        if (!cancelled.has(`||${name}^`))
          tree.enter({ name, level: Level.Block, self: true, below: true, denied: [] }, source);
        return true;
      };
      return { starts, isOut };
    });
  }

  /** Selects the covered names that an exception frees, and those that are in the tree already; all, if the tree has all rules. */
  private coveredTrial(bytes: Uint8Array, source: number): NameTrial {
    const { starts, matched } = this.candidates(bytes, this.eitherFilter);
    const isOut = (start: number, end: number): boolean => {
      const name = decodeUtf8(bytes, start, end);
      if (this.freeing.isAll) {
        if (withParents(name).some((one) => this.tree.nodes.has(one)))
          this.tree.enterCovered(name, source);
        return true;
      }
      const isFreed = this.freeing.has(name) || matched?.has(start) === true;
      if (!isFreed && !this.tree.nodes.has(name)) return false;
      this.tree.enterCovered(name, source);
      if (isFreed) this.related.addName(name, false);
      return true;
    };
    return { starts, isOut };
  }

  /** The positions of names that may be related to other rules, in order, and of those that an exception may match. */
  private candidates(
    bytes: Uint8Array,
    filter: Uint8Array,
  ): {
    starts: Iterable<number>;
    matched: ReadonlySet<number> | undefined;
  } {
    const starts = sharedReader().findEnds(bytes, filter);
    const matched = this.matchedStarts(bytes);
    if (matched === undefined || matched.size === 0) return { starts, matched };
    const all = new Set([...starts, ...matched]);
    return { starts: [...all].toSorted((a, b) => a - b), matched };
  }

  /** The positions of names that exceptions without a certain suffix may match. */
  private matchedStarts(bytes: Uint8Array): ReadonlySet<number> | undefined {
    const unsure = this.exceptions.all.filter(({ isEndSure }) => !isEndSure);
    if (unsure.length === 0) return undefined;
    const text = decodeUtf8(bytes, 0, bytes.length);
    const found = new Set<number>();
    for (const { pattern, matches, words } of unsure) {
      for (const start of startsOfNamesWith(text, literalOf(pattern)))
        if (matches(text.slice(start, text.indexOf("\n", start)))) found.add(start);
      for (const word of words) for (const start of startsOfNamesWith(text, word)) found.add(start);
    }
    return found;
  }

  /** Whether a pattern or an expression blocks a name, with a higher level than this one and all exceptions. */
  blocksByPattern(name: string, level: Level): boolean {
    this.patternBlocks ??= patternBlocks(this.nameless);
    const blocks = this.patternBlocks.matching(name);
    if (blocks.length === 0) return false;
    const against = stronger(level, this.exceptions.strongest(name));
    return blocks.some((rule) => levelOf(rule) > against);
  }

  /** Whether a `$badfilter` rule of the list cancels the rule with this key. */
  cancels(key: string): boolean {
    return this.cancelled.has(key);
  }

  /** The texts of the rules that are not in blocks. */
  otherTexts(): SpecialRule[] {
    return [...this.buffer.specials, ...this.relatedNames];
  }

  /** Plain names of the list, which are blocked with everything below them. */
  plainBlocks(): NameBlock[] {
    return this.buffer.names.all();
  }

  /** The same with the names that turned out to be unrelated, in the order of sources. */
  subtreeBlocks(): NameBlock[] {
    return inOrder([...this.names.subtrees, ...this.buffer.names.all()]);
  }

  /** Unrelated names that are blocked alone. */
  exactBlocks(): readonly NameBlock[] {
    return this.names.exacts;
  }

  /** Names of sources that other rules of the list cover. */
  coveredBlocks(): NameBlock[] {
    return inOrder([...this.names.covered, ...this.buffer.covered.all()]);
  }

  /** Whether there are blocking expressions, which some formats can express. */
  get hasExpressions(): boolean {
    return this.nameless.some(({ regex }) => regex !== undefined);
  }

  /** Whether the list has a rule that blocks. */
  get isBlocking(): boolean {
    const { buffer } = this;
    return (
      buffer.names.count > 0 ||
      this.relatedNames.length > 0 ||
      buffer.specials.some(({ text }) => !text.startsWith("@@"))
    );
  }
}

function patternBlocks(rules: readonly NamelessRule[]): RuleIndex<PlacedRule> {
  const index = new RuleIndex<PlacedRule>();
  for (const [row, { text, reason }] of rules.entries()) {
    const rule = reason === "pattern" || reason === "regex" ? readRule(text) : undefined;
    if (rule !== undefined) index.add({ ...rule, row });
  }
  return index;
}

function inOrder(blocks: readonly NameBlock[]): NameBlock[] {
  return blocks.toSorted((a, b) => a.source - b.source);
}

/** The positions of names that contain a text. */
function* startsOfNamesWith(names: string, text: string): Generator<number> {
  for (let at = names.indexOf(text); at !== -1 && at < names.length;) {
    yield at === 0 ? 0 : names.lastIndexOf("\n", at - 1) + 1;
    const end = names.indexOf("\n", at);
    at = end === -1 ? -1 : names.indexOf(text, end + 1);
  }
}

/** Finds the few names that are related to other rules. */
export class RelatedNames {
  /** Filters that exclude most names quickly. */
  private readonly filters: readonly Uint8Array[];
  /** Whether all names are related to others. */
  isAll = false;
  private readonly names = new Set<string>();
  private readonly parents = new Set<string>();
  /** The last two labels of names that are related whatever comes before. */
  private readonly tails = new Set<string>();
  /** By top-level domain, the suffixes of related names; "" for all names. */
  private readonly tops = new Map<string, string[]>();
  private hasPatterns = false;

  constructor(...filters: readonly Uint8Array[]) {
    this.filters = filters;
  }

  get isEmpty(): boolean {
    const isEmpty = [this.names, this.tails, this.tops].every(({ size }) => size === 0);
    return isEmpty && !this.isAll && !this.hasPatterns;
  }

  takeAll(): void {
    this.isAll = true;
    for (const filter of this.filters) filter.fill(255);
  }

  /** Adds a name: it is related to its parents and to everything below it. */
  addName(name: string, withBelow: boolean): void {
    if (this.isOneLabel(name, withBelow) || this.names.has(name)) return;
    this.names.add(name);
    this.filterEnd(name);
    for (const parent of withParents(name).slice(1)) {
      if (this.parents.has(parent)) return;
      this.parents.add(parent);
      for (const filter of this.filters) addWhole(filter, parent);
    }
  }

  /** Adds a name that is related to all names with the same last two labels. */
  addFamily(name: string, withBelow: boolean): void {
    if (!this.isOneLabel(name, withBelow)) this.addFamilyTail(tailOf(name));
  }

  addException({ end, isEndSure }: PatternException): void {
    if (!isEndSure) this.hasPatterns = true;
    const labels = end.split(".");
    // The first label may be the end of a longer one.
    if (labels.length > 2) this.addFamilyTail(labels.slice(-2).join("."));
    else if (labels.length === 2) this.addTop(labels[1]!, end);
  }

  /** A rule for a whole top-level domain is related to everything in it. */
  private isOneLabel(name: string, withBelow: boolean): boolean {
    if (name.includes(".")) return false;
    if (withBelow) this.addTop(name, "");
    return true;
  }

  private addTop(top: string, end: string): void {
    this.tops.set(top, [...(this.tops.get(top) ?? []), end]);
    this.filterEnd(top);
  }

  private addFamilyTail(tail: string): void {
    this.tails.add(tail);
    this.filterEnd(tail);
  }

  private filterEnd(name: string): void {
    for (const filter of this.filters) addEnd(filter, name);
  }

  has(name: string): boolean {
    if (this.isAll || this.parents.has(name) || this.tails.has(tailOf(name))) return true;
    const ends = this.tops.get(name.slice(name.lastIndexOf(".") + 1));
    if (ends?.some((end) => name.endsWith(end)) === true) return true;
    return this.names.size > 0 && withParents(name).some((one) => this.names.has(one));
  }
}

/** The last two labels of a name. */
function tailOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return name.slice(name.lastIndexOf(".", dot - 1) + 1);
}
