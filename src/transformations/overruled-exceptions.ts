import { FreedNames } from "../meaning/freed-names.ts";
import { NameMatcher } from "../meaning/name-matcher.ts";
import { nameScope } from "../meaning/name-scope.ts";
import { RuleIndex } from "../meaning/rule-index.ts";
import { type Rule, readRule } from "../meaning/rule.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { textOf } from "../rules/row-text.ts";
import { type Pass, type Stage, exceptionsIn, passWithout } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** Who says what. */
export interface OverruleTerms {
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
