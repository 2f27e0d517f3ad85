import { HASH_SEED, hashEnd, hashLabel, hashName } from "../bytes/hash.ts";
import { DOT, HOST_CLASSES, decodeUtf8, encodeUtf8, skipBlanksBack } from "../bytes/text.ts";
import { NameResolver, TextResolver, loadDigest } from "../kernel/name-resolver.ts";
import { HashFilter, type RowFinder } from "../kernel/rows.ts";
import {
  type Chunk,
  Flag,
  Kind,
  hostOf,
  rewriteText,
  textOf,
  toBlockRule,
} from "../rules/chunk.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { isPlainName, judgeBlockName } from "../syntax/adblock-rule.ts";
import { classifyAgain, maskOf, pointAtHost } from "../syntax/classify.ts";
import { hasUnderscore, isUnderscoreName } from "../syntax/host-name.ts";
import { withParents } from "../syntax/public-suffix.ts";
import {
  BarrierStage,
  type Pass,
  RuleStage,
  type Stage,
  type StageContext,
  type Transformation,
  type TransformationContext,
  isComment,
} from "./stage.ts";
import { HostsSplitter } from "./to-block-rule.ts";

export const compress: Transformation = {
  summary: "Writes every name as `||name^` and drops what a parent domain covers",
  details:
    "Hosts lines and plain domains become `||name^`, one rule per name, in lower case. Of several rules for one name the first stays; a rule goes when a parent domain is blocked as well. A parent covers nothing if it would not itself survive: when the validator drops it, a later exclusion takes it or a `$badfilter` rule, of this source or another, cancels it. Addresses have no parents.",
  stages: (context) => [new NameStage(context)],
};

class NameStage extends BarrierStage {
  private readonly context: TransformationContext;
  private readonly splitter: HostsSplitter;
  private readonly names: NameResolver;
  /** Names that `$badfilter` rules cancel. */
  private readonly cancelled: Set<string>;
  private readonly finder: RowFinder;
  private readonly leavesUnderscores: boolean;

  constructor(context: TransformationContext) {
    const { pool, budget, finder } = context;
    super(pool.cache);
    this.context = context;
    this.finder = finder;
    this.cancelled = new Set(context.cancelledLater);
    this.leavesUnderscores = context.leavesUnderscores === true;
    this.splitter = new HostsSplitter(context);
    const { willBeFiltered, validator, comparison: slot } = context;
    this.names = new NameResolver(
      {
        separatesWidened: context.removesModifiers === true,
        survives: (name, isPlain, isVerbatim) => this.survives(name, isPlain, isVerbatim, context),
        conditions: () => [validator, [...this.cancelled].toSorted().join("\n")],
        ordinarySurvive: () => this.cancelled.size === 0 && willBeFiltered === undefined,
        losesByText:
          willBeFiltered === undefined
            ? undefined
            : (chunk, row) => willBeFiltered(textOf(chunk, row)),
      },
      budget,
      // Filters may change with their files.
      slot && willBeFiltered === undefined ? { slot, cache: pool.cache } : undefined,
    );
  }

  protected gather(chunk: Chunk): void {
    chunk.isChanged = true;
    // Most rows are ordinary names. `names.add` turns these into rules.
    for (const row of this.finder.specialOrSpare(chunk)) {
      if (!this.leavesUnderscores) readUnderscoreName(chunk, row);
      nameRow(chunk, row, this.splitter, this.cancelled);
    }
    this.names.add(chunk);
  }

  protected resolve(): void {
    this.names.resolve();
  }

  protected apply(chunk: Chunk): void {
    this.names.apply(chunk);
    keepTrusted(chunk, this.context);
    releaseOddNames(chunk, this.finder);
  }

  protected close(): void {
    this.names.close();
  }

  /** Whether a rule that would cover others is still present at the end. */
  private survives(
    name: Uint8Array,
    isPlain: boolean,
    isVerbatim: boolean,
    { validator, willBeFiltered }: TransformationContext,
  ): boolean {
    if (this.cancelled.size > 0 && this.cancelled.has(decodeUtf8(name))) return false;
    if (validator !== undefined && judgeBlockName(name, isPlain, validator) !== Fate.Kept)
      return false;
    return isVerbatim || willBeFiltered?.(`||${decodeUtf8(name)}^`) !== true;
  }
}

