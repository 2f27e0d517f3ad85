import { AhoCorasick, EXACT } from "../bytes/aho-corasick.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/text.ts";
import { namesOfRow, writtenName } from "../meaning/line.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import {
  PatternRanks,
  type PlacedRule,
  RuleIndex,
  literalOf,
  nameScope,
  scopeRank,
} from "../meaning/rule-index.ts";
import { type Rule, cancelledKey, readRule } from "../meaning/rule.ts";
import { strongest } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { patternParts } from "../syntax/name-pattern.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { type Pass, RuleStage, type Stage, type StageContext } from "./stage.ts";

/** Keeps rules that match a popular name up to a rank. Exceptions and `$badfilter` rules stay. */
export function rankedStages(ranks: RankedNames, most: number, context: StageContext): Stage[] {
  const patterns = new RankedPatterns(ranks, most, context);
  return [patterns, new RankedRules(ranks, most, patterns, context)];
}

/** Finds the ranks of patterns, which takes a pass over all names. It holds chunks from the first pattern on. */
class RankedPatterns implements Stage {
  /** Row numbers of the patterns that stay, with what they match. */
  found: ReadonlyMap<number, number> = new Map();
  private readonly ranks: RankedNames;
  private readonly most: number;
  private readonly context: StageContext;
  private readonly patterns = new PatternRanks();
  private held: Chunk[] = [];

  constructor(ranks: RankedNames, most: number, context: StageContext) {
    this.ranks = ranks;
    this.most = most;
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    for (const row of this.context.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule || (chunk.flags[row]! & Flag.Allow) !== 0) continue;
      const text = textOf(chunk, row).trim();
      const rule = writtenName(text) === undefined ? readRule(text) : undefined;
      if (rule !== undefined && scopeRank(rule, this.ranks) === undefined)
        this.patterns.add(rule, chunk.idOf(row));
    }
    if (this.patterns.isEmpty) pass(chunk);
    else this.held.push(chunk);
  }

  end(pass: Pass): void {
    const { cache } = this.context.pool;
    this.found = this.patterns.resolve(this.ranks, this.most);
    cache.each(this.held, pass);
    this.held = [];
  }
}

class RankedRules extends RuleStage {
  protected readonly keepsOrdinary = false;
  private readonly ranks: RankedNames;
  private readonly most: number;
  private readonly patterns: RankedPatterns;

  constructor(ranks: RankedNames, most: number, patterns: RankedPatterns, context: StageContext) {
    super(context);
    this.ranks = ranks;
    this.most = most;
    this.patterns = patterns;
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const kind = chunk.kind[row]!;
    if (kind < Kind.Hosts || (chunk.flags[row]! & (Flag.Allow | Flag.Generated)) !== 0) return true;
    if (this.isRanked(chunk, row)) return true;
    chunk.drop(row, Fate.NotRanked);
    return false;
  }

  private isRanked(chunk: Chunk, row: number): boolean {
    const { ranks } = this;
    const flags = chunk.flags[row]!;
    if (chunk.kind[row] === Kind.Rule) return this.isRankedRule(chunk, row);
    const isSubtree = chunk.kind[row] === Kind.Block;
    const isSeveral = chunk.kind[row] === Kind.Hosts && (flags & Flag.SeveralNames) !== 0;
    if (isSeveral || (flags & (Flag.PlainHost | Flag.UpperHost)) !== Flag.PlainHost)
      return namesOfRow(chunk, row).some((name) =>
        this.isWithin(isSubtree ? ranks.bestOf(name) : ranks.rankOf(name)),
      );
    const bytes = chunk.bytesOf(row);
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    const hash = chunk.hostHash[row]!;
    const rank = isSubtree
      ? ranks.bestRank(bytes, start, end, hash)
      : ranks.ownRank(bytes, start, end, hash);
    return rank !== 0 && rank <= this.most;
  }

  private isRankedRule(chunk: Chunk, row: number): boolean {
    const text = textOf(chunk, row).trim();
    if (cancelledKey(text) !== undefined) return true;
    const name = writtenName(text);
    if (name !== undefined) return this.isWithin(this.ranks.rankOf(name));
    const rule = readRule(text);
    if (rule === undefined) return false;
    const rank = scopeRank(rule, this.ranks);
    // Found up to the rank that is wanted.
    return rank === undefined ? this.patterns.found.has(chunk.idOf(row)) : this.isWithin(rank);
  }

  private isWithin(rank: number | undefined): boolean {
    return rank !== undefined && rank <= this.most;
  }
}

/** Finds the known names that the patterns of a list match, for formats without patterns. */
export class ExpandPatterns implements Stage {
  /** Rules for known names that patterns match. The list means the same with and without them. */
  readonly rules: { readonly text: string; readonly source: number }[] = [];
  /** The patterns that match known names. */
  readonly patterns: Set<string> = new Set();
  private readonly names: RankedNames;
  private readonly context: StageContext;
  private readonly index = new RuleIndex<PlacedRule>();
  private readonly literals = new Set<string>();
  private readonly sources = new Map<number, number>();

  constructor(names: RankedNames, context: StageContext) {
    this.names = names;
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    const { finder, pool } = this.context;
    for (const row of finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule || (chunk.flags[row]! & Flag.Allow) !== 0) continue;
      const text = textOf(chunk, row).trim();
      if (this.index.cancel(text) || writtenName(text) !== undefined) continue;
      const rule = readRule(text);
      if (rule === undefined || !isPattern(rule)) continue;
      const id = chunk.idOf(row);
      this.index.add({ ...rule, row: id });
      this.literals.add(literalOf(rule.pattern));
      this.sources.set(id, pool.sourceOf(chunk));
    }
    pass(chunk);
  }

  end(): void {
    if (this.sources.size === 0) return;
    const finder = this.literals.has("")
      ? undefined
      : new AhoCorasick(Array.from(this.literals, encodeUtf8));
    this.names.each(Infinity, (bytes, start, end) => {
      if (finder !== undefined && finder.search(bytes, start, end, EXACT) === -1) return true;
      const name = decodeUtf8(bytes, start, end);
      const matching = this.index.matching(name);
      const by = strongest(matching);
      if (by === undefined) return true;
      const alike = matching.filter(({ isImportant }) => isImportant === by.isImportant);
      const scope = alike.some(blocksBelow) ? "||" : "|";
      const text = `${scope}${name}^${by.isImportant ? "$important" : ""}`;
      this.rules.push({ text, source: this.sources.get(by.row)! });
      for (const one of matching) this.patterns.add(one.text);
      return true;
    });
  }
}

/** Whether other formats cannot express the rule because it is not for one name. */
function isPattern({ pattern, isPartial, rewrite, denied }: Rule): boolean {
  if (isPartial || rewrite !== undefined || denied.length > 0) return false;
  return nameScope(pattern) === undefined;
}

/** Whether a pattern that matches a name matches all names below it, too: nothing ties it to the start of the name. */
function blocksBelow({ pattern }: Rule): boolean {
  return !isRegexText(pattern) && patternParts(pattern)?.startsAtName === false;
}
