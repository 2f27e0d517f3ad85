import type { CompileReport, SourceReport } from "../documents/facts.ts";
import { decisionFor } from "../config/decisions.ts";
import { type Diagnostic, warningOf } from "../diagnostics/render.ts";
import { MOST_NAMED, countText, printable, someOf } from "../diagnostics/text.ts";
import type { PublishedRules } from "../engine/compile-options.ts";
import {
  type FeatureResult,
  type FeatureRun,
  type ListFeature,
  type ListStages,
  type ListWork,
  type SourceRun,
  stageNamed,
} from "../engine/feature.ts";
import { type PlannedSource, entryFiles, inverts, serversOf } from "../engine/plan.ts";
import {
  type ProtectedSet,
  countKinds,
  isAcceptedKind,
  protectedSet,
} from "../engine/protected-names.ts";
import { findingLocation } from "../engine/report.ts";
import { writtenName } from "../meaning/line.ts";
import { nameScope } from "../meaning/rule-index.ts";
import { type Rule, addEffects, blocksAddresses, noEffects, readRule } from "../meaning/rule.ts";
import {
  type BlockedName,
  NameMatcher,
  NameRules,
  type RowTest,
  type WatchedRule,
  isForHost,
} from "../meaning/verdict.ts";
import { type Chunk, Flag, Kind, textOf } from "../rules/chunk.ts";
import { Fate } from "../rules/fate.ts";
import type { ChunkPool } from "../rules/rule-table.ts";
import {
  type ValidatorOptions,
  formatAdblockRule,
  judgeBlockRow,
  judgeRule,
  parseAdblockRule,
} from "../syntax/adblock-rule.ts";
import { AllowList, exceptionsFor, takeOut } from "../transformations/allow.ts";
import {
  type Stage,
  type StageContext,
  eachChunk,
  exceptionsAtEnd,
} from "../transformations/stage.ts";
import { popularity } from "./popularity.ts";

/** Names that devices or people need stay reachable, whatever sources below full trust say. */
export const protect: ListFeature<ProtectRun> = {
  name: "protect",
  open: (list) => new ProtectRun(list),
};

class ProtectRun implements FeatureRun {
  /** What fully trusted sources block. */
  readonly own: OwnBlocks;
  private readonly list: ListWork;
  private added: readonly string[] = [];
  private guarded: ProtectedSet | undefined;
  private protection: Protection | undefined;
  /** Whether the rules of some source may not block everything. */
  private isLimited = false;

  constructor(list: ListWork) {
    const { isFull, context, plan } = list;
    this.list = list;
    this.own = new OwnBlocks(isFull, context, validRows(plan.list.validator));
  }

  async fetch(): Promise<void> {
    const { plan, reader } = this.list;
    this.added = await reader.entries.names(entryFiles(plan.config.guards?.protect, "protect"));
  }

  /** Names that devices need. They stay reachable in any case. */
  get names(): readonly string[] {
    return this.guarded!.names;
  }

  start(published: PublishedRules): void {
    const { plan, options, context, isFull } = this.list;
    const ranks = this.list.runOf(popularity)?.ranks;
    const isCompat = options.compat === true;
    this.isLimited = !isCompat && plan.sources.some(({ index }) => !isFull(index));
    const guarded = protectedSet(
      [...this.added, ...serversOf(plan)],
      plan.config.guards?.may_block ?? [],
      this.isLimited,
      (name) => ranks?.rankOf(name) !== undefined,
    );
    this.guarded = guarded;
    if (isCompat) return;
    // A source may block names of some kinds if it is new to the published list, or already does so in it.
    const accepts = (index: number, kind: string): boolean => {
      const kinds = published.sources?.get(plan.sources[index]!.shown);
      return isAcceptedKind(kind) && (kinds === undefined || kinds[kind] !== undefined);
    };
    const household = { kinds: guarded.household, accepts };
    const terms = { isTrusted: isFull, own: this.own };
    this.protection = new Protection(guarded.names, household, context, terms);
    if (!this.isLimited) return;
    this.own.add(guarded.names);
    this.own.add(guarded.household.keys());
  }

  stages(): ListStages {
    const isBefore = this.isLimited && !inverts(this.list.plan.list);
    return {
      filtered: stageNamed("protect", isBefore ? this.own.stage() : undefined),
      trusted: stageNamed("protect", this.protection?.listStage()),
    };
  }

  /** The stage at the end of the list judges what does not become an exception. */
  source({ index, isInverted }: PlannedSource): SourceRun | undefined {
    if (this.list.isFull(index) || isInverted || this.protection === undefined) return undefined;
    return { trusted: [{ name: "protect", stage: this.protection.sourceStage(index) }] };
  }