/** Turns a row with one host into `||host^`, and records the name that a `$badfilter` rule cancels. */
function nameRow(chunk: Chunk, row: number, splitter: HostsSplitter, cancelled: Set<string>): void {
  if (chunk.fate[row] === Fate.Spare) splitter.fill(chunk, row);
  if (chunk.fate[row] !== Fate.Kept) return;
  const kind = chunk.kind[row]!;
  if (kind === Kind.Hosts) splitter.split(chunk, row);
  else if (kind === Kind.Domain) toBlockRule(chunk, row);
  else if (kind === Kind.Rule && (chunk.flags[row]! & Flag.AsBlock) === 0) {
    if (isBadfilter(chunk, row)) cancelled.add(hostOf(chunk, row).toLowerCase());
    else splitter.readCommentedDomain(chunk, row);
  }
  const isFolded = (chunk.flags[row]! & Flag.UpperHost) === 0;
  if (!isFolded && chunk.kind[row] === Kind.Block) splitter.foldHost(chunk, row);
}

/** The scanner reads the rare names with an underscore as other text. Compress treats them as names. */
function readUnderscoreName(chunk: Chunk, row: number): void {
  if (chunk.fate[row] !== Fate.Kept || chunk.kind[row] !== Kind.Rule) return;
  const bytes = chunk.bytesOf(row);
  const start = chunk.start[row]!;
  const end = chunk.end[row]!;
  const hostStart = chunk.hostStart[row]!;
  const hostEnd = chunk.hostEnd[row]!;
  if ((chunk.flags[row]! & Flag.AsBlock) !== 0) {
    if (hasUnderscore(bytes, hostStart, hostEnd)) chunk.kind[row] = Kind.Block;
  } else if (hostStart < hostEnd) {
    const isBare = skipBlanksBack(bytes, hostEnd, end) === hostEnd + 1;
    const isAllow = (chunk.flags[row]! & Flag.Allow) !== 0;
    if (isBare && !isAllow && hasUnderscore(bytes, hostStart, hostEnd))
      chunk.kind[row] = Kind.Block;
  } else if (isUnderscoreName(bytes, start, end)) {
    pointAtHost(chunk, row, start, end);
    toBlockRule(chunk, row);
  }
}

function isBadfilter(chunk: Chunk, row: number): boolean {
  const tail = chunk.end[row]! - chunk.hostEnd[row]!;
  if (chunk.hostStart[row] === chunk.hostEnd[row] || tail < 11) return false;
  if ((chunk.flags[row]! & Flag.Allow) !== 0) return false;
  return textOf(chunk, row).trim() === `||${hostOf(chunk, row)}^$badfilter`;
}

/**
 * Hosts lines may contain any text as a name. As `||name^` only plain ASCII names read as rules for a name, so a second
 * Compress at the top level must skip the others.
 */
function releaseOddNames(chunk: Chunk, finder: RowFinder): void {
  if (!chunk.has.specialHosts) return;
  for (const row of finder.special(chunk)) {
    if (chunk.kind[row] !== Kind.Block || (chunk.flags[row]! & Flag.PlainHost) !== 0) continue;
    const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
    if ((mask & ~HOST_CLASSES) === 0) continue;
    chunk.kind[row] = Kind.Rule;
    chunk.isChanged = true;
  }
}

type Tiers = Pick<TransformationContext, "tiers" | "pool">;

/** Keeps rows that are redundant only because of a less trusted source, whose rules may be left out later. */
function keepTrusted(chunk: Chunk, context: Tiers): void {
  if (context.tiers === undefined) return;
  const causes = chunk.causes();
  for (let row = 0; row < chunk.length; row++)
    if (hasCause(chunk.fate[row]!) && isLessTrusted(causes[row]!, chunk, context))
      chunk.fate[row] = Fate.Kept;
}

