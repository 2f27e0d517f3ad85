import type {
  FeatureResult,
  FeatureRun,
  ListFeature,
  ListStages,
  ListWork,
} from "../engine/feature.ts";
import { waiverOf } from "../engine/protected-names.ts";
import { namesOfRow, writtenName } from "../meaning/line.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { PatternRanks, nameScope, scopeRank } from "../meaning/rule-index.ts";
import { cancelledKey, readRule } from "../meaning/rule.ts";
import { type Chunk, Flag, Kind, hostOf, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { CANARY_SUFFIX } from "../syntax/host-name.ts";
import { type Pass, RuleStage, type Stage, type StageContext } from "../transformations/stage.ts";
import { expand } from "./expand.ts";

/** Names beyond the limit are remembered, too: they may become popular tomorrow. */
const MARGIN = 2;

/** What the popularity of names decides: which rules a list with `fit.top` has, and what outputs with `fit` leave out. */
export const popularity: ListFeature<Popularity> = {
  name: "popularity",
  open: (list) => (list.plan.ranks.length === 0 ? undefined : new Popularity(list)),
};

class Popularity implements FeatureRun {
  ranks: RankedNames | undefined;
  private readonly list: ListWork;
  /** The popular names that rules of the list match, if an output needs them. */
  private inList: PopularInList | undefined;

  constructor(list: ListWork) {
    this.list = list;
  }

  async fetch(): Promise<void> {
    const { plan, reader } = this.list;
    this.ranks = await reader.entries.ranks(plan.ranks);
    const isLimited = plan.config.outputs?.some(({ fit }) => fit !== undefined) === true;
    if (isLimited && this.ranks !== undefined) this.inList = new PopularInList(this.ranks);
  }

  /** Popular names that must not be newly blocked, and those to look for in the published list. */
  watched(): { readonly names: readonly string[]; readonly wanted: readonly string[] } {
    const { newly_blocks: top = 0, may_block: waived } = this.list.plan.config.guards ?? {};
    const mayBlock = waiverOf(waived);
    const upTo = (rank: number): string[] =>
      this.ranks?.top(rank).filter((name) => !mayBlock(name)) ?? [];
    return { names: upTo(top), wanted: upTo(top * MARGIN) };
  }

  stages(): ListStages {
    const { plan, context } = this.list;
    const top = plan.config.fit?.top;
    if (top === undefined || this.ranks === undefined) return {};
    const patterns = new RankedPatterns(this.ranks, top, context);
    const stages = [patterns, new RankedRules(this.ranks, top, patterns, context)];
    return { transformed: stages.map((stage) => ({ name: "fit", stage })) };
  }

  take(chunk: Chunk): void {
    this.inList?.take(chunk);
  }

  result(): FeatureResult {
    const { ranks, inList, list } = this;
    list.runOf(expand)?.eachName((name) => inList?.mark(name));
    return { ranks, ...(inList && { shape: { popular: inList.names() } }) };
  }
}

/**
 * Finds the popular names from which the ranks of a list's rules follow: of each rule, the name itself and the most popular name that
 * it matches. They are few compared with all popular names, and are stored with the list, so that its formats can be written again.
 */
class PopularInList {
  private readonly ranks: RankedNames;
  private readonly marks: Uint8Array;
  private readonly patterns = new PatternRanks();
  private canary: string | undefined;

  constructor(ranks: RankedNames) {
    this.ranks = ranks;
    this.marks = new Uint8Array(ranks.length);
  }

  /** Sees the rules of the finished list, and names that they cover, which some formats need. */
  take(chunk: Chunk): void {
    for (let row = 0; row < chunk.length; row++) {
      const fate = chunk.fate[row]!;
      const flags = chunk.flags[row]!;
      if (fate !== Fate.Kept && fate !== Fate.Covered) continue;
      if (chunk.kind[row]! < Kind.Hosts || (flags & Flag.Allow) !== 0) continue;
      if ((flags & Flag.Ordinary) !== 0)
        this.ranks.markBytes(
          this.marks,
          chunk.bytesOf(row),
          chunk.hostStart[row]!,
          chunk.hostEnd[row]!,
        );
      else if (chunk.kind[row] === Kind.Rule) this.takeRule(textOf(chunk, row), chunk.idOf(row));
      else for (const name of namesOfRow(chunk, row)) this.ranks.mark(this.marks, name);
      if ((flags & Flag.Generated) !== 0 && hostOf(chunk, row).endsWith(CANARY_SUFFIX))
        this.canary = hostOf(chunk, row);
    }
  }

  private takeRule(text: string, row: number): void {
    const line = text.trim();
    const written = writtenName(line);
    const rule = written === undefined ? readRule(line) : undefined;
    const scope = rule && nameScope(rule.pattern);
    const name = written ?? scope?.name;
    if (name !== undefined) this.ranks.mark(this.marks, name);
    const isWhole = scope?.self === true && rule?.denied.length === 0;
    if (rule !== undefined && !isWhole) this.patterns.add(rule, row);
  }

  /** Takes a name that only formats have. */
  mark(name: string): void {
    this.ranks.mark(this.marks, name);
  }

  /** The names, the most popular first. The canary is the first of all: an output without it proves nothing. */
  names(): string[] {
    const { ranks, marks } = this;
    for (const index of this.patterns.resolve(ranks, Infinity).values()) marks[index] = 1;
    const names = this.canary === undefined ? [] : [this.canary];
    for (let index = 0; index < ranks.length; index++)
      if (marks[index] === 1) names.push(ranks.nameAt(index));
    return names;
  }
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

/** Keeps rules that match a popular name up to a rank. Exceptions and `$badfilter` rules stay. */
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
