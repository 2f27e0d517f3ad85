import { TextNumbers, grown } from "../bytes/hash.ts";
import { BANG, decodeUtf8, eachLine } from "../bytes/text.ts";
import type { ListBesideOthers } from "../documents/facts.ts";
import { Other } from "../kernel/kernel.ts";
import { nameSlice, readNameSlice } from "../meaning/line.ts";
import { cancelledKey } from "../meaning/rule.ts";
import type { BuildRecord, OddRule } from "../record/build-record.ts";
import { Fate, hasCause } from "../rules/fate.ts";
import { isCanaryRule } from "../syntax/host-name.ts";

/** Rules of the list that the same sources have. */
export interface CarriedRules {
  /** Indices of the sources, in order. */
  readonly sources: readonly number[];
  readonly rules: number;
  /** How many of the sources the rules need: more than one with `min_sources`. */
  readonly least: number;
}

/** The sources without any of which the rules would leave the list. */
export function neededOf({
  sources,
  least,
}: Pick<CarriedRules, "sources" | "least">): readonly number[] {
  return sources.length <= least ? sources : [];
}

/** The sources that have each rule of a list. */
export interface Carriers {
  /** The group of each row: the sources that have the rule; -1 for rows that are not rules of the list. */
  readonly groupOf: Int32Array;
  readonly groups: SourceGroups;
  /** `Carried` of each row. */
  readonly state: Uint8Array;
}

/** A rule of the list, or a line that a broader rule makes redundant; 0 is anything else. */
export const Carried = { Rule: 1, Narrower: 2 } as const;

/** Groups the rules of a list by the sources that have them, and by how many of these they need. */
export function carriedRules(record: BuildRecord): CarriedRules[] {
  const { groupOf, groups, state } = carriersOf(record);
  const { minSources = 1 } = record.header;
  const exempt = minSources > 1 ? exemptRows(record) : new Set<number>();
  const counts = new Map<number, number>();
  for (let row = 0; row < record.rows; row++) {
    if (state[row] !== Carried.Rule) continue;
    const key = 2 * groupOf[row]! + (exempt.has(row) ? 1 : 0);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, rules]) => ({
    sources: groups.sourcesOf(key >> 1),
    rules,
    least: key % 2 === 1 ? 1 : minSources,
  }));
}

function isExempt({ text }: OddRule): boolean {
  return text.startsWith("@@") || cancelledKey(text) !== undefined;
}

/** The rows of rules that one source is enough for: `min_sources` counts only what blocks. */
function exemptRows({ frames }: BuildRecord): Set<number> {
  return new Set(frames.flatMap(({ special }) => special.filter(isExempt).map(({ row }) => row)));
}

const carriersOfRecord = new WeakMap<BuildRecord, Carriers>();

/** The sources that have each rule of a list, or an equivalent line. Found once for a record: it takes half a second for two million lines. */
export function carriersOf(record: BuildRecord): Carriers {
  let carriers = carriersOfRecord.get(record);
  if (carriers === undefined) carriersOfRecord.set(record, (carriers = findCarriers(record)));
  return carriers;
}

function findCarriers(record: BuildRecord): Carriers {
  const groups = new SourceGroups(record.header.sources.length);
  const groupOf = new Int32Array(record.rows).fill(-1);
  const state = new Uint8Array(record.rows);
  const fates = fatesOf(record);
  for (const { base, length, file, others } of record.frames) {
    const { source, isOwn } = record.header.files[file]!;
    if (isOwn === true) continue;
    for (let row = base; row < base + length; row++) {
      const fate = fates[row]!;
      // A further name of a hosts line is a rule; generated lines and comments are not.
      const other = others?.[row - base] ?? 0;
      if ((other & (Other.Generated | Other.NoRule)) !== 0) continue;
      if (fate !== Fate.Kept && !hasCause(fate)) continue;
      const keeper = fate === Fate.Kept ? row : carriedBy(record, fates, row);
      if (fate === Fate.Kept) state[row] = Carried.Rule;
      else if (keeper === undefined) state[row] = Carried.Narrower;
      if (keeper === undefined) continue;
      groupOf[keeper] = groups.with(groupOf[keeper]!, source);
    }
  }
  return { groupOf, groups, state };
}

/** The fates of all rows. The record would search the frame of each. */
function fatesOf(record: BuildRecord): Uint8Array {
  const all = new Uint8Array(record.rows);
  for (const { base, fates } of record.frames) all.set(fates, base);
  return all;
}

