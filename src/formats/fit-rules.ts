import { hashName } from "../bytes/hash.ts";
import { eachLine, encodeUtf8 } from "../bytes/text.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import { PatternRanks } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import type { Entry, WriteOptions } from "./format-writer.ts";
import type { LineTemplate } from "./header.ts";
import type { NameBlock } from "./names.ts";
import { readSpecialRule } from "./special-rule.ts";

/** A block of names with the template for their lines. */
export interface BlockLines {
  readonly block: NameBlock;
  readonly template: LineTemplate;
  readonly isNarrow: boolean;
  /** Whether the lines are for names without their subdomains. */
  readonly isExact: boolean;
  /** How many of the names are written. */
  readonly taken: number;
}

/** The rules of a file that are within its limit. */
interface FittingRules {
  readonly entries: readonly Entry[];
  readonly blocks: readonly BlockLines[];
  /** The number of rules that exceeded the limit, by source. */
  readonly leftOut: ReadonlyMap<number, number>;
  /** Whether the exceptions exceed it. */
  readonly isTooSmall: boolean;
  /** Whether names of local files were left out beside less trusted sources. */
  readonly lacksOwn: boolean;
}

/**
 * Selects all exceptions, and as many other rules as fit: those of more trusted sources first; of these with ranks, first those that match
 * popular names, the most popular first; then the others in the order of the sources. What is selected stays in its order.
 */
export function fitRules(
  entries: readonly Entry[],
  blocks: readonly BlockLines[],
  limit: SizeLimit,
  { ranks, tiers = [] }: Pick<WriteOptions, "ranks" | "tiers">,
): FittingRules {
  const choice = new RuleChoice(entries, blocks, new FileBudget(limit));
  const tierOf = ({ source }: { readonly source: number }): number => tiers[source] ?? OWN_TIER;
  const all = [...entries, ...blocks.map(({ block }) => block)].map(tierOf);
  for (const tier of [...new Set(all)].toSorted((a, b) => a - b)) {
    const isIn = (one: { readonly source: number }): boolean => tierOf(one) === tier;
    if (ranks !== undefined) choice.takeRanked(ranks, isIn);
    choice.takeInOrder(isIn);
  }
  return choice.result(
    new Set(tiers).size > 1 ? (source) => tierOf({ source }) === OWN_TIER : undefined,
  );
}

/** The tier of local files, which must fit whole beside less trusted sources. */
export const OWN_TIER = 0;

type SourceTest = (one: { readonly source: number }) => boolean;

/** A rule that matches a popular name. */
interface RankedRule {
  readonly rank: number;
  readonly source: number;
  readonly bytes: number;
  readonly take: () => void;
}

class RuleChoice {
  private readonly entries: readonly Entry[];
  private readonly budget: FileBudget;
  private readonly kept = new Set<Entry>();
  /** Rules that were judged by their rank. */
  private readonly judged = new Set<Entry>();
  private readonly names: readonly BlockChoice[];
  private readonly leftOut = new Map<number, number>();
  private isTooSmall = false;

  constructor(entries: readonly Entry[], blocks: readonly BlockLines[], budget: FileBudget) {
    this.entries = entries;
    this.budget = budget;
    this.names = blocks.map((one) => new BlockChoice(one));
    for (const entry of entries)
      if (!entry.blocks) {
        this.kept.add(entry);
        if (!budget.demand(sizeOf(entry))) this.isTooSmall = true;
      }
  }

  takeRanked(ranks: RankedNames, isIn: SourceTest): void {
    const rules: RankedRule[] = [];
    const blocking = this.entries.filter((one) => one.blocks && isIn(one));
    const entryRank = entryRanks(blocking, ranks);
    for (const [index, entry] of blocking.entries()) {
      const rank = entryRank.get(index);
      if (rank === undefined) continue;
      this.judged.add(entry);
      const take = (): void => void this.kept.add(entry);
      rules.push({ rank, source: entry.source, bytes: sizeOf(entry), take });
    }
    for (const choice of this.names.filter(isIn)) rules.push(...choice.ranked(ranks));
    // The order of equal ones is that of the file.
    rules.sort((a, b) => a.rank - b.rank || a.source - b.source);
    for (const { bytes, source, take } of rules)
      if (this.budget.take(bytes)) take();
      else this.countLeftOut(source, 1);
  }

