import { namesOfRow, writtenName } from "../meaning/line.ts";
import { FreedNames, RuleIndex, nameScope } from "../meaning/rule-index.ts";
import { type Rule, addEffects, blocksAddresses, noEffects, readRule } from "../meaning/rule.ts";
import {
  type BlockedName,
  NameMatcher,
  NameRules,
  type RowTest,
  type WatchedRule,
} from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { NEWLY_BLOCKS_FILE } from "../rules/rule-table.ts";
import { mostFreed } from "../sources/ledger.ts";
import {
  type ValidatorOptions,
  formatAdblockRule,
  judgeBlockRow,
  judgeRule,
  parseAdblockRule,
} from "../syntax/adblock-rule.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { AllowList, exceptionsFor, takeOut } from "./allow.ts";
import {
  type Pass,
  type Stage,
  type StageContext,
  afterMatching,
  eachChunk,
  exceptionsAtEnd,
  exceptionsIn,
  passWithout,
} from "./stage.ts";

/** The new exceptions of a source that would free too many names. */
interface OverBudget {
  readonly source: number;
  /** Row numbers in the whole compile. */
  readonly rows: readonly number[];
  readonly freed: readonly string[];
  /** How many other names its new exceptions freed within 30 days. */
  readonly freedBefore: number;
}

interface BudgetTerms {
  /** Exceptions of the published list, verbatim. */
  readonly known: ReadonlySet<string>;
  /** Whether the budget applies to a source. */
  isJudged(source: number): boolean;
  /** The names that new exceptions of a source freed within 30 days. */
  freedBefore(source: number): ReadonlySet<string>;
}

/**
 * Drops all new exceptions of a source if they free too many names that only other sources block. Chunks pass through until
 * the first new exception: most builds have none.
 */
export class ExceptionBudget implements Stage {
  readonly over: OverBudget[] = [];
  /** What new exceptions within the budget free. */
  readonly within: { readonly source: number; readonly names: readonly string[] }[] = [];
  private readonly terms: BudgetTerms;
  private readonly context: StageContext;
  private readonly fresh = new Map<number, number[]>();
  private readonly seen: Chunk[] = [];
  private readonly held: Chunk[] = [];
  private readonly names = new FreedNames();

  constructor(terms: BudgetTerms, context: StageContext) {
    this.terms = terms;
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    this.seen.push(chunk);
    const source = this.context.pool.sourceOf(chunk);
    if (this.terms.isJudged(source)) this.look(chunk, source);
    if (this.fresh.size === 0) pass(chunk);
    else this.held.push(chunk);
  }

  end(pass: Pass): void {
    if (this.fresh.size > 0) this.judge();
    const dropped = this.over.flatMap(({ rows }) => rows);
    const held = this.held.splice(0);
    passWithout({ held, dropped }, Fate.OverBudget, this.context.pool, pass);
  }

  private look(chunk: Chunk, source: number): void {
    for (const row of exceptionsIn(chunk, this.context.finder)) {
      const text = textOf(chunk, row);
      if (this.terms.known.has(text)) continue;
      this.names.add(source, text);
      const rows = this.fresh.get(source);
      if (rows === undefined) this.fresh.set(source, [chunk.idOf(row)]);
      else rows.push(chunk.idOf(row));
    }
  }

  private judge(): void {
    const { pool } = this.context;
    pool.cache.each(this.seen, (chunk) => this.names.take(chunk, pool.sourceOf(chunk)));
    for (const { source, freed, names } of this.names.results()) {
      // Names that were freed before count once, so that many small steps are one.
      const before = this.terms.freedBefore(source);
      const freedBefore = before.size - freed.filter((name) => before.has(name)).length;
      if (freed.length + freedBefore > mostFreed(names))
        this.over.push({ source, rows: this.fresh.get(source)!, freed, freedBefore });
      else if (freed.length > 0) this.within.push({ source, names: freed });
    }
  }
}

/** Who says what. */
interface OverruleTerms {
  /** Whether a source is fully trusted. */
  readonly isOwn: (source: number) => boolean;
  /** Whether the exceptions of a source must not free what fully trusted sources block. */
  readonly isJudged: (source: number) => boolean;
}

/** All sources below full trust count as one here, and all fully trusted ones as another. */
const [OTHERS, OWN] = [0, 1];

/**
 * Drops exceptions of sources below full trust that would free a name that fully trusted sources block. It counts rules that Compress
 * dropped because a rule of another source covers them. Chunks pass through until the first such exception.
 */
export class OverruledExceptions implements Stage {
  private readonly terms: OverruleTerms;
  private readonly context: StageContext;
  private readonly exceptions = new RuleIndex<Rule & { readonly row: number }>();
  private readonly freed = new FreedNames({ countsDropped: true });
  private readonly scopes: string[] = [];
  private readonly own: Chunk[] = [];
  private readonly held: Chunk[] = [];
  private isNeeded = false;