/** Whether a row, given by its id, is of a less trusted source than a chunk. */
function isLessTrusted(id: number, chunk: Chunk, { tiers, pool }: Tiers): boolean {
  if (tiers === undefined) return false;
  const tierOf = (one: Chunk): number => tiers[pool.sourceOf(one)] ?? 0;
  return tierOf(pool.chunkOf(id)) > tierOf(chunk);
}

export const deduplicate: Transformation = {
  summary: "Drops duplicate lines",
  details:
    "The last copy stays, with the comments above it; the comments and empty lines above a dropped copy go with it. Text is compared byte by byte. Comments and empty lines are never duplicates.",
  prepare: ({ has }) => (has.longLines || has.nonAscii ? loadDigest() : undefined),
  stages(context) {
    const texts = new TextResolver(context.budget);
    const isUnique = context.compresses === true;
    return [new Copies(context, texts, isUnique), new CopyDropping(context, texts, isUnique)];
  },
};

/** Collects every line whose text may occur again. */
class Copies extends BarrierStage {
  private readonly texts: TextResolver;
  /** Compress left one row per name. Only addresses are rewritten after it. */
  private readonly namesAreUnique: boolean;
  private readonly finder: RowFinder;

  constructor({ pool, finder }: StageContext, texts: TextResolver, namesAreUnique: boolean) {
    super(pool.cache);
    this.finder = finder;
    this.texts = texts;
    this.namesAreUnique = namesAreUnique;
  }

  protected gather(chunk: Chunk): void {
    const rows = this.namesAreUnique ? this.finder.special(chunk) : this.finder.live(chunk);
    for (const row of rows) {
      if (isComment(chunk, row)) continue;
      if (this.namesAreUnique && isPlainName(chunk, row) && isBlockText(chunk, row)) continue;
      if (isOddBlock(chunk, row)) writeOut(chunk, row);
      // Rows that read `||host^`, stored or implied, are compared by host. No text is both.
      this.texts.add(chunk, row, isBlockText(chunk, row));
    }
  }

  protected resolve(): void {
    this.texts.resolve();
  }

  protected apply(): void {}

  protected close(): void {
    this.texts.close();
  }
}

/** Drops all copies of a line except the last. */
class CopyDropping extends RuleStage {
  protected readonly keepsOrdinary: boolean;
  private readonly texts: TextResolver;
  private readonly context: TransformationContext;
  private copies: Int32Array = new Int32Array(0);

  constructor(context: TransformationContext, texts: TextResolver, keepsOrdinary: boolean) {
    super(context);
    this.context = context;
    this.texts = texts;
    this.keepsOrdinary = keepsOrdinary;
  }

  protected override begin(chunk: Chunk): void {
    this.copies = this.texts.copiesOf(chunk);
  }

  protected judge(chunk: Chunk, row: number): boolean {
    const copy = this.copies[row]!;
    if (copy === -1 || isLessTrusted(copy, chunk, this.context)) return true;
    chunk.dropFor(row, Fate.Duplicate, copy);
    return false;
  }
}

/** Writes the text of a special `||name^`, and points at the name in it. */
function writeOut(chunk: Chunk, row: number): void {
  rewriteText(chunk, row, textOf(chunk, row));
  chunk.hostStart[row] = chunk.start[row]! + 2;
  chunk.hostEnd[row] = chunk.end[row]! - 1;
}

/** Whether a converted name would not be read back from `||…^`. Its text must be written to be compared. */
function isOddBlock(chunk: Chunk, row: number): boolean {
  if ((chunk.flags[row]! & (Flag.AsBlock | Flag.PlainHost)) !== Flag.AsBlock) return false;
  const mask = maskOf(chunk.bytesOf(row), chunk.hostStart[row]!, chunk.hostEnd[row]!);
  return (mask & ~HOST_CLASSES) !== 0;
}

function isBlockText(chunk: Chunk, row: number): boolean {
  const flags = chunk.flags[row]!;
  if ((flags & Flag.AsBlock) !== 0) return true;
  return (
    chunk.kind[row] === Kind.Block &&
    (flags & Flag.UpperHost) === 0 &&
    chunk.hostStart[row] === chunk.start[row]! + 2 &&
    chunk.hostEnd[row] === chunk.end[row]! - 1
  );
}

