import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { countText, numberText, printable, someOf } from "../diagnostics/text.ts";
import type { EngineOptions, PublishedRules } from "../engine/compile-options.ts";
import { type ListFeature, stageNamed } from "../engine/feature.ts";
import type { PlannedSource } from "../engine/plan.ts";
import { findingLocation } from "../engine/report.ts";
import type { SourceReader } from "../engine/source-reader.ts";
import { FreedNames, RuleIndex, nameScope } from "../meaning/rule-index.ts";
import { type Rule, readRule } from "../meaning/rule.ts";
import { NameMatcher } from "../meaning/verdict.ts";
import { type Chunk, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import { mostFreed } from "../sources/ledger.ts";
import {
  type Pass,
  type Stage,
  type StageContext,
  exceptionsIn,
  passWithout,
} from "../transformations/stage.ts";

/** Limits what exceptions of sources below full trust unblock. */
export const exceptions: ListFeature = {
  name: "exceptions",
  open({ plan: { sources }, options, reader, context, isFull }) {
    if (options.compat === true) return undefined;
    let budget: ExceptionBudget | undefined;
    let overruled: OverruledExceptions | undefined;
    return {
      async start(published) {
        budget = await exceptionBudget(
          limitedSources(sources, reader, options),
          published,
          context,
        );
        // The user asked for the exceptions of a source with InvertAllow.
        const isWeak = (index: number): boolean => !isFull(index) && !sources[index]!.isInverted;
        const levels = new Set(sources.map(({ index }) => isFull(index)));
        if (levels.size > 1)
          overruled = new OverruledExceptions({ isOwn: isFull, isJudged: isWeak }, context);
      },
      stages: () => ({
        trusted: [...stageNamed("exceptions", overruled), ...stageNamed("exceptions", budget)],
      }),
      result: () => {
        if (budget === undefined) return {};
        const labels = sources.map(({ label }) => label);
        const freed = budget.within.map(({ source, names }) => ({
          source: sources[source]!.shown,
          names,
        }));
        return {
          learned: { freed },
          diagnostics: budgetWarnings(budget, labels, context.pool),
        };
      },
    };
  },
};

/** The sources whose new exceptions are limited. Less trusted sources have no exceptions; more trusted ones have no limit. */
function limitedSources(
  sources: readonly PlannedSource[],
  reader: SourceReader,
  { accept = [], compat }: EngineOptions,
): readonly PlannedSource[] {
  if (compat === true || accept.includes("new-exceptions")) return [];
  return sources.filter((source) => reader.trustOf(source).level === "standard");
}

/** The stage that limits new exceptions; undefined if no exception can be new. */
async function exceptionBudget(
  limited: readonly PlannedSource[],
  { exceptions: read, sources, freed = [] }: PublishedRules,
  context: StageContext,
): Promise<ExceptionBudget | undefined> {
  // A source that the user just added has only new exceptions, and they are intended.
  const judged = new Map(
    limited.filter(({ shown }) => sources?.has(shown)).map(({ index, shown }) => [index, shown]),
  );
  const known = judged.size === 0 ? undefined : await read?.();
  if (known === undefined) return undefined;
  const terms = {
    known,
    isJudged: (source: number) => judged.has(source),
    freedBefore: (source: number) =>
      new Set(freed.flatMap((one) => (one.source === judged.get(source) ? one.names : []))),
  };
  return new ExceptionBudget(terms, context);
}

/** One warning per source over its budget. */
function budgetWarnings(
  { over }: ExceptionBudget,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return over.map(({ source, rows, freed, freedBefore }) => {
    const count = countText(rows.length, "new exception");
    const subject = printable(labels[source] ?? "");
    const after =
      freedBefore === 0 ? "" : `, after ${numberText(freedBefore)} others within 30 days`;
    const message = `${subject} has ${count}, which would unblock ${countText(freed.length, "name")} that only other sources block${after}; all of them were dropped: ${someOf(freed)}`;
    const hint =
      "If they are intended, publish once with --accept new-exceptions, or set trust: full on the source";
    const at = findingLocation({ row: rows[0]! }, pool);
    return warningOf("new-exceptions", message, { ...(at && { at }), subject, all: freed, hint });
  });
}

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
class ExceptionBudget implements Stage {
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
class OverruledExceptions implements Stage {
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
