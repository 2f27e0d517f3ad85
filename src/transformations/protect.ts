import { writtenName } from "../meaning/line.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { type Rule, addEffects, blocksAddresses, noEffects, readRule } from "../meaning/rule.ts";
import { NameMatcher, NameRules, type WatchedRule, isForHost } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { AllowList, exceptionsFor, takeOut } from "./allow.ts";
import type { OwnBlocks } from "./exception-budget.ts";
import { type Stage, type StageContext, eachChunk, exceptionsAtEnd } from "./stage.ts";

/** A protected name that the list blocks because a fully trusted source does. */
export interface BlockedName {
  readonly name: string;
  readonly rule: WatchedRule;
  /** Whether the rule is for this name only. */
  readonly isForName: boolean;
}

/** Names that a source below full trust blocks, or tried to block. */
export interface ProtectedUse {
  /** Its rules for these names were dropped. */
  readonly dropped: Set<string>;
  /** Its broader rules stay; exceptions keep these names reachable. */
  readonly excepted: Set<string>;
  /** Names that people need, with the first rule for each. */
  readonly household: Map<string, WatchedRule>;
  /** Names that people need and that it may block. */
  readonly accepted: Set<string>;
}

/** Names that people need. Sources below full trust must not block them. */
export interface Household {
  readonly kinds: ReadonlyMap<string, string>;
  /** Whether a source may block names of a kind. */
  accepts(source: number, kind: string): boolean;
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
  private readonly household: Household;
  /** One for all sources: there are thousands of names. */
  private list: AllowList | undefined;
  private patterns: NameRules | undefined;
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
    this.context = context;
    this.isTrusted = isTrusted;
    this.own = own;
  }

  /** Protected names that the list does not block. */
  get reachable(): string[] {
    const blocked = new Set(this.blocked.map(({ name }) => name));
    return this.names.filter((name) => !blocked.has(name));
  }

  /** Drops the rules of a source for protected names, and patterns and expressions that match one. */
  sourceStage(source: number): Stage {
    const { finder } = this.context;
    const { kinds } = this.household;
    const names = [...this.names, ...kinds.keys()];
    this.list ??= new AllowList(names.map((name) => ({ name, below: false, self: true })));
    this.patterns ??= new NameRules(names, true);
    const { list, patterns } = this;
    return eachChunk((chunk) => {
      takeOut(list, chunk, finder, {
        fate: ({ entry }) => (kinds.has(entry.name) ? Fate.Household : Fate.Protected),
        spares: ({ entry: { name } }, from, row) => {
          if (!kinds.has(name)) return false;
          // A rule for other questions, or only for browsers, leaves the name reachable.
          return !blocksName(from, row) || this.accepts(source, name);
        },
        note: ({ entry }, from, row) =>
          this.note(source, entry.name, { text: textOf(from, row), row: from.idOf(row) }),
      });
      this.dropPatterns(chunk, patterns, source);
    });
  }

  private dropPatterns(chunk: Chunk, patterns: NameRules, source: number): void {
    for (const row of this.context.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule || isForHost(chunk, row)) continue;
      if (chunk.fate[row] !== Fate.Kept || (chunk.flags[row]! & Flag.Allow) !== 0) continue;
      const text = textOf(chunk, row).trim();
      const { rule, names = [] } = patterns.read(text) ?? {};
      if (!blocksAddresses(rule)) continue;
      const needed = names.filter((name) => !this.accepts(source, name));
      if (needed.length === 0) continue;
      for (const name of needed) this.note(source, name, { text, row: chunk.idOf(row) });
      const isHousehold = needed.some((name) => this.household.kinds.has(name));
      chunk.drop(row, isHousehold ? Fate.Household : Fate.Protected);
    }
  }

  /** Whether a source may block a name. */
  private accepts(source: number, name: string): boolean {
    const kind = this.household.kinds.get(name);
    if (kind === undefined || !this.household.accepts(source, kind)) return false;
    this.useOf(source).accepted.add(name);
    return true;
  }

  private note(source: number, name: string, rule: WatchedRule): void {
    const { dropped, household } = this.useOf(source);
    if (!this.household.kinds.has(name)) dropped.add(name);
    else if (!household.has(name)) household.set(name, rule);
  }

  /** Checks the whole list and adds exceptions at its end. */
  listStage(): Stage {
    const names = [...this.names, ...this.household.kinds.keys()];
    const watch = new NameMatcher(names, this.context.finder, true);
    return exceptionsAtEnd(watch, this.context, () => [
      ...this.exceptions(watch),
      ...this.householdExceptions(watch),
    ]);
  }

  private exceptions(watch: NameMatcher): string[] {
    const lines: string[] = [];
    for (const { name, isBlocked } of watch.verdicts()) {
      if (!isBlocked || this.household.kinds.has(name)) continue;
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
      for (const { row } of rules) this.useOf(this.sourceOf(row)).excepted.add(name);
      lines.push(...this.exceptionsTo(rules, name));
    }
    return lines;
  }

  /** Exceptions for names that people need and that broader rules of sources below full trust block. */
  private householdExceptions(watch: NameMatcher): string[] {
    const lines: string[] = [];
    const blocked = new Set<string>();
    for (const { name } of watch.blocked()) {
      blocked.add(name);
      const kind = this.household.kinds.get(name);
      if (kind === undefined) continue;
      const rules = watch
        .matching(name)
        .filter(blocksAddresses)
        .map((rule) => ({ rule, source: this.sourceOf(rule.row) }));
      const isAccepted = rules.some(({ source }) => this.household.accepts(source, kind));
      const isOwn =
        this.own.blocksForAll(name) ||
        rules.some(({ rule, source }) => this.isTrusted(source) && rule.isForSome !== true);
      if (isAccepted || isOwn) {
        // The list blocks it, so no warning may call it reachable.
        for (const { household } of this.uses.values()) household.delete(name);
        continue;
      }
      const others = rules.filter(({ source }) => !this.isTrusted(source));
      for (const { rule, source } of others) this.note(source, name, rule);
      const lesser = others.map(({ rule }) => rule);
      lines.push(...this.exceptionsTo(lesser, name));
    }
    for (const { accepted } of this.uses.values())
      for (const name of accepted) if (!blocked.has(name)) accepted.delete(name);
    return lines;
  }

  /** Exceptions to rules for one name, and what fully trusted sources say about it nevertheless. */
  private exceptionsTo(rules: readonly (Partial<Rule> & WatchedRule)[], name: string): string[] {
    const effects = noEffects();
    for (const rule of rules) addEffects(effects, rule);
    const lines = exceptionsFor({ name, below: false, self: true }, effects);
    return [...lines, ...this.own.strengthened(name)];
  }

  private useOf(source: number): ProtectedUse {
    const known = this.uses.get(source);
    if (known !== undefined) return known;
    const sets = { dropped: new Set<string>(), excepted: new Set<string>() };
    const use = { ...sets, household: new Map(), accepted: new Set<string>() };
    this.uses.set(source, use);
    return use;
  }

  private sourceOf(row: number): number {
    const { pool } = this.context;
    return pool.sourceOf(pool.chunkOf(row));
  }
}

/** Whether a row for one name blocks it. */
function blocksName(chunk: Chunk, row: number): boolean {
  if (chunk.kind[row] !== Kind.Rule) return true;
  const text = textOf(chunk, row).trim();
  return writtenName(text) !== undefined || blocksAddresses(readRule(text));
}

function isForName(rule: Partial<Rule> & WatchedRule, name: string): boolean {
  if (rule.pattern === undefined) return rule.name === name;
  return nameScope(rule.pattern)?.name === name;
}
