import { type BlockedName, NameMatcher, type WatchedRule } from "../meaning/name-matcher.ts";
import { type Rule, readRule } from "../meaning/rule.ts";
import { addEffects, noEffects } from "../meaning/subtree-effects.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { NEWLY_BLOCKS_FILE } from "../rules/rule-table.ts";
import { textOf } from "../rules/row-text.ts";
import { judgeBlockRow } from "../syntax/judge-row.ts";
import { type ValidatorOptions, judgeRule } from "../syntax/validate-rule.ts";
import { exceptionsAtEnd } from "./added-rules.ts";
import { AllowList, exceptionsFor, takeOut } from "./allow.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

type MatchedRule = Pick<WatchedRule, "text"> & Partial<Rule>;

/** A name and the rule that blocks it. */
export interface NewlyBlockedName {
  readonly name: string;
  readonly rule: WatchedRule;
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

/** Finds which of some names the list newly blocks, or keeps them reachable. */
export class NewlyBlocked {
  /** What the list blocks, or would block without `keepReachable`. */
  readonly blocked: NewlyBlockedName[] = [];
  private readonly names: readonly string[];
  private readonly before: ReadonlyMap<string, BlockedBefore>;
  private readonly context: StageContext;
  private readonly validator: ValidatorOptions | undefined;

  /** `before` is what the published list blocks. `validator` judges the rules of the list later. */
  constructor(
    names: readonly string[],
    before: ReadonlyMap<string, BlockedBefore>,
    context: StageContext,
    validator: ValidatorOptions | undefined,
  ) {
    this.names = names;
    this.before = before;
    this.context = context;
    this.validator = validator;
  }

  /** Looks at the finished list. */
  watch(): Stage {
    const watch = this.matcher();
    return {
      push: (chunk: Chunk, pass: Pass) => {
        watch.take(chunk);
        pass(chunk);
      },
      end: () => this.note(watch),
    };
  }

  /**
   * Drops rules for the names that the list would block. It comes before Compress, which would otherwise have dropped the rules for
   * subdomains already, and holds all chunks: whether a name is blocked depends on exceptions, too. Rules that the validator will
   * drop do not count. If it keeps one of them because a transformation changes it before, the name gets an exception.
   */
  dropRules(): Stage {
    const { finder, pool } = this.context;
    const { validator } = this;
    const watch = this.matcher(validator && ((chunk, row) => isValid(chunk, row, validator)));
    const held: Chunk[] = [];
    return {
      push: (chunk: Chunk) => {
        watch.take(chunk);
        held.push(chunk);
      },
      end: (pass: Pass) => {
        this.note(watch);
        const names = this.blocked.map(({ name }) => ({ name, below: false, self: true }));
        const list = new AllowList(names);
        for (const chunk of held.splice(0)) {
          pool.cache.use(chunk);
          if (names.length > 0)
            takeOut(list, chunk, finder, {
              fate: Fate.NewlyBlocks,
              spares: ({ entry }, text) => !this.isNewRule(entry.name, { text, ...readRule(text) }),
            });
          pass(chunk);
          pool.cache.done(chunk);
        }
      },
    };
  }

  /** Adds exceptions for names that broader rules block. */
  addExceptions(): Stage {
    const watch = this.matcher();
    const exceptions = (): string[] => {
      this.note(watch);
      const lines: string[] = [];
      for (const { name } of this.newlyIn(watch)) {
        const effects = noEffects();
        for (const rule of watch.matching(name)) addEffects(effects, rule);
        lines.push(...exceptionsFor({ name, below: false, self: true }, effects));
      }
      return lines;
    };
    return exceptionsAtEnd(watch, this.context, exceptions, NEWLY_BLOCKS_FILE);
  }

  private matcher(counts?: (chunk: Chunk, row: number) => boolean): NameMatcher {
    return new NameMatcher(this.names, this.context.finder, true, counts);
  }

  private note(watch: NameMatcher): void {
    const { pool } = this.context;
    const known = new Set(this.blocked.map(({ name }) => name));
    for (const { name, by } of this.newlyIn(watch))
      if (!known.has(name)) {
        const source = pool.origins[pool.chunkOf(by.row).origin]!.source;
        this.blocked.push({ name, rule: by, source });
      }
  }

  /** A name that the published list blocks for some clients or types of questions is new only if another rule blocks it. */
  private *newlyIn(watch: NameMatcher): Generator<BlockedName> {
    for (const one of watch.blocked())
      if (
        !this.before.has(one.name) ||
        watch.matching(one.name).some((rule) => this.isNewRule(one.name, rule))
      )
        yield one;
  }

  /** Whether the published list does not have a rule that keeps a client from getting an address. */
  private isNewRule(name: string, { text, isAllow, addressTypes }: MatchedRule): boolean {
    if (isAllow === true || addressTypes?.length === 0) return false;
    return this.before.get(name)?.rules.has(text) !== true;
  }
}

function isValid(chunk: Chunk, row: number, validator: ValidatorOptions): boolean {
  // Names in other letters may be converted before they are validated.
  if ((chunk.flags[row]! & Flag.NonAscii) !== 0) return true;
  const fate =
    chunk.kind[row] === Kind.Rule
      ? judgeRule(textOf(chunk, row).trim(), validator)
      : judgeBlockRow(chunk, row, validator);
  return fate === Fate.Kept;
}
