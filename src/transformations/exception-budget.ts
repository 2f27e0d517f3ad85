import { FreedNames } from "../meaning/freed-names.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** Budget per source for the new exceptions of 30 days: this many freed names, or this share of the names of the other sources. */
const LEAST = 20;
const PART = 0.001;

/** The new exceptions of a source that would free too many names. */
export interface OverBudget {
  readonly source: number;
  /** Row numbers in the whole compile. */
  readonly rows: readonly number[];
  readonly freed: readonly string[];
  /** How many other names its new exceptions freed within 30 days. */
  readonly freedBefore: number;
}

/** Names that the new exceptions of a source free. */
export interface FreedBySource {
  readonly source: number;
  readonly names: readonly string[];
}

export interface BudgetTerms {
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
  readonly within: FreedBySource[] = [];
  private readonly terms: BudgetTerms;
  private readonly context: StageContext;
  private readonly fresh = new Map<number, number[]>();
  private readonly seen: Chunk[] = [];
  private held: Chunk[] = [];
  private readonly names = new FreedNames();

  constructor(terms: BudgetTerms, context: StageContext) {
    this.terms = terms;
    this.context = context;
  }

  push(chunk: Chunk, pass: Pass): void {
    this.seen.push(chunk);
    const source = this.sourceOf(chunk);
    if (this.terms.isJudged(source)) this.look(chunk, source);
    if (this.fresh.size === 0) pass(chunk);
    else this.held.push(chunk);
  }

  end(pass: Pass): void {
    const { cache } = this.context.pool;
    if (this.fresh.size > 0) this.judge();
    const dropped = new Set(this.over.flatMap(({ rows }) => rows));
    const sources = new Set(this.over.map(({ source }) => source));
    for (const chunk of this.held) {
      cache.use(chunk);
      if (sources.has(this.sourceOf(chunk)))
        for (let row = 0; row < chunk.length; row++)
          if (dropped.has(chunk.idOf(row))) chunk.drop(row, Fate.OverBudget);
      pass(chunk);
      cache.done(chunk);
    }
    this.held = [];
  }

  private look(chunk: Chunk, source: number): void {
    for (const row of this.context.finder.special(chunk)) {
      const flags = chunk.flags[row]! & (Flag.Allow | Flag.Generated);
      if (chunk.kind[row] !== Kind.Rule || flags !== Flag.Allow) continue;
      const text = textOf(chunk, row);
      if (this.terms.known.has(text)) continue;
      this.names.add(source, text);
      const rows = this.fresh.get(source);
      if (rows === undefined) this.fresh.set(source, [chunk.idOf(row)]);
      else rows.push(chunk.idOf(row));
    }
  }

  private judge(): void {
    const { cache } = this.context.pool;
    for (const chunk of this.seen) {
      cache.use(chunk);
      this.names.take(chunk, this.sourceOf(chunk));
      cache.done(chunk);
    }
    for (const { source, freed, names } of this.names.results()) {
      // Names that were freed before count once, so that many small steps are one.
      const before = this.terms.freedBefore(source);
      const freedBefore = before.size - freed.filter((name) => before.has(name)).length;
      if (freed.length + freedBefore > Math.max(LEAST, names * PART))
        this.over.push({ source, rows: this.fresh.get(source)!, freed, freedBefore });
      else if (freed.length > 0) this.within.push({ source, names: freed });
    }
  }

  private sourceOf({ origin }: Chunk): number {
    return this.context.pool.origins[origin]!.source;
  }
}