/** A row whose rule interacts with an exception. */
interface RelatedRow {
  readonly row: number;
  readonly rule: NestedRule;
}

const RULE = /^(?<allow>@@)?\|(?<subtree>\|)?(?<below>\*\.)?(?<name>[^*|^/$]+)\^$/;

/**
 * In formats where the most specific name wins, a name below an exception can be blocked again, and so on. In adblock syntax
 * an exception overrides every block, so nested rules need `$important` for the same effect. This stage sees the rules of a
 * source first, as its reader wrote them.
 */
export class Nesting implements Stage {
  private readonly context: StageContext;
  private held: Chunk[] = [];
  /** Names of exceptions, and hashes of these and of their parents. */
  private readonly exceptions = new Set<string>();
  private readonly parents = new Set<string>();
  private readonly filter = new HashFilter();
  private readonly parentFilter = new HashFilter();
  private readonly levels = new NestedLevels();

  constructor(context: StageContext) {
    this.context = context;
  }

  push(chunk: Chunk): void {
    this.held.push(chunk);
    const { flags, kind } = chunk;
    for (const row of this.context.finder.special(chunk))
      if (kind[row] === Kind.Rule && (flags[row]! & Flag.Allow) !== 0) {
        const rule = ruleOf(chunk, row);
        if (rule !== undefined) this.enterException(rule.name);
      }
  }

  end(pass: Pass): void {
    const { cache } = this.context.pool;
    const related =
      this.exceptions.size === 0 ? [] : this.held.map((chunk) => this.relatedIn(chunk));
    this.levels.resolve();
    for (const [index, chunk] of this.held.entries()) {
      cache.use(chunk);
      for (const { row, rule } of related[index] ?? []) this.apply(chunk, row, rule);
      pass(chunk);
      cache.done(chunk);
    }
    this.held = [];
  }

  private enterException(name: string): void {
    this.exceptions.add(name);
    this.filter.add(hashOf(name));
    for (const parent of withParents(name)) {
      this.parents.add(parent);
      this.parentFilter.add(hashOf(parent));
    }
  }

  /** Exceptions, blocks of their parents, and blocks of their subdomains. */
  private relatedIn(chunk: Chunk): RelatedRow[] {
    const { finder, pool } = this.context;
    pool.cache.use(chunk);
    const rows: RelatedRow[] = [];
    for (const row of finder.live(chunk)) {
      if (chunk.kind[row]! < Kind.Hosts || !this.mayBeRelated(chunk, row)) continue;
      const rule = ruleOf(chunk, row);
      if (rule === undefined || !this.isRelated(rule.name)) continue;
      this.levels.enter(rule);
      rows.push({ row, rule });
    }
    pool.cache.done(chunk);
    return rows;
  }

  /** Compares hashes only, without decoding names. Few rows have no host. */
  private mayBeRelated(chunk: Chunk, row: number): boolean {
    const start = chunk.hostStart[row]!;
    const end = chunk.hostEnd[row]!;
    if (start === end || (chunk.flags[row]! & Flag.UpperHost) !== 0) return true;
    if (this.parentFilter.has(chunk.hostHash[row]!)) return true;
    const bytes = chunk.bytesOf(row);
    let state = HASH_SEED;
    let labelEnd = end;
    for (let at = end - 1; at >= start; at--) {
      if (bytes[at] !== DOT) continue;
      state = hashLabel(state, bytes, at + 1, labelEnd);
      labelEnd = at;
      if (!this.filter.has(hashEnd(state))) continue;
      if (this.exceptions.has(decodeUtf8(bytes, at + 1, end))) return true;
    }
    return false;
  }

  private isRelated(name: string): boolean {
    return this.parents.has(name) || withParents(name).some((one) => this.exceptions.has(one));
  }

  private apply(chunk: Chunk, row: number, rule: NestedRule): void {
    const level = this.levels.levelOf(rule);
    if (level === undefined || level === 0 || level === 1) return;
    if (level < 0) {
      chunk.drop(row, Fate.TooNested);
      return;
    }
    rewriteText(chunk, row, `${textFor(rule)}$important`);
    classifyAgain(chunk, row);
  }
}

