import { mostFreed } from "../sources/freed-budget.ts";
import { FreedNames } from "../meaning/freed-names.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { textOf } from "../rules/row-text.ts";
import { type Pass, type Stage, exceptionsIn, passWithout } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** The new exceptions of a source that would free too many names. */
export interface OverBudget {
  readonly source: number;
  /** Row numbers in the whole compile. */
  readonly rows: readonly number[];
  readonly freed: readonly string[];
  /** How many other names its new exceptions freed within 30 days. */
  readonly freedBefore: number;
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