  constructor(terms: OverruleTerms, context: StageContext) {
    this.terms = terms;
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    const source = this.context.pool.sourceOf(chunk);
    if (this.terms.isOwn(source)) this.own.push(chunk);
    else if (this.terms.isJudged(source)) this.look(chunk);
    if (this.isNeeded) this.held.push(chunk);
    else pass(chunk);
  }

  end(pass: Pass): void {
    const dropped = this.isNeeded ? this.overruled() : [];
    const held = this.held.splice(0);
    passWithout({ held, dropped }, Fate.Overruled, this.context.pool, pass);
  }

  private look(chunk: Chunk): void {
    for (const row of exceptionsIn(chunk, this.context.finder)) {
      const text = textOf(chunk, row).trim();
      const rule = readRule(text);
      // Exceptions for other questions free no name.
      if (rule === undefined || rule.addressTypes.length === 0) continue;
      this.isNeeded = true;
      this.freed.add(OTHERS, text);
      this.exceptions.add({ ...rule, row: chunk.idOf(row) });
      const scope = nameScope(rule.pattern);
      if (scope !== undefined) this.scopes.push(scope.self ? scope.name : `any.${scope.name}`);
    }
  }

  /** The rows of exceptions that free a name that fully trusted sources block. */
  private overruled(): Set<number> {
    const { cache } = this.context.pool;
    cache.each(this.own, (chunk) => this.freed.take(chunk, OWN));
    const names = new Set([...this.freed.results()].flatMap((one) => one.freed));
    // Patterns, and the exceptions of the fully trusted sources themselves.
    const watch = new NameMatcher([...names, ...this.scopes], this.context.finder, true);
    cache.each(this.own, (chunk) => watch.take(chunk));
    for (const { name, isBlocked, by } of watch.verdicts())
      if (!isBlocked) names.delete(name);
      else if ((by as Partial<Rule>).isImportant !== true) names.add(name);
    const rows = new Set<number>();
    for (const name of names) for (const { row } of this.exceptions.matching(name)) rows.add(row);
    return rows;
  }
}

type MatchedRule = Pick<WatchedRule, "text"> & Partial<Rule>;

/** A name that a rule would newly block. */
interface NewlyBlockedName {
  readonly name: string;
  /** Index of the source of the rule. */
  readonly source: number;
}

/** How the published list blocks a name. */
export interface BlockedBefore {
  /** Whether no client gets an address. */
  readonly isForAll: boolean;
  /** The texts of the rules that match the name. */
  readonly rules: ReadonlySet<string>;
}

/** What decides whether a rule newly blocks a name. */
interface NewlyTerms {
  readonly names: readonly string[];
  /** What the published list blocks. */
  readonly before: ReadonlyMap<string, BlockedBefore>;
  /** Whether the rules of a source are judged. */
  readonly isJudged: (source: number) => boolean;
  /** What fully trusted sources block. */
  readonly own: OwnBlocks;
}

/** Keeps names reachable that sources would newly block. */
export class NewlyBlocked {
  /** The names that stay reachable. */
  blocked: NewlyBlockedName[] = [];
  private readonly terms: NewlyTerms;
  private readonly context: StageContext;

  constructor(terms: NewlyTerms, context: StageContext) {
    this.terms = terms;
    this.context = context;
  }

  /**
   * Drops rules for the names that the list would block. It comes before Compress, which would otherwise have dropped the rules for
   * subdomains already, and holds all chunks: whether a name is blocked depends on exceptions, too. Rules that the validator will
   * drop do not count. If it keeps one of them because a transformation changes it before, the name gets an exception.
   */
  dropRules(counts?: RowTest): Stage {
    const { finder, pool } = this.context;
    const watch = new NameMatcher(this.terms.names, finder, true, counts);
    return afterMatching(watch, pool, () => {
      this.note(watch);
      const names = this.blocked.map(({ name }) => ({ name, below: false, self: true }));
      const list = new AllowList(names);
      return (chunk) => {
        if (names.length > 0 && this.terms.isJudged(pool.sourceOf(chunk)))
          takeOut(list, chunk, finder, {
            fate: Fate.NewlyBlocks,
            spares: ({ entry }, from, row) => {
              if (from.kind[row] !== Kind.Rule) return false;
              const text = textOf(from, row).trim();
              return !this.isNewRule(entry.name, { text, ...readRule(text) });
            },
          });
      };
    });
  }

  /** Adds exceptions for names that broader rules block. */
  addExceptions(): Stage {
    const watch = new NameMatcher(this.terms.names, this.context.finder, true);
    const exceptions = (): string[] => {
      this.note(watch);
      const lines: string[] = [];
      const excepted = new Set<string>();
      for (const { name } of this.newlyIn(watch)) {
        const effects = noEffects();
        for (const rule of watch.matching(name)) addEffects(effects, rule);
        lines.push(...exceptionsFor({ name, below: false, self: true }, effects));
        lines.push(...this.terms.own.strengthened(name));
        excepted.add(name);
      }
      // Other rules may block a name although the new ones were dropped.
      for (const { name, isForAll } of watch.blocked())
        if (isForAll && !excepted.has(name))
          this.blocked = this.blocked.filter((one) => one.name !== name);
      return lines;
    };
    return exceptionsAtEnd(watch, this.context, exceptions, NEWLY_BLOCKS_FILE);
  }