/** The rule of the list that is equivalent to a redundant line; undefined if it is broader. */
function carriedBy(record: BuildRecord, fates: Uint8Array, row: number): number | undefined {
  let keeper = row;
  for (let steps = 0; steps < 64; steps++) {
    const fate = fates[keeper];
    if (fate === Fate.Kept) return keeper;
    if (fate !== Fate.Duplicate && fate !== Fate.SameHost) return undefined;
    keeper = record.causeOf(keeper);
  }
  return undefined;
}

/** Numbers the distinct sets of sources. */
export class SourceGroups {
  private readonly count: number;
  private readonly members: (readonly number[])[] = [];
  private readonly byKey = new Map<string, number>();
  private readonly steps = new Map<number, number>();

  constructor(count: number) {
    this.count = count;
  }

  /** The group with one more source; -1 is the empty one. */
  with(group: number, source: number): number {
    const step = (group + 1) * this.count + source;
    const known = this.steps.get(step);
    if (known !== undefined) return known;
    const members = group === -1 ? [] : this.members[group]!;
    const more = members.includes(source)
      ? members
      : [...members, source].toSorted((a, b) => a - b);
    const key = more.join();
    let found = this.byKey.get(key);
    if (found === undefined) {
      found = this.members.push(more) - 1;
      this.byKey.set(key, found);
    }
    this.steps.set(step, found);
    return found;
  }

  /** The group with the sources of both. */
  union(a: number, b: number): number {
    if (a === b || b === -1) return a;
    if (a === -1) return b;
    let all = a;
    for (const source of this.sourcesOf(b)) all = this.with(all, source);
    return all;
  }

  sourcesOf(group: number): readonly number[] {
    return this.members[group] ?? [];
  }
}

/** The number of rules that each pair of sources shares; on the diagonal, the number of each source. */
export function overlapMatrix(groups: readonly CarriedRules[], sources: number): number[][] {
  const matrix = Array.from({ length: sources }, () => Array.from({ length: sources }, () => 0));
  for (const { sources: members, rules } of groups)
    for (const a of members) for (const b of members) matrix[a]![b]! += rules;
  return matrix;
}

export interface Cover {
  /** Sources that together yield every rule of the list. */
  readonly sources: readonly number[];
  /** Whether no smaller set exists. */
  readonly isSmallest: boolean;
}

/** The search stops after this many branches and returns the best set so far. */
const MOST_STEPS = 200_000;

/** The smallest set of sources that yields every rule of the list. */
export function smallestCover(groups: readonly CarriedRules[]): Cover {
  const needed = new Set(groups.flatMap(neededOf));
  const open = without(needed, groups);
  const search = new CoverSearch(open);
  const rest = search.run();
  return {
    sources: [...needed, ...rest].toSorted((a, b) => a - b),
    isSmallest: search.steps < MOST_STEPS,
  };
}

/** Rules that need some more of these sources. */
type OpenRules = Pick<CarriedRules, "sources" | "least">;

/** What is open if these sources are chosen. */
function without(chosen: ReadonlySet<number>, open: readonly OpenRules[]): OpenRules[] {
  return open.flatMap(({ sources, least }) => {
    const others = sources.filter((source) => !chosen.has(source));
    const more = least - (sources.length - others.length);
    return more > 0 ? [{ sources: others, least: more }] : [];
  });
}

/** Branch and bound over the remaining groups, beginning with the group that leaves the least choice. */
class CoverSearch {
  steps = 0;
  private readonly groups: readonly OpenRules[];
  private best: readonly number[];

  constructor(groups: readonly OpenRules[]) {
    this.groups = groups;
    this.best = greedyCover(groups);
  }

  run(): readonly number[] {
    this.branch([], this.groups);
    return this.best;
  }

  private branch(chosen: readonly number[], open: readonly OpenRules[]): void {
    if (++this.steps >= MOST_STEPS) return;
    if (open.length === 0) {
      if (chosen.length < this.best.length) this.best = chosen;
      return;
    }
    if (chosen.length + 1 >= this.best.length) return;
    const narrowest = open.reduce((a, b) => (choiceOf(b) < choiceOf(a) ? b : a));
    for (const source of narrowest.sources)
      this.branch([...chosen, source], without(new Set([source]), open));
  }
}

function choiceOf({ sources, least }: OpenRules): number {
  return sources.length - least;
}

function greedyCover(groups: readonly OpenRules[]): number[] {
  const chosen: number[] = [];
  let open = groups;
  while (open.length > 0) {
    const counts = new Map<number, number>();
    for (const { sources } of open)
      for (const source of sources) counts.set(source, (counts.get(source) ?? 0) + 1);
    const [source] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    chosen.push(source);
    open = without(new Set([source]), open);
  }
  return chosen;
}

