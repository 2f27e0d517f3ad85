import { NameMatcher, type WatchedRule } from "../meaning/name-matcher.ts";
import { nameScope } from "../meaning/name-scope.ts";
import type { Rule } from "../meaning/rule.ts";
import { addEffects, noEffects } from "../meaning/subtree-effects.ts";
import { Fate } from "../rules/fate.ts";
import { exceptionsAtEnd } from "./added-rules.ts";
import { AllowList, exceptionsFor, takeOut } from "./allow.ts";
import { type Stage, eachChunk } from "./stage.ts";
import type { StageContext } from "./stage-context.ts";

/** A protected name that the list blocks because a fully trusted source does. */
export interface BlockedName {
  readonly name: string;
  readonly rule: WatchedRule;
  /** Whether the rule is for this name only. */
  readonly isForName: boolean;
}

/** Names that a source below full trust tried to block. */
export interface ProtectedUse {
  /** Its rules for these names were dropped. */
  readonly dropped: Set<string>;
  /** Its broader rules stay; exceptions keep these names reachable. */
  readonly excepted: Set<string>;
}

/**
 * Names that must stay reachable. For sources below full trust, it drops rules for such a name and adds exceptions to broader
 * rules. For fully trusted sources, it only reports what they block.
 */
export class Protection {
  readonly blocked: BlockedName[] = [];
  /** By the index of the source. */
  readonly uses: Map<number, ProtectedUse> = new Map();
  private readonly names: readonly string[];
  private readonly list: AllowList;
  private readonly context: StageContext;
  private readonly isTrusted: (source: number) => boolean;

  constructor(
    names: readonly string[],
    context: StageContext,
    isTrusted: (source: number) => boolean,
  ) {
    this.names = [...new Set(names)];
    this.list = new AllowList(this.names.map((name) => ({ name, below: false, self: true })));
    this.context = context;
    this.isTrusted = isTrusted;
  }

  /** Protected names that the list does not block. */
  get reachable(): string[] {
    const blocked = new Set(this.blocked.map(({ name }) => name));
    return this.names.filter((name) => !blocked.has(name));
  }

  /** Drops the rules of a source for protected names. */
  sourceStage(source: number): Stage {
    const { finder } = this.context;
    return eachChunk((chunk) => {
      takeOut(this.list, chunk, finder, {
        fate: Fate.Protected,
        note: ({ entry }) => this.useOf(source).dropped.add(entry.name),
      });
    });
  }

  /** Checks the whole list and adds exceptions at its end. */
  listStage(): Stage {
    const watch = new NameMatcher(this.names, this.context.finder, true);
    return exceptionsAtEnd(watch, this.context, () => this.exceptions(watch));
  }

  private exceptions(watch: NameMatcher): string[] {
    const lines: string[] = [];
    for (const { name, isBlocked } of watch.verdicts()) {
      if (!isBlocked) continue;
      const isOwn = ({ row }: WatchedRule): boolean => this.isTrusted(this.sourceOf(row));
      const rules = watch
        .matching(name)
        .filter((rule) => rule.isAllow !== true && !(rule.isForSome === true && isOwn(rule)));
      if (rules.length === 0) continue;
      const own = rules.find(isOwn);
      if (own !== undefined) {
        this.blocked.push({ name, rule: own, isForName: isForName(own, name) });
        continue;
      }
      const effects = noEffects();
      for (const rule of rules) {
        addEffects(effects, rule);
        this.useOf(this.sourceOf(rule.row)).excepted.add(name);
      }
      lines.push(...exceptionsFor({ name, below: false, self: true }, effects));
    }
    return lines;
  }

  private useOf(source: number): ProtectedUse {
    let use = this.uses.get(source);
    if (use === undefined)
      this.uses.set(source, (use = { dropped: new Set(), excepted: new Set() }));
    return use;
  }

  private sourceOf(row: number): number {
    const { pool } = this.context;
    return pool.origins[pool.chunkOf(row).origin]!.source;
  }
}

function isForName(rule: Partial<Rule> & WatchedRule, name: string): boolean {
  if (rule.pattern === undefined) return rule.name === name;
  return nameScope(rule.pattern)?.name === name;
}
