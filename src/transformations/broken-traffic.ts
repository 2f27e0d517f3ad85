import { namesOfRow, writtenName } from "../meaning/line.ts";
import { NameMatcher, type RowTest, type WatchedRule } from "../meaning/name-matcher.ts";
import { NameRules } from "../meaning/name-rules.ts";
import { type Rule, blocksAddresses } from "../meaning/rule.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { withParents } from "../syntax/parents.ts";
import type { OwnBlocks } from "./own-blocks.ts";
import { type Stage, afterMatching } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

type MatchedRule = Partial<Rule> & WatchedRule;

/** What a source would newly block. */
export interface BrokenBySource {
  readonly names: number;
  readonly queries: number;
}

/** What decides whether a line breaks traffic. */
export interface TrafficTerms {
  /** Names that the published list does not block, and how often each was asked for. */
  readonly names: ReadonlyMap<string, number>;
  /** The rules of the published list that match a name. */
  readonly before: (name: string) => readonly MatchedRule[];
  /** Whether the lines of a source are judged. */
  readonly isJudged: (source: number) => boolean;
  readonly isTooMany: (queries: number) => boolean;
  /** What fully trusted sources block. */
  readonly own: OwnBlocks;
}

/**
 * Drops the lines of a source that newly block names of query logs, if they block too many queries. Whole lines go, and no exception is
 * added: it would publish a name that a client asked for. Each source is judged by itself, so that none can use up a limit of another.
 */
export class BrokenTraffic {
  /** The sources whose lines were dropped. */
  readonly found: Map<number, BrokenBySource> = new Map();
  private readonly terms: TrafficTerms;
  private readonly context: StageContext;

  constructor(terms: TrafficTerms, context: StageContext) {
    this.terms = terms;
    this.context = context;
  }

  /** It comes before Compress, so that narrower rules of other sources stay. Rules for which `counts` is false are ignored. */
  stage(counts?: RowTest): Stage {
    const { names, own } = this.terms;
    const watch = new NameMatcher(names.keys(), this.context.finder, true, counts);
    const { pool } = this.context;
    return afterMatching(watch, pool, (held) => {
      const blocked = Array.from(watch.blocked(), ({ name }) => name);
      const broken = new BrokenNames(blocked.filter((name) => !own.blocksForAll(name)));
      if (broken.names.length > 0) this.judge(held, broken);
      return (chunk) => {
        if (this.found.has(pool.sourceOf(chunk)))
          this.eachLine(chunk, broken, (row) => chunk.drop(row, Fate.BreaksTraffic));
      };
    });
  }

  private judge(held: readonly Chunk[], broken: BrokenNames): void {
    const { names, isJudged, isTooMany } = this.terms;
    const bySource = new Map<number, Set<string>>();
    const { pool } = this.context;
    const judged = held.filter((chunk) => isJudged(pool.sourceOf(chunk)));
    pool.cache.each(judged, (chunk) => {
      const all = bySource.get(pool.sourceOf(chunk)) ?? new Set();
      bySource.set(pool.sourceOf(chunk), all);
      this.eachLine(chunk, broken, (_row, some) => {
        for (const name of some) all.add(name);
      });
    });
    for (const [source, all] of bySource) {
      let queries = 0;
      for (const name of all) queries += names.get(name)!;
      if (isTooMany(queries)) this.found.set(source, { names: all.size, queries });
    }
  }

  /** Calls `take` with each line that newly blocks some of the names. */
  private eachLine(
    chunk: Chunk,
    broken: BrokenNames,
    take: (row: number, names: readonly string[]) => void,
  ): void {
    const find = (_chunk: Chunk, row: number): boolean => {
      const { names, rule } = broken.blockedBy(chunk, row);
      const some = names.filter((name) => !this.wasBlockedBy(name, rule));
      if (some.length > 0) take(row, some);
      // A matcher that keeps no rule reports each line, also one that says the same as another.
      return false;
    };
    new NameMatcher(broken.names, this.context.finder, true, find).take(chunk);
  }

  /** Whether the published list has such a rule, and only an exception kept the name reachable. */
  private wasBlockedBy(name: string, rule: Rule | undefined): boolean {
    return this.terms
      .before(name)
      .some(
        (one) =>
          blocksAddresses(one) &&
          (one.text === rule?.text ||
            (one.isForSome !== true && (one.isImportant === true || rule?.isImportant !== true))),
      );
  }
}

/** Names that the list would newly block. */
class BrokenNames {
  readonly names: readonly string[];
  private readonly all: ReadonlySet<string>;
  private readonly below = new Map<string, string[]>();
  private readonly reader: NameRules;

  constructor(names: readonly string[]) {
    this.names = names;
    this.all = new Set(names);
    this.reader = new NameRules(names, true);
    for (const name of names)
      for (const parent of withParents(name)) {
        const known = this.below.get(parent);
        if (known === undefined) this.below.set(parent, [name]);
        else known.push(name);
      }
  }

  /** Those that a line blocks; with its rule, unless it consists of names. */
  blockedBy(chunk: Chunk, row: number): { names: readonly string[]; rule?: Rule } {
    const kind = chunk.kind[row];
    if (kind === Kind.Block)
      return { names: namesOfRow(chunk, row).flatMap((name) => this.below.get(name) ?? []) };
    if (kind !== Kind.Rule) return { names: this.some(namesOfRow(chunk, row)) };
    const text = textOf(chunk, row).trim();
    const written = writtenName(text);
    if (written !== undefined) return { names: this.some([written]) };
    const read = this.reader.read(text);
    return read !== undefined && blocksAddresses(read.rule) ? read : { names: [] };
  }

  private some(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.all.has(name));
  }
}
