import type { BuildRecord } from "../record/build-record.ts";
import { Other } from "../kernel/kernel-layout.ts";
import { Fate, hasCause } from "../rules/fate.ts";

/** Rules of the list that the same sources have. */
export interface CarriedRules {
  /** Indices of the sources, in order. */
  readonly sources: readonly number[];
  readonly rules: number;
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

/** Groups the rules of a list by the sources that have them. */
export function carriedRules(record: BuildRecord): CarriedRules[] {
  const { groupOf, groups, state } = carriersOf(record);
  const counts = new Map<number, number>();
  for (let row = 0; row < record.rows; row++)
    if (state[row] === Carried.Rule)
      counts.set(groupOf[row]!, (counts.get(groupOf[row]!) ?? 0) + 1);
  return [...counts].map(([group, rules]) => ({ sources: groups.sourcesOf(group), rules }));
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
      if (fate !== Fate.Live && !hasCause(fate)) continue;
      const keeper = fate === Fate.Live ? row : carriedBy(record, fates, row);
      if (fate === Fate.Live) state[row] = Carried.Rule;
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
    if (fate === Fate.Live) return keeper;
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
  /** Sources that together have every rule of the list. */
  readonly sources: readonly number[];
  /** Whether no smaller set exists. */
  readonly isSmallest: boolean;
}

/** The search stops after this many branches and returns the best set so far. */
const MOST_STEPS = 200_000;

/** The smallest set of sources that has every rule of the list. */
export function smallestCover(groups: readonly CarriedRules[]): Cover {
  const chosen = new Set<number>();
  // A source with unique rules is in every cover.
  for (const { sources } of groups) if (sources.length === 1) chosen.add(sources[0]!);
  const open = groups
    .map(({ sources }) => sources)
    .filter((sources) => !sources.some((source) => chosen.has(source)));
  const search = new CoverSearch(open);
  const rest = search.run();
  return {
    sources: [...chosen, ...rest].toSorted((a, b) => a - b),
    isSmallest: search.steps < MOST_STEPS,
  };
}

/** Branch and bound over the remaining groups, beginning with the group with the fewest sources. */
class CoverSearch {
  steps = 0;
  private readonly groups: readonly (readonly number[])[];
  private best: readonly number[];

  constructor(groups: readonly (readonly number[])[]) {
    this.groups = groups;
    this.best = greedyCover(groups);
  }

  run(): readonly number[] {
    this.branch([], this.groups);
    return this.best;
  }

  private branch(chosen: readonly number[], open: readonly (readonly number[])[]): void {
    if (++this.steps >= MOST_STEPS) return;
    if (open.length === 0) {
      if (chosen.length < this.best.length) this.best = chosen;
      return;
    }
    if (chosen.length + 1 >= this.best.length) return;
    const narrowest = open.reduce((a, b) => (b.length < a.length ? b : a));
    for (const source of narrowest)
      this.branch(
        [...chosen, source],
        open.filter((group) => !group.includes(source)),
      );
  }
}

function greedyCover(groups: readonly (readonly number[])[]): number[] {
  const chosen: number[] = [];
  let open = groups;
  while (open.length > 0) {
    const counts = new Map<number, number>();
    for (const group of open)
      for (const source of group) counts.set(source, (counts.get(source) ?? 0) + 1);
    const [source] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    chosen.push(source);
    open = open.filter((group) => !group.includes(source));
  }
  return chosen;
}