/** A published version of a list. */
export interface KeptVersion {
  readonly at: Date;
  readonly bytes: Uint8Array;
}

/** Lists that one run builds have nearly the same time. */
const SAME_RUN_MS = 3_600_000;

/** A list with what is known of each rule, by its number. */
interface MatrixColumn {
  readonly list: string;
  readonly builds: Date[];
  /** The build that had the rule first, from 1 on; 0 if none had it. */
  since: Uint32Array;
  /** The last build that had it. */
  last: Uint32Array;
  added: number;
  removed: number;
  rules: number;
}

/**
 * Compares the lists of a configuration: what they share, and who had it first. Rules for a name count as the same, whether they are
 * written as `||name^` or as a line of a hosts file.
 */
export class ListMatrix {
  private readonly numbers = new TextNumbers();
  private readonly columns: MatrixColumn[] = [];
  private size = 0;

  /** Takes the versions of the next list, the oldest first. */
  async add(list: string, versions: AsyncIterable<KeptVersion>): Promise<void> {
    const [since, last] = [new Uint32Array(4096), new Uint32Array(4096)];
    const column: MatrixColumn = { list, builds: [], since, last, added: 0, removed: 0, rules: 0 };
    for await (const { at, bytes } of versions) {
      const before = column.rules;
      column.builds.push(at);
      const { fresh, rules } = this.read(bytes, column);
      column.rules = rules;
      if (column.builds.length === 1) continue;
      column.added += fresh;
      column.removed += before + fresh - rules;
    }
    this.columns.push(column);
  }

  /** Counts the rules of a version, and those that the version before did not have. */
  private read(bytes: Uint8Array, column: MatrixColumn): { fresh: number; rules: number } {
    const build = column.builds.length;
    let [fresh, rules] = [0, 0];
    eachLine(bytes, (start, end) => {
      if (start === end || bytes[start] === BANG) return;
      const number = this.numberOf(bytes, start, end);
      if (number === -1) return;
      while (number >= column.last.length) {
        column.last = grown(column.last);
        column.since = grown(column.since);
      }
      const seen = column.last[number]!;
      if (seen === build) return;
      rules++;
      if (seen !== build - 1 || seen === 0) fresh++;
      column.since[number] ||= build;
      column.last[number] = build;
    });
    return { fresh, rules };
  }

  /** The number of a rule; -1 for a canary, which only one build has. */
  private numberOf(bytes: Uint8Array, start: number, end: number): number {
    const isName = readNameSlice(bytes, start, end);
    const [from, to] = isName ? [nameSlice.start, nameSlice.end] : [start, end];
    const known = this.numbers.find(bytes, from, to);
    if (known !== -1) return known;
    if (isName && isCanaryRule(decodeUtf8(bytes, start, end))) return -1;
    this.size++;
    return this.numbers.enter();
  }

  result(): ListBesideOthers[] {
    const { columns } = this;
    const shared = columns.map(() => columns.map(() => 0));
    const onlyHere = columns.map(() => 0);
    const first = columns.map(() => 0);
    const having: number[] = [];
    for (let number = 0; number < this.size; number++) {
      having.length = 0;
      for (const [index, { last, builds }] of columns.entries())
        if (builds.length > 0 && last[number] === builds.length) having.push(index);
      for (const one of having) for (const other of having) shared[one]![other]!++;
      if (having.length === 1) onlyHere[having[0]!]!++;
      const winner = having.length > 1 ? this.firstOf(number, having) : undefined;
      if (winner !== undefined) first[winner]!++;
    }
    return columns.map(({ list, builds, rules, added, removed }, index) => ({
      list,
      rules,
      onlyHere: onlyHere[index]!,
      first: first[index]!,
      added,
      removed,
      builds: builds.length,
      ...(builds[0] && { since: builds[0].toISOString() }),
      shared: columns.flatMap(({ list: other }, at) =>
        at === index ? [] : [{ list: other, rules: shared[index]![at]! }],
      ),
    }));
  }

  /** The list that had a rule before all others that have it now; undefined if two had it at once, or if it is older than the kept builds. */
  private firstOf(number: number, having: readonly number[]): number | undefined {
    const times = having.map((index) => {
      const { since, builds } = this.columns[index]!;
      const build = since[number]!;
      return { index, at: builds[build - 1]!.getTime(), isOldest: build === 1 };
    });
    const [first, second] = times.toSorted((a, b) => a.at - b.at);
    const others = times.filter((one) => one !== first);
    const isSure = others.every(({ isOldest }) => !isOldest);
    return isSure && second!.at - first!.at > SAME_RUN_MS ? first!.index : undefined;
  }
}