  private note(watch: NameMatcher): void {
    const known = new Set(this.blocked.map(({ name }) => name));
    for (const { name, by } of this.newlyIn(watch))
      if (!known.has(name)) this.blocked.push({ name, source: this.sourceOf(by) });
  }

  /** A name that the published list blocks for some clients or types of questions is new only if another rule blocks it. */
  private *newlyIn(watch: NameMatcher): Generator<BlockedName> {
    const { own, isJudged } = this.terms;
    for (const one of watch.blocked()) {
      if (own.blocksForAll(one.name)) continue;
      const by = watch
        .matching(one.name)
        .find((rule) => isJudged(this.sourceOf(rule)) && this.isNewRule(one.name, rule));
      if (by !== undefined) yield { ...one, by };
    }
  }

  /** Whether the published list does not have a rule that keeps a client from getting an address. */
  private isNewRule(name: string, rule: MatchedRule): boolean {
    return blocksAddresses(rule) && this.terms.before.get(name)?.rules.has(rule.text) !== true;
  }

  private sourceOf({ row }: WatchedRule): number {
    const { pool } = this.context;
    return pool.sourceOf(pool.chunkOf(row));
  }
}

/**
 * What fully trusted sources block by rules of their own. It looks at the list before Compress, which drops their rules if broader ones
 * of other sources cover them.
 */
export class OwnBlocks {
  private readonly names: readonly string[];
  private readonly counts: RowTest | undefined;
  private matcher: NameMatcher | undefined;
  private readonly isOwn: (source: number) => boolean;
  private readonly context: StageContext;
  private found: ReadonlyMap<string, BlockedName> | undefined;

  /** Rules for which `counts` is false are ignored. */
  constructor(
    names: readonly string[],
    isOwn: (source: number) => boolean,
    context: StageContext,
    counts?: RowTest,
  ) {
    this.names = names;
    this.counts = counts;
    this.isOwn = isOwn;
    this.context = context;
  }

  /** Lazy: there are thousands of names, and many lists have no such source. */
  private get watch(): NameMatcher {
    this.matcher ??= new NameMatcher(this.names, this.context.finder, true, this.counts);
    return this.matcher;
  }

  stage(): Stage {
    const { pool } = this.context;
    return eachChunk((chunk) => {
      if (this.isOwn(pool.sourceOf(chunk))) this.watch.take(chunk);
    });
  }

  /** How they block a name, if they do. */
  blockOf(name: string): BlockedName | undefined {
    if (this.matcher === undefined) return undefined;
    this.found ??= new Map(Array.from(this.watch.blocked(), (one) => [one.name, one]));
    return this.found.get(name);
  }

  /** Whether no client gets an address. */
  blocksForAll(name: string): boolean {
    return this.blockOf(name)?.isForAll === true;
  }

  /** Their rules that block a name for some clients or questions, in a form that an added exception does not override. */
  strengthened(name: string): string[] {
    if (this.blockOf(name) === undefined) return [];
    return this.watch
      .matching(name)
      .flatMap(({ text, isAllow, isImportant, isForSome, rewrite }) => {
        const rule = isForSome === true ? parseAdblockRule(text) : undefined;
        if (rule === undefined || isAllow === true || isImportant === true) return [];
        if (rewrite !== undefined) return [];
        const modifiers = [...rule.modifiers, { name: "important" }];
        return [formatAdblockRule({ ...rule, pattern: `|${name}^`, modifiers })];
      });
  }
}

/** Tells whether the validator of a list will keep a row. */
export function validRows(validator: ValidatorOptions | undefined): RowTest | undefined {
  if (validator === undefined) return undefined;
  return (chunk, row) => {
    // Names in other letters may be converted before they are validated.
    if ((chunk.flags[row]! & Flag.NonAscii) !== 0) return true;
    const fate =
      chunk.kind[row] === Kind.Rule
        ? judgeRule(textOf(chunk, row).trim(), validator)
        : judgeBlockRow(chunk, row, validator);
    return fate === Fate.Kept;
  };
}

type TrafficRule = Partial<Rule> & WatchedRule;

/** What a source would newly block. */
interface BrokenBySource {
  readonly names: number;
  readonly queries: number;
}

/** What decides whether a line breaks traffic. */
interface TrafficTerms {
  /** Names that the published list does not block, and how often each was asked for. */
  readonly names: ReadonlyMap<string, number>;
  /** The rules of the published list that match a name. */
  readonly before: (name: string) => readonly TrafficRule[];
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
