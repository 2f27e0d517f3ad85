import { hashText } from "../bytes/hash.ts";
import { decisionRule, isDecisions } from "../config/decisions.ts";
import type { Decision, DecisionUse } from "../documents/facts.ts";
import type { FeatureRun, ListFeature } from "../engine/feature.ts";
import { HashFilter } from "../kernel/rows.ts";
import { nameScope } from "../meaning/rule-index.ts";
import {
  type Rule,
  SubtreeEffects,
  addEffects,
  cancelledKey,
  isBelow,
  readRule,
} from "../meaning/rule.ts";
import { isForHost } from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, rewriteText, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import { formatAdblockRule, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { classifyAgain } from "../syntax/classify.ts";
import type { AllowEntry } from "../syntax/written-names.ts";
import { AllowEffects, AllowList, exceptionsFor, takeOut } from "../transformations/allow.ts";
import {
  type Pass,
  type Stage,
  type StageContext,
  addExceptions,
} from "../transformations/stage.ts";

/**
 * What the user decided about names wins over every source. The rows of decisions skip all filters and transformations: they wait until the list is
 * finished, and become the weakest rules that decide.
 */
export const decisions: ListFeature = {
  name: "decisions",
  open({ plan, context }): FeatureRun | undefined {
    const source = plan.sources.find(isDecisions);
    if (source === undefined) return undefined;
    const all = plan.decisions.map((decision) => new Decided(decision));
    // A rule for the name and all below it must stay if only the name is allowed.
    const freed = new AllowList(
      all.flatMap(({ isAllow, entry }) => (isAllow && entry.below ? [entry] : [])),
    );
    const held: Chunk[] = [];
    const last = new DecisionStage(all, { held, freed }, context);
    const isDecision = (chunk: Chunk): boolean => context.pool.sourceOf(chunk) === source.index;
    const first: Stage = {
      push(chunk, pass) {
        if (isDecision(chunk) && !isBanner(chunk)) held.push(chunk);
        else pass(chunk);
      },
      end() {},
    };
    return {
      stages: () => ({
        arrived: [{ name: "decisions", stage: first }],
        last: [{ name: "decisions", stage: last }],
      }),
      result() {
        for (const { entry, removed } of freed.uses)
          for (const one of all) if (one.isAllow && one.entry === entry) one.removed += removed;
        // The rules of decisions were not compared with the others.
        const isAdded = all.some(({ isAllow }) => !isAllow);
        return {
          report: { decisions: all.map((one) => one.use) },
          ...(isAdded && { shape: { isMinimal: false, hasSureCovers: false } }),
        };
      },
    };
  },
};

function isBanner(chunk: Chunk): boolean {
  return chunk.length > 0 && (chunk.flags[0]! & Flag.Banner) !== 0;
}

/** A decision in a list. */
class Decided {
  readonly isAllow: boolean;
  readonly entry: AllowEntry;
  /** The rule that its line is read as. */
  readonly line: string;
  removed = 0;
  /** Its rules in the list. The first one takes the place of its line. */
  rules: string[] = [];
  private readonly decision: Decision;

  constructor(decision: Decision) {
    this.decision = decision;
    this.isAllow = decision.verdict === "allow";
    this.entry = { name: decision.name, below: !decision.exact, self: true };
    this.line = decisionRule(decision);
  }

  get use(): DecisionUse {
    const [rule] = this.rules;
    return { ...this.decision, removed: this.removed, ...(rule !== undefined && { rule }) };
  }

  /** Whether all names of a scope are decided by it, unless another decision is about fewer names. */
  contains({ name, below, self }: AllowEntry): boolean {
    if (this.entry.below) return isBelow(name, this.entry.name);
    return name === this.entry.name && self && !below;
  }

  /** Whether a rule may match a name that it is about. */
  mayMeet(rule: Rule): boolean {
    const { name, below } = this.entry;
    if (!below) return rule.matches(name);
    if (rule.denied.some((parent) => isBelow(name, parent))) return false;
    const scope = nameScope(rule.pattern);
    if (scope !== undefined)
      return isBelow(scope.name, name) || (scope.below && isBelow(name, scope.name));
    const patterns = new SubtreeEffects();
    patterns.add({ ...rule, isAllow: false, rewrite: undefined });
    return patterns.over(name).blocks;
  }
}

/** Makes the decisions true in a finished list, and adds their rules to its end. */
class DecisionStage implements Stage {
  private readonly all: readonly Decided[];
  private readonly blocks: readonly Decided[];
  private readonly held: Chunk[];
  private readonly freed: AllowList;
  private readonly context: StageContext;
  private readonly effects: AllowEffects | undefined;
  /** Rules of the list that would cancel the rule of a decision. */
  private readonly keys: ReadonlySet<string>;
  /** Exceptions and rewrites of the list that meet the names of a blocking decision. */
  private readonly names = new HashFilter();
  private readonly met = new Map<Decided, Rule[]>();
  private readonly more = new Set<string>();
  private readonly waiting: Chunk[] = [];
  /** Keys of rules that `$badfilter` rules of the list cancel. */
  private readonly cancelled = new Set<string>();
  private origin = 0;

  constructor(
    all: readonly Decided[],
    { held, freed }: { readonly held: Chunk[]; readonly freed: AllowList },
    context: StageContext,
  ) {
    // Decisions about more names come first.
    this.all = all.toSorted(
      ({ entry: one }, { entry: other }) =>
        one.name.split(".").length - other.name.split(".").length ||
        Number(other.below) - Number(one.below),
    );
    this.blocks = this.all.filter(({ isAllow }) => !isAllow);
    for (const { entry } of this.blocks) this.names.add(hashText(entry.name));
    this.held = held;
    this.freed = freed;
    this.context = context;
    const allows = all.flatMap(({ isAllow, entry }) => (isAllow ? [entry] : []));
    this.effects = allows.length === 0 ? undefined : new AllowEffects(allows, context.finder);
    this.keys = new Set(all.flatMap(({ line }) => [line, `${line}$important`]));
  }

  /** Earlier stages look at chunks again when all have passed: until then, no row may change. */
  push(chunk: Chunk): void {
    this.waiting.push(chunk);
    for (const row of this.context.finder.special(chunk)) {
      if (chunk.kind[row] !== Kind.Rule) continue;
      const key = cancelledKey(textOf(chunk, row).trim());
      if (key !== undefined) this.cancelled.add(key);
    }
  }

  private decide(chunk: Chunk): void {
    this.origin = chunk.origin;
    const { finder } = this.context;
    if (!this.freed.isEmpty) takeOut(this.freed, chunk, finder, { fate: Fate.Decided });
    for (const row of finder.special(chunk)) this.judge(chunk, row);
    for (const row of finder.hashed(chunk, this.names))
      if (this.isSame(chunk, row)) chunk.drop(row, Fate.Decided);
    this.effects?.take(chunk);
  }

  /** Whether a row is `||name^` for a name that a decision blocks with all below it. */
  private isSame(chunk: Chunk, row: number): boolean {
    if (chunk.kind[row] !== Kind.Block) return false;
    const text = textOf(chunk, row);
    const found = this.blocks.find(({ line }) => line === text);
    if (found !== undefined) found.removed++;
    return found !== undefined;
  }

  private judge(chunk: Chunk, row: number): void {
    if (chunk.kind[row] !== Kind.Rule) return;
    const isAllow = (chunk.flags[row]! & Flag.Allow) !== 0;
    // Most rows are rules for one name.
    if (!isAllow && isForHost(chunk, row) && chunk.hostEnd[row]! + 1 === chunk.end[row]) return;
    const text = textOf(chunk, row).trim();
    const cancelled = cancelledKey(text);
    if (cancelled !== undefined) {
      if (this.keys.has(cancelled)) chunk.drop(row, Fate.Decided);
      return;
    }
    if (this.blocks.length === 0) return;
    const rule = readRule(text);
    // An exception for answers frees no name.
    if (rule === undefined || rule.isAllow === (rule.rewrite !== undefined)) return;
    const scope = rule.denied.length === 0 ? nameScope(rule.pattern) : undefined;
    const within = scope && this.blocks.find((one) => one.contains(scope));
    if (within !== undefined) {
      within.removed++;
      chunk.drop(row, Fate.Decided);
      return;
    }
    const meets = this.blocks.filter((one) => one.mayMeet(rule));
    if (meets.length === 0) return;
    if (rule.isAllow && rule.isImportant) {
      if (this.cancelled.has(rule.key)) return;
      rewriteText(chunk, row, this.limited(text, rule, meets));
      classifyAgain(chunk, row);
      return;
    }
    for (const one of meets) this.meet(one, rule);
  }

  private meet(one: Decided, rule: Rule): void {
    const known = this.met.get(one);
    if (known === undefined) this.met.set(one, [rule]);
    else known.push(rule);
  }

  /** An important exception without the names of decisions: no rule could block them otherwise. */
  private limited(text: string, { pattern }: Rule, meets: readonly Decided[]): string {
    const parsed = parseAdblockRule(text)!;
    const others = parsed.modifiers.filter(({ name }) => name !== "denyallow");
    const before =
      parsed.modifiers.find(({ name }) => name === "denyallow")?.value?.split("|") ?? [];
    const names = meets.map(({ entry }) => entry.name);
    const without = (of: string, denied: readonly string[]): string => {
      const value = [...new Set(denied)].join("|");
      const modifiers = value === "" ? others : [...others, { name: "denyallow", value }];
      return formatAdblockRule({ ...parsed, pattern: of, modifiers });
    };
    // The names below an exact one stay free.
    for (const { entry } of meets)
      if (!entry.below && nameScope(pattern)?.below === true) {
        const deeper = [...before, ...names].filter((name) => name.endsWith(`.${entry.name}`));
        this.more.add(without(`||*.${entry.name}^`, deeper));
      }
    return without(parsed.pattern, [...before, ...names]);
  }

  end(pass: Pass): void {
    const { cache } = this.context.pool;
    cache.each(this.waiting.splice(0), (chunk) => {
      this.decide(chunk);
      pass(chunk);
    });
    for (const one of this.all) one.rules = one.isAllow ? this.allowing(one) : [this.blocking(one)];
    const byLine = new Map(this.all.map((one) => [one.line, one]));
    const later = this.all.flatMap(({ rules }) => rules.slice(1));
    cache.each(this.held.splice(0), (chunk) => {
      // The last line about a name counts.
      for (let row = chunk.length - 1; row >= 0; row--) this.write(chunk, row, byLine);
      pass(chunk);
    });
    addExceptions([...this.more, ...later], this.origin, this.context, pass);
  }

  private write(chunk: Chunk, row: number, byLine: Map<string, Decided>): void {
    if (chunk.fate[row] !== Fate.Kept) return;
    if (chunk.kind[row]! < Kind.Hosts) {
      chunk.drop(row, chunk.kind[row] === Kind.Comment ? Fate.Comment : Fate.Empty);
      return;
    }
    const line = textOf(chunk, row);
    const one = byLine.get(line);
    byLine.delete(line);
    const [rule] = one?.rules ?? [];
    if (one === undefined) chunk.drop(row, Fate.Inactive);
    else if (rule === undefined) chunk.drop(row, Fate.Unneeded);
    else if (rule !== line) {
      rewriteText(chunk, row, rule);
      classifyAgain(chunk, row);
    }
  }

  /** The rules that block what a decision is about. Decisions about more names have theirs. */
  private blocking(one: Decided): string {
    const met = this.met.get(one) ?? [];
    let isImportant = met.some(({ isAllow }) => isAllow);
    for (const broader of this.all) {
      if (broader === one) break;
      if (!broader.isAllow) continue;
      for (const [index, text] of broader.rules.entries()) {
        const rule = readRule(text);
        if (rule === undefined || rule.rewrite !== undefined || !one.mayMeet(rule)) continue;
        if (rule.isImportant) broader.rules[index] = this.limited(text, rule, [one]);
        isImportant = true;
      }
    }
    const effects = { blocks: false, blocksImportantly: false };
    const rewrites = { ...effects, rewrites: false, rewritesImportantly: false };
    for (const rule of met) addEffects(rewrites, rule);
    // Only answers need an exception.
    for (const line of exceptionsFor(one.entry, { ...rewrites, ...effects })) this.more.add(line);
    return `${one.line}${isImportant ? "$important" : ""}`;
  }

  /** The exceptions that a decision needs. */
  private allowing({ entry }: Decided): string[] {
    const effects = this.effects!.on(entry);
    for (const broader of this.blocks)
      if (broader.contains(entry) && broader.rules.length > 0)
        addEffects(effects, { isImportant: broader.rules[0]!.endsWith("$important") });
    return exceptionsFor(entry, effects);
  }
}