  result(): FeatureResult {
    const { protection } = this;
    const guarded = this.guarded!;
    const diagnostics = unknownEntries(guarded);
    if (protection === undefined) return { diagnostics };
    const { plan, context } = this.list;
    const labels = plan.sources.map(({ label }) => label);
    const { reachable, blocked, uses } = protection;
    // The decision to allow a name confirms that rules against it are dropped.
    for (const { household } of uses.values())
      for (const name of household.keys())
        if (decisionFor(name, plan.decisions)?.verdict === "allow") household.delete(name);
    return {
      report: protectionReport(protection),
      sources: new Map(Array.from(uses, ([index, use]) => [index, sourceReport(use)])),
      shape: { protectedNames: reachable },
      findings: {
        blocked: blocked.map(({ name, isForName, rule }) => ({
          name,
          isForName,
          isLifeline: guarded.lifelines.has(name),
          text: rule.text,
          at: findingLocation(rule, context.pool),
        })),
      },
      diagnostics: [...protectionWarnings(protection, labels, context.pool), ...diagnostics],
    };
  }
}

function sourceReport({ household, accepted }: ProtectedUse): Partial<SourceReport> {
  return {
    ...(household.size > 0 && { household: [...household.keys()] }),
    ...(accepted.size > 0 && { kinds: countKinds(accepted) }),
  };
}

/** Protected names in the report: those that the list blocks, and those that sources tried to block. */
function protectionReport(protection: Protection): Pick<CompileReport, "blocked" | "protected"> {
  const blocked = protection.blocked.map(({ name }) => name);
  const kept = new Set(
    [...protection.uses.values()].flatMap(({ dropped, excepted, household }) => [
      ...dropped,
      ...excepted,
      ...household.keys(),
    ]),
  );
  return {
    ...(blocked.length > 0 && { blocked }),
    ...(kept.size > 0 && { protected: [...kept] }),
  };
}

/** One warning for all entries of `guards.may_block` that have no effect. */
function unknownEntries({ unknown }: ProtectedSet): Diagnostic[] {
  if (unknown.length === 0) return [];
  const message =
    unknown.length === 1
      ? `${printable(unknown[0]!)} is not a protected name`
      : `${countText(unknown.length, "entry", "entries")} of guards.may_block are not protected names: ${someOf(unknown)}`;
  return [warningOf("may-block-unknown", message, { subject: "may_block", all: unknown })];
}

/** How to permit that names are blocked. */
export function mayBlockHint(when: string, names: readonly string[]): string {
  return names.length > MOST_NAMED
    ? `${when}, add the names that --verbose shows to guards.may_block`
    : `${when}: guards: { may_block: [${someOf(names)}] }`;
}

/** Warnings about sources below full trust that block protected names, or names that people need. */
function protectionWarnings(
  protection: Protection,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return [
    ...protectedWarnings(protection, labels),
    ...householdWarnings(protection, labels, pool),
    ...acceptedNote(protection),
  ];
}

function protectedWarnings({ uses, blocked }: Protection, labels: readonly string[]): Diagnostic[] {
  // What a fully trusted source blocks does not stay reachable, and has its own message.
  const own = new Set(blocked.map(({ name }) => name));
  return [...uses].flatMap(([source, { dropped, excepted }]) => {
    // Sorted: the order in which names are found depends on the seed of the hashes.
    const names = [...new Set([...dropped, ...excepted])]
      .filter((name) => !own.has(name))
      .toSorted();
    if (names.length === 0) return [];
    const subject = printable(labels[source] ?? "");
    const message = `${subject} blocks names that devices need; they stay reachable: ${someOf(names)}`;
    const hint = mayBlockHint("To block them anyway", names);
    return [warningOf("protected-names", message, { hint, subject, all: names })];
  });
}

/** One warning per source below full trust that would block names that people need. */
function householdWarnings(
  { uses }: Protection,
  labels: readonly string[],
  pool: ChunkPool,
): Diagnostic[] {
  return [...uses].flatMap(([source, { household }]) => {
    if (household.size === 0) return [];
    const names = [...household.keys()];
    const shown = Array.from(household, ([name, rule]) => {
      const line = findingLocation(rule, pool)?.line;
      return `${name} by ${printable(rule.text, 60)}${line === undefined ? "" : ` (line ${line})`}`;
    });
    const subject = printable(labels[source] ?? "");
    const message = `${subject} would block ${countText(names.length, "name")} that people need; ${names.length === 1 ? "it stays" : "they stay"} reachable: ${someOf(shown)}`;
    const at = findingLocation([...household.values()][0]!, pool);
    const hint = `${mayBlockHint("If that is intended", names)}; otherwise tell the maintainer of the list`;
    return [
      warningOf("household-names", message, { ...(at && { at }), hint, subject, all: names }),
    ];
  });
}

