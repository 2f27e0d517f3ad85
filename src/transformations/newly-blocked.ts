import {
  type BlockedName,
  NameMatcher,
  type RowTest,
  type WatchedRule,
} from "../meaning/name-matcher.ts";
import { type Rule, blocksAddresses, readRule } from "../meaning/rule.ts";
import { addEffects, noEffects } from "../meaning/subtree-effects.ts";
import { Fate } from "../rules/fate.ts";
import { Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { NEWLY_BLOCKS_FILE } from "../rules/rule-table.ts";
import { exceptionsAtEnd } from "./added-rules.ts";
import { AllowList, exceptionsFor, takeOut } from "./allow.ts";
import type { OwnBlocks } from "./own-blocks.ts";
import { type Stage, afterMatching } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

type MatchedRule = Pick<WatchedRule, "text"> & Partial<Rule>;

/** A name that a rule would newly block. */
export interface NewlyBlockedName {
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
export interface NewlyTerms {
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
