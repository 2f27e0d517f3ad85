import { GUARD_CODES } from "../diagnostics/codes.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import type { AskedNames, PublishedRules } from "../engine/compile-options.ts";
import {
  type FeatureResult,
  type FeatureRun,
  type ListFeature,
  type ListStages,
  type ListWork,
  stageNamed,
} from "../engine/feature.ts";
import { readList } from "../engine/filter-entries.ts";
import { inverts } from "../engine/plan.ts";
import { waiverOf } from "../engine/protected-names.ts";
import type { Engine } from "../engine/shared-sources.ts";
import type { Host } from "../host/host.ts";
import { RowFinder } from "../kernel/rows.ts";
import { namesOfRow, writtenName } from "../meaning/line.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { type Rule, addEffects, blocksAddresses, noEffects, readRule } from "../meaning/rule.ts";
import {
  type BlockedName,
  NameMatcher,
  NameRules,
  type RowTest,
  type WatchedRule,
} from "../meaning/verdict.ts";
import { type Chunk, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { NEWLY_BLOCKS_FILE } from "../rules/rule-table.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { AllowList, exceptionsFor, takeOut } from "../transformations/allow.ts";
import {
  type Stage,
  type StageContext,
  afterMatching,
  exceptionsAtEnd,
} from "../transformations/stage.ts";
import { prepareForeignNames } from "./min-sources.ts";
import { popularity } from "./popularity.ts";
import { type OwnBlocks, mayBlockHint, protect, validRows } from "./protect.ts";

/** Keeps names reachable that sources would newly block: popular ones, and those of query logs. */
export const newlyBlocked: ListFeature = {
  name: "newly-blocked",
  splitsNames: ({ guards }) => guards?.newly_blocks !== undefined,
  open: (list) => (list.options.compat === true ? undefined : new NewlyBlockedRun(list)),
};

class NewlyBlockedRun implements FeatureRun {
  readonly prepare?: typeof prepareForeignNames;
  private readonly list: ListWork;
  private newly: NewlyBlocked | undefined;
  private traffic: BrokenTraffic | undefined;
  private asked: AskedNames | undefined;
  private learned: readonly string[] = [];

  constructor(list: ListWork) {
    this.list = list;
    if (newlyBlocked.splitsNames!(list.plan.config)) this.prepare = prepareForeignNames;
  }

  /** Without a published list, no blocked name counts as new. */
  async start(published: PublishedRules): Promise<void> {
    const { plan, host, engine, context, isFull } = this.list;
    const { sources } = plan;
    const { names, wanted } = this.list.runOf(popularity)?.watched() ?? { names: [], wanted: [] };
    const asked = published.asked && this.judgedNames(published.asked);
    const watched = [...wanted, ...(asked?.names.keys() ?? [])];
    if (watched.length === 0 || sources.every(({ index }) => isFull(index))) return;
    const { own } = this.list.runOf(protect)!;
    own.add(watched);
    if (published.path === undefined) return;
    const before = await rulesIn(published.path, watched, host, engine);
    const blocked = blockedIn(before);
    const isReachable = (name: string): boolean => blocked.get(name)?.isForAll !== true;
    this.learned = wanted.filter((name) => !isReachable(name));
    // A source that the user just added may block any popular name, and any name of a log.
    const isJudged = (index: number): boolean =>
      !isFull(index) && published.sources?.has(sources[index]!.shown) !== false;
    const terms = { isJudged, own };
    const lately = new Set(published.blockedLately);
    const popular = names.filter((name) => isReachable(name) && !lately.has(name));
    if (popular.length > 0)
      this.newly = new NewlyBlocked({ ...terms, names: popular, before: blocked }, context);
    this.asked = asked;
    if (asked !== undefined)
      this.traffic = new BrokenTraffic(
        {
          ...terms,
          names: new Map([...asked.names].filter(([name]) => isReachable(name))),
          before: (name) => before.matching(name),
          isTooMany: (queries) => asked.excess(queries) !== undefined,
        },
        context,
      );
  }

  /** Without the names that stay reachable in any case, and those that rules may block. */
  private judgedNames(asked: AskedNames): AskedNames {
    const { plan } = this.list;
    const kept = new Set(this.list.runOf(protect)!.names);
    const mayBlock = waiverOf(plan.config.guards?.may_block);
    const names = [...asked.names].filter(
      ([name]) => !kept.has(name) && !this.list.drops(name) && !mayBlock(name),
    );
    return { ...asked, names: new Map(names) };
  }

  stages(): ListStages {
    const { newly, traffic } = this;
    const { list } = this.list.plan;
    const counts = validRows(list.validator);
    return {
      filtered: inverts(list)
        ? []
        : [
            ...stageNamed("newly-blocks", newly?.dropRules(counts)),
            ...stageNamed("breaks-traffic", traffic?.stage(counts)),
          ],
      trusted: stageNamed("newly-blocks", newly?.addExceptions()),
    };
  }

  result(): FeatureResult {
    const { newly, traffic, asked, learned } = this;
    const labels = this.list.plan.sources.map(({ label }) => label);
    const ranks = this.list.runOf(popularity)?.ranks;
    return {
      learned: { blocked: learned },
      diagnostics: [
        ...(newly && ranks ? popularWarnings(newly, ranks, labels) : []),
        ...(traffic && asked ? trafficWarnings(traffic, asked, labels) : []),
      ],
    };
  }
}

/** The rules for names in a published list. */
async function rulesIn(
  path: string,
  names: readonly string[],
  host: Host,
  engine: Engine,
): Promise<NameMatcher> {
  const watch = new NameMatcher(names, new RowFinder(engine.kernel), true);
  await readList(path, (chunk) => watch.take(chunk), host, engine);
  return watch;
}

/** Which of the names it blocks or rewrites, and how. */
function blockedIn(watch: NameMatcher): ReadonlyMap<string, BlockedBefore> {
  return new Map(
    Array.from(watch.blocked(), ({ name, isForAll }) => [
      name,
      { isForAll, rules: new Set(watch.matching(name).map(({ text }) => text)) },
    ]),
  );
}

/** One warning per source whose rules for popular names were dropped. */
function popularWarnings(
  { blocked }: NewlyBlocked,
  ranks: RankedNames,
  labels: readonly string[],
): Diagnostic[] {
  return Array.from(
    Map.groupBy(blocked, ({ source }) => source),
    ([source, all]) => {
      const names = all.map(({ name }) => name);
      const shown = names.map((name) => `${name} (rank ${numberText(ranks.rankOf(name)!)})`);
      const subject = printable(labels[source] ?? "");
      const message = `${subject} would newly block ${countText(names.length, "popular name")}; ${names.length === 1 ? "it stays" : "they stay"} reachable: ${someOf(shown)}`;
      const hint = mayBlockHint("If that is intended", names);
      return warningOf("popular-kept", message, { hint, subject, all: names });
    },
  );
}

/** One for each source. The names stay in the log. */
function trafficWarnings(
  { found }: BrokenTraffic,
  asked: AskedNames,
  labels: readonly string[],
): Diagnostic[] {
  return Array.from(found, ([source, { names, queries }]) => {
    const subject = printable(labels[source] ?? "");
    const message = `${subject} would newly block ${numberText(queries)} of ${countText(asked.queries, "query", "queries")} in the log, for ${countText(names, "name")}; its lines that do so were dropped`;
    const cause = asked.excess(queries);
    const { hint } = GUARD_CODES["breaks-traffic"];
    return warningOf("breaks-traffic", message, { ...(cause && { cause }), hint, subject });
  });
}

type MatchedRule = Pick<WatchedRule, "text"> & Partial<Rule>;

/** A name that a rule would newly block. */
interface NewlyBlockedName {
  readonly name: string;
  /** Index of the source of the rule. */
  readonly source: number;
}

/** How the published list blocks a name. */
interface BlockedBefore {
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
class NewlyBlocked {
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
class BrokenTraffic {
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