  takeInOrder(isIn: SourceTest): void {
    const { budget } = this;
    const entries = this.entries.filter(isIn);
    const sources = [...entries, ...this.names.filter(isIn)].map((o) => o.source);
    const others = entries.filter((one) => one.blocks && !this.judged.has(one));
    const bySource = Map.groupBy(others, (one) => one.source);
    for (const source of [...new Set(sources)].toSorted((a, b) => a - b)) {
      for (const entry of bySource.get(source) ?? [])
        if (budget.take(sizeOf(entry))) this.kept.add(entry);
        else this.countLeftOut(source, 1);
      for (const choice of this.names)
        if (choice.source === source) this.countLeftOut(source, choice.takeOthers(budget));
    }
  }

  /** Rules of sources that are `needed` must not be left out. */
  result(needed: (source: number) => boolean = () => false): FittingRules {
    const { leftOut, kept, isTooSmall } = this;
    const lacksOwn = [...leftOut.keys()].some(needed);
    return {
      entries: this.entries.filter((entry) => kept.has(entry)),
      blocks: this.names.map((choice) => choice.lines()),
      leftOut,
      isTooSmall,
      lacksOwn,
    };
  }

  private countLeftOut(source: number, rules: number): void {
    if (rules > 0) this.leftOut.set(source, (this.leftOut.get(source) ?? 0) + rules);
  }
}

const RANKED = 1;
const TAKEN = 2;

/** Which names of a block are written. */
class BlockChoice {
  readonly source: number;
  private readonly all: BlockLines;
  /** For each name, if some have ranks. */
  private marks: Uint8Array | undefined;
  /** The names without a rank: how many there are, their size, and how many of the first are written. */
  private others: { readonly count: number; readonly length: number; taken: number };

  constructor(all: BlockLines) {
    const { source, count, length } = all.block;
    this.source = source;
    this.all = all;
    this.others = { count, length, taken: 0 };
  }

  /** The names with a rank. */
  ranked(ranks: RankedNames): RankedRule[] {
    const { source, all } = this;
    const bytes = all.block.load();
    const marks = new Uint8Array(all.block.count);
    const rules: RankedRule[] = [];
    let { count, length } = this.others;
    eachLine(bytes, (start, end, index) => {
      const hash = hashName(bytes, start, end);
      const rank = all.isExact
        ? ranks.ownRank(bytes, start, end, hash)
        : ranks.bestRank(bytes, start, end, hash);
      if (rank === 0) return;
      marks[index] = RANKED;
      count--;
      length -= end + 1 - start;
      const take = (): void => void (marks[index]! |= TAKEN);
      rules.push({ rank, source, bytes: all.template.size(1, end + 1 - start), take });
    });
    if (rules.length > 0) {
      this.marks = marks;
      this.others = { count, length, taken: 0 };
    }
    return rules;
  }

  /** Selects the first names without a rank, as many as fit. Returns how many do not. */
  takeOthers(budget: FileBudget): number {
    const { others } = this;
    const { template } = this.all;
    const { count, length } = others;
    others.taken = budget.takeSome(count, template.size(count, length), (most, bytes) =>
      template.fitting(
        this.selected((mark) => mark === 0),
        most,
        bytes,
      ),
    );
    return count - others.taken;
  }