/** One note about names of the kinds that some lists block on purpose. */
function acceptedNote({ uses }: Protection): Diagnostic[] {
  const names = [...new Set([...uses.values()].flatMap(({ accepted }) => [...accepted]))];
  if (names.length === 0) return [];
  const counts = Object.entries(countKinds(names)).map(([kind, count]) => `${kind} ${count}`);
  const message = `Sources block ${countText(names.length, "name")} that many people use (${someOf(counts)}): ${someOf(names)}`;
  const subject = "sources";
  return [{ code: "household-blocked", severity: "note", message, subject, all: names }];
}

/** A protected name that the list blocks because a fully trusted source does. */
interface BlockedProtectedName {
  readonly name: string;
  readonly rule: WatchedRule;
  /** Whether the rule is for this name only. */
  readonly isForName: boolean;
}

/** Names that a source below full trust blocks, or tried to block. */
interface ProtectedUse {
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
interface Household {
  readonly kinds: ReadonlyMap<string, string>;
  /** Whether a source may block names of a kind. */
  accepts(source: number, kind: string): boolean;
}

/**
 * Names that must stay reachable. For sources below full trust, it drops rules for such a name and adds exceptions to broader
 * rules. For fully trusted sources, it only reports what they block.
 */
class Protection {
  readonly blocked: BlockedProtectedName[] = [];
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
        this.blocked.push({ name, rule: own, isForName: isOnlyFor(own, name) });
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

function isOnlyFor(rule: Partial<Rule> & WatchedRule, name: string): boolean {
  if (rule.pattern === undefined) return rule.name === name;
  return nameScope(rule.pattern)?.name === name;
}

/**
 * What fully trusted sources block by rules of their own. It looks at the list before Compress, which drops their rules if broader ones
 * of other sources cover them.
 */
export class OwnBlocks {
  private readonly names: string[] = [];
  private readonly counts: RowTest | undefined;
  private matcher: NameMatcher | undefined;
  private readonly isOwn: (source: number) => boolean;
  private readonly context: StageContext;
  private found: ReadonlyMap<string, BlockedName> | undefined;

  /** Rules for which `counts` is false are ignored. */
  constructor(isOwn: (source: number) => boolean, context: StageContext, counts?: RowTest) {
    this.counts = counts;
    this.isOwn = isOwn;
    this.context = context;
  }

  /** Adds names to look for. Call it before the first chunk. */
  add(names: Iterable<string>): void {
    for (const name of names) this.names.push(name);
  }

  /** Lazy: there are thousands of names, and many lists have no such source. */
  private get watch(): NameMatcher {
    this.matcher ??= new NameMatcher(this.names, this.context.finder, true, this.counts);
    return this.matcher;
  }

  stage(): Stage {
    const { pool } = this.context;
    return eachChunk((chunk) => {
      if (this.isOwn(pool.sourceOf(chunk))) this.watch.take(chunk);
    });
  }

  /** How they block a name, if they do. */
  blockOf(name: string): BlockedName | undefined {
    if (this.matcher === undefined) return undefined;
    this.found ??= new Map(Array.from(this.watch.blocked(), (one) => [one.name, one]));
    return this.found.get(name);
  }

  /** Whether no client gets an address. */
  blocksForAll(name: string): boolean {
    return this.blockOf(name)?.isForAll === true;
  }

  /** Their rules that block a name for some clients or questions, in a form that an added exception does not override. */
  strengthened(name: string): string[] {
    if (this.blockOf(name) === undefined) return [];
    return this.watch
      .matching(name)
      .flatMap(({ text, isAllow, isImportant, isForSome, rewrite }) => {
        const rule = isForSome === true ? parseAdblockRule(text) : undefined;
        if (rule === undefined || isAllow === true || isImportant === true) return [];
        if (rewrite !== undefined) return [];
        const modifiers = [...rule.modifiers, { name: "important" }];
        return [formatAdblockRule({ ...rule, pattern: `|${name}^`, modifiers })];
      });
  }
}

/** Tells whether the validator of a list will keep a row. */
export function validRows(validator: ValidatorOptions | undefined): RowTest | undefined {
  if (validator === undefined) return undefined;
  return (chunk, row) => {
    // Names in other letters may be converted before they are validated.
    if ((chunk.flags[row]! & Flag.NonAscii) !== 0) return true;
    const fate =
      chunk.kind[row] === Kind.Rule
        ? judgeRule(textOf(chunk, row).trim(), validator)
        : judgeBlockRow(chunk, row, validator);
    return fate === Fate.Kept;
  };
}