function hashOf(name: string): number {
  const bytes = encodeUtf8(name);
  return hashName(bytes, 0, bytes.length);
}

/** The rule of a row, if it is for a name and was converted to adblock syntax. */
function ruleOf(chunk: Chunk, row: number): NestedRule | undefined {
  if ((chunk.flags[row]! & Flag.OwnWord) !== 0) return undefined;
  const kind = chunk.kind[row]!;
  if (kind === Kind.Block || kind === Kind.Hosts) {
    const name = hostOf(chunk, row).toLowerCase();
    return { name, scope: kind === Kind.Block ? "subtree" : "exact", isAllow: false };
  }
  const { allow, subtree, below, name } = RULE.exec(textOf(chunk, row))?.groups ?? {};
  if (name === undefined) return undefined;
  const scope = below !== undefined ? "below" : subtree === undefined ? "exact" : "subtree";
  return { name: name.toLowerCase(), scope, isAllow: allow !== undefined };
}

function textFor({ name, scope, isAllow }: NestedRule): string {
  const start = scope === "exact" ? "|" : scope === "below" ? "||*." : "||";
  return `${isAllow ? "@@" : ""}${start}${name}^`;
}

/** What a rule for a name covers: the name and all subdomains, the name alone, or all subdomains. */
type Scope = "subtree" | "exact" | "below";

interface NestedRule {
  readonly name: string;
  readonly scope: Scope;
  readonly isAllow: boolean;
}

/**
 * Strength of a rule in adblock syntax: 0 a block, 1 an exception, 2 an important block, 3 an important exception. This is the
 * maximum.
 */
const STRONGEST = 3;

/**
 * Computes how strong rules must be so that the most specific one wins: stronger than every less specific rule of the other
 * kind for the same names.
 */
class NestedLevels {
  private readonly rules = new Map<
    string,
    Map<string, NestedRule & { level: number | undefined }>
  >();

  enter(rule: NestedRule): void {
    let known = this.rules.get(rule.name);
    if (known === undefined) this.rules.set(rule.name, (known = new Map()));
    known.set(keyOf(rule), { ...rule, level: undefined });
  }

  /** Least specific rule first. */
  resolve(): void {
    const all = [...this.rules.values()].flatMap((some) => [...some.values()]);
    const inOrder = all
      .map((rule) => ({ rule, rank: rankOf(rule) }))
      .toSorted((a, b) => a.rank - b.rank || Number(a.rule.isAllow) - Number(b.rule.isAllow));
    for (const { rule } of inOrder) {
      const needed = this.strongestAgainst(rule) + 1;
      const least = rule.isAllow ? 1 : 0;
      const level = needed <= least ? least : needed % 2 === least ? needed : needed + 1;
      rule.level = level > STRONGEST ? -1 : level;
    }
  }

  /** Undefined for an unknown rule, -1 for one that would need more than the maximum strength. */
  levelOf(rule: NestedRule): number | undefined {
    return this.rules.get(rule.name)?.get(keyOf(rule))?.level;
  }

  /** The level of the strongest rule of the other kind that this one must override; -1 without one. */
  private strongestAgainst(rule: NestedRule): number {
    let strongest = -1;
    for (const name of withParents(rule.name))
      for (const other of this.rules.get(name)?.values() ?? [])
        if (other.isAllow !== rule.isAllow && isWithin(rule, other))
          strongest = Math.max(strongest, other.level ?? -1);
    return strongest;
  }
}

function keyOf({ scope, isAllow }: NestedRule): string {
  return `${scope} ${isAllow}`;
}

/** A name has more labels than its parents. `*.name` and the exact name are more specific than both together. */
function rankOf({ name, scope }: NestedRule): number {
  return name.split(".").length * 2 + (scope === "subtree" ? 0 : 1);
}

/** Whether a rule for the same name or a parent covers some of the names of this one. */
function isWithin(rule: NestedRule, other: NestedRule): boolean {
  if (other.name !== rule.name) return other.scope !== "exact";
  return other.scope === "subtree" || other.scope === rule.scope;
}