  lines(): BlockLines {
    const { all, marks, others } = this;
    const { block } = all;
    if (marks === undefined) return { ...all, taken: others.taken };
    const ranked = marks.reduce((sum, mark) => sum + Number((mark & TAKEN) !== 0), 0);
    const taken = ranked + others.taken;
    if (taken === block.count) return { ...all, taken };
    const load = (): Uint8Array => {
      let left = others.taken;
      return this.selected((mark) => (mark & TAKEN) !== 0 || (mark === 0 && left-- > 0));
    };
    return { ...all, block: { ...block, count: taken, load }, taken };
  }

  /** The names whose marks pass a test. */
  private selected(isIn: (mark: number) => boolean): Uint8Array {
    const { marks } = this;
    const bytes = this.all.block.load();
    if (marks === undefined) return bytes;
    const chosen = new Uint8Array(bytes.length);
    let to = 0;
    eachLine(bytes, (start, end, index) => {
      if (!isIn(marks[index]!)) return;
      chosen.set(bytes.subarray(start, end + 1), to);
      to += end + 1 - start;
    });
    return chosen.subarray(0, to);
  }
}

function sizeOf({ text }: Entry): number {
  return encodeUtf8(text).length;
}

/** The size limit of a file. */
export interface SizeLimit {
  readonly rules: number;
  readonly bytes: number;
}

export const NO_LIMIT: SizeLimit = { rules: Infinity, bytes: Infinity };

/** Tracks how much of a size limit is left. After the first rule that does not fit, no later one does. */
class FileBudget {
  rules: number;
  bytes: number;
  private isFull = false;

  constructor({ rules, bytes }: SizeLimit) {
    this.rules = rules;
    this.bytes = bytes;
  }

  /** Reserves space for a rule that must be written; false if the limit is exceeded. */
  demand(bytes: number): boolean {
    this.rules--;
    this.bytes -= bytes;
    return this.rules >= 0 && this.bytes >= 0;
  }

  /** Reserves space for one rule, if it fits. */
  take(bytes: number): boolean {
    this.isFull ||= this.rules < 1 || this.bytes < bytes;
    if (!this.isFull) this.demand(bytes);
    return !this.isFull;
  }

  /** Reserves space for as many of the next rules as fit; `fitting` returns how many fit into a number of bytes. */
  takeSome(count: number, size: number, fitting: (most: number, bytes: number) => number): number {
    if (this.isFull) return 0;
    if (count <= this.rules && size <= this.bytes) {
      this.rules -= count;
      this.bytes -= size;
      return count;
    }
    this.isFull = true;
    return fitting(Math.min(count, Math.max(0, this.rules)), this.bytes);
  }
}

/** The best rank of the names that each entry matches, by its index. Entries without one are absent. */
function entryRanks(entries: readonly Entry[], ranks: RankedNames): Map<number, number> {
  const found = new Map<number, number>();
  const patterns = new PatternRanks();
  for (const [index, { of }] of entries.entries()) {
    const rank = nameRank(of, ranks);
    if (rank !== undefined && rank !== Infinity) found.set(index, rank);
    if (rank !== undefined) continue;
    const rule = readRule(typeof of === "string" ? of : `||*.${of.name}^`);
    if (rule !== undefined) patterns.add(rule, index);
  }
  for (const [index, place] of patterns.resolve(ranks, Infinity))
    found.set(index, ranks.rankAt(place));
  return found;
}

/** The rank of an entry for names, Infinity without one; undefined for all others, and for those that skip a name. */
function nameRank(of: Entry["of"], ranks: RankedNames): number | undefined {
  if (typeof of === "object") {
    if (of.key === "below") return undefined;
    return (of.key === "exact" ? ranks.rankOf(of.name) : ranks.bestOf(of.name)) ?? Infinity;
  }
  const read = readSpecialRule(of);
  if (read.kind !== "names") return undefined;
  if (!read.rules.every(({ self, denied }) => self && denied.length === 0)) return undefined;
  const known = read.rules.map(
    ({ name, below }) => (below ? ranks.bestOf(name) : ranks.rankOf(name)) ?? Infinity,
  );
  return Math.min(...known);
}
