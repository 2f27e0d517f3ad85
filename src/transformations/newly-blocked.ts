import { NameMatcher, type WatchedRule } from "../meaning/name-matcher.ts";
import { addEffects, noEffects } from "../meaning/subtree-effects.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { exceptionsAtEnd } from "./added-rules.ts";
import { AllowList, exceptionsFor, takeOut } from "./allow.ts";
import type { Pass, Stage } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** A name and the rule that blocks it. */
export interface NewlyBlockedName {
  readonly name: string;
  readonly rule: WatchedRule;
  /** Index of the source of the rule. */
  readonly source: number;
}

/** Finds which of some names the list blocks, or keeps them reachable. */
export class NewlyBlocked {
  /** What the list blocks, or would block without `keepReachable`. */
  readonly blocked: NewlyBlockedName[] = [];
  private readonly names: readonly string[];
  private readonly context: StageContext;

  constructor(names: readonly string[], context: StageContext) {
    this.names = names;
    this.context = context;
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
   * subdomains already, and holds all chunks: whether a name is blocked depends on exceptions, too.
   */
  dropRules(): Stage {
    const { finder, pool } = this.context;
    const watch = this.matcher();
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
          if (names.length > 0) takeOut(list, chunk, finder, { fate: Fate.NewlyBlocks });
          pass(chunk);
          pool.cache.done(chunk);
        }
      },
    };
  }

  /** Adds exceptions for names that broader rules block. */
  addExceptions(): Stage {
    const watch = this.matcher();
    return exceptionsAtEnd(watch, this.context, () => {
      this.note(watch);
      const lines: string[] = [];
      for (const { name, isBlocked } of watch.verdicts()) {
        if (!isBlocked) continue;
        const effects = noEffects();
        for (const rule of watch.matching(name)) addEffects(effects, rule);
        lines.push(...exceptionsFor({ name, below: false, self: true }, effects));
      }
      return lines;
    });
  }

  private matcher(): NameMatcher {
    return new NameMatcher(this.names, this.context.finder, true);
  }

  private note(watch: NameMatcher): void {
    const { pool } = this.context;
    const known = new Set(this.blocked.map(({ name }) => name));
    for (const { name, isBlocked, by } of watch.verdicts())
      if (isBlocked && !known.has(name)) {
        const source = pool.origins[pool.chunkOf(by.row).origin]!.source;
        this.blocked.push({ name, rule: by, source });
      }
  }
}
