import { NameMatcher, type WatchedRule, isForHost } from "../meaning/name-matcher.ts";
import { NameRules } from "../meaning/name-rules.ts";
import { nameScope } from "../meaning/name-scope.ts";
import { type Rule, readRule } from "../meaning/rule.ts";
import { addEffects, noEffects } from "../meaning/subtree-effects.ts";
import type { Chunk } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { Flag, Kind } from "../rules/kind.ts";
import { textOf } from "../rules/row-text.ts";
import { exceptionsAtEnd } from "./added-rules.ts";
import { AllowList, type AllowUse, exceptionsFor, takeOut } from "./allow.ts";
import type { OwnBlocks } from "./own-blocks.ts";
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
  /** Names that people need, with the first rule for each. */
  readonly household: Map<string, WatchedRule>;
}

/** Names that people need, and that sources below full trust must not newly block. */
export interface Household {
  readonly essential: readonly string[];
  /** Sources that are new to the list may block these. */
  readonly optional: readonly string[];
  isNewSource(source: number): boolean;
}

/**
 * Names that must stay reachable. For sources below full trust, it drops rules for such a name and adds exceptions to broader
 * rules. For fully trusted sources, it only reports what they block.
 */
export class Protection {
  readonly blocked: BlockedName[] = [];
  /** By the index of the source. */
  readonly uses: Map<number, ProtectedUse> = new Map();
  /** Names that people need and that new sources block; no one else blocks them. */
  readonly accepted: Set<string> = new Set();
  private readonly names: readonly string[];
  private readonly household: Household;
  private readonly optional: ReadonlySet<string>;
  private readonly householdNames: ReadonlySet<string>;
  private readonly context: StageContext;
  private readonly isTrusted: (source: number) => boolean;
  private readonly own: OwnBlocks;

  constructor(
    names: readonly string[],
    household: Household,
    context: StageContext,
    { isTrusted, own }: { isTrusted: (source: number) => boolean; own: OwnBlocks },
  ) {
    this.names = [...new Set(names)];
    this.household = household;
    this.optional = new Set(household.optional);
    this.householdNames = new Set([...household.essential, ...household.optional]);
    this.context = context;
    this.isTrusted = isTrusted;
    this.own = own;
  }

  /** Protected names that the list does not block. */
  get reachable(): string[] {
    const blocked = new Set(this.blocked.map(({ name }) => name));
    return this.names.filter((name) => !blocked.has(name));
  }

  /** Drops the rules of a source for protected names. */
  sourceStage(source: number): Stage {
    const { finder } = this.context;
    const { essential, optional } = this.household;
    const more = this.household.isNewSource(source) ? [] : optional;
    const names = [...this.names, ...essential, ...more];
    const list = new AllowList(names.map((name) => ({ name, below: false, self: true })));
    const isHousehold = ({ entry }: AllowUse): boolean => this.householdNames.has(entry.name);
    const patterns = new NameRules([...essential, ...more], true);
    return eachChunk((chunk) => {
      takeOut(list, chunk, finder, {
        fate: (use) => (isHousehold(use) ? Fate.Household : Fate.Protected),
        // A rule for other questions, or only for browsers, leaves the name reachable.
        spares: (use, text) =>
          isHousehold(use) && (readRule(text)?.addressTypes ?? []).length === 0,
        note: (use, from, row) => {
          const { name } = use.entry;
          const { dropped, household } = this.useOf(source);
          if (!isHousehold(use)) dropped.add(name);
          else if (!household.has(name))
            household.set(name, { text: textOf(from, row), row: from.idOf(row) });
        },
      });
      this.dropPatterns(chunk, patterns, source);
    });
  }

  /** Drops patterns and expressions that block a name that people need. */
  private dropPatterns(chunk: Chunk, patterns: NameRules, source: number): void {
    for (const row of this.context.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule || isForHost(chunk, row)) continue;
      if (chunk.fate[row] !== Fate.Kept || (chunk.flags[row]! & Flag.Allow) !== 0) continue;
      const text = textOf(chunk, row).trim();
      const { rule, names = [] } = patterns.read(text) ?? {};
      if (rule === undefined || rule.addressTypes.length === 0) continue;
      const { household } = this.useOf(source);
      for (const name of names)
        if (!household.has(name)) household.set(name, { text, row: chunk.idOf(row) });
      chunk.drop(row, Fate.Household);
    }
  }

  /** Checks the whole list and adds exceptions at its end. */
  listStage(): Stage {
    const names = [...this.names, ...this.householdNames];
    const watch = new NameMatcher(names, this.context.finder, true);
    return exceptionsAtEnd(watch, this.context, () => [
      ...this.exceptions(watch),
      ...this.householdExceptions(watch),
    ]);
  }

  private exceptions(watch: NameMatcher): string[] {
    const lines: string[] = [];
    for (const { name, isBlocked } of watch.verdicts()) {
      if (!isBlocked || this.householdNames.has(name)) continue;
      const isOwn = ({ row }: WatchedRule): boolean => this.isTrusted(this.sourceOf(row));
      const rules = watch
        .matching(name)
        .filter((rule) => rule.isAllow !== true && !(rule.isForSome === true && isOwn(rule)));
      if (rules.length === 0) continue;
      // Compress may have dropped it for a broader rule of another source.
      const owned = this.own.blockOf(name);
      const own = rules.find(isOwn) ?? (owned?.isForAll === true ? owned.by : undefined);
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
      lines.push(...this.own.strengthened(name));
    }
    return lines;
  }

  /** Exceptions for names that people need and that broader rules of sources below full trust block. */
  private householdExceptions(watch: NameMatcher): string[] {
    const lines: string[] = [];
    for (const { name } of watch.blocked()) {
      if (!this.householdNames.has(name)) continue;
      const effects = noEffects();
      const rules = watch
        .matching(name)
        .filter((rule) => rule.isAllow !== true && rule.addressTypes?.length !== 0);
      const sources = rules.map(({ row }) => this.sourceOf(row));
      const isAccepted =
        this.optional.has(name) && sources.some((one) => this.household.isNewSource(one));
      const isOwn =
        this.own.blocksForAll(name) ||
        sources.some((source, index) => this.isTrusted(source) && rules[index]!.isForSome !== true);
      if (isAccepted && !isOwn) this.accepted.add(name);
      if (isAccepted || isOwn) {
        // The list blocks it, so no warning may call it reachable.
        for (const { household } of this.uses.values()) household.delete(name);
        continue;
      }
      for (const [index, rule] of rules.entries()) {
        if (this.isTrusted(sources[index]!)) continue;
        addEffects(effects, rule);
        const { household } = this.useOf(sources[index]!);
        if (!household.has(name)) household.set(name, rule);
      }
      lines.push(...exceptionsFor({ name, below: false, self: true }, effects));
      lines.push(...this.own.strengthened(name));
    }
    return lines;
  }

  private useOf(source: number): ProtectedUse {
    let use = this.uses.get(source);
    if (use === undefined)
      this.uses.set(
        source,
        (use = { dropped: new Set(), excepted: new Set(), household: new Map() }),
      );
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
