import type { CombinedConfig } from "../../config/config.ts";
import { type Network, networkOf, overlap } from "../../config/network.ts";
import type { CombinedListName } from "./combined-format.ts";

/** Clients that have the same lists. */
export interface ClientLevel {
  /** The name of the first group. */
  readonly name: string;
  readonly groups: readonly { readonly name: string; readonly networks: readonly Network[] }[];
  /** The lists as bits, with those that they cover. */
  readonly lists: number;
}

type Group = NonNullable<CombinedConfig["groups"]>[number];

interface Shared {
  readonly level: ClientLevel;
  readonly isAlone: boolean;
  /** The next smaller level of the same view. */
  lower: Shared | undefined;
  isLower: boolean;
}

/** The names of the levels, which are known before the lists are. */
export function levelNames({ groups = [] }: CombinedConfig): string[] {
  return levelGroups(groups).map(([first]) => first!.name);
}

/**
 * Distributes groups among as few views as possible. The levels of a view begin with the fewest lists, and every level has the
 * lists of the one before. The result depends only on the configuration.
 */
export function clientViews(
  { groups = [] }: CombinedConfig,
  lists: readonly (CombinedListName | undefined)[],
): ClientLevel[][] {
  const levels = levelGroups(groups).map((same): Shared => ({
    level: {
      name: same[0]!.name,
      groups: same.map((group) => ({ name: group.name, networks: networksOf(group) })),
      lists: bitsOf(same[0]!, lists),
    },
    isAlone: same.some((group) => isOverlapping(group, groups) || isEveryone(group)),
    lower: undefined,
    isLower: false,
  }));
  // Levels with many lists first: each that gets a place below another saves a view with its names.
  for (const one of levels.toSorted((a, b) => countOf(b) - countOf(a)))
    one.isLower = placeBelow(one, levels, new Set());
  return levels.filter(({ isLower }) => !isLower).map(viewOf);
}

/** Finds a level with more lists that has no lower one, or whose lower one can go elsewhere (augmenting paths). */
function placeBelow(one: Shared, levels: readonly Shared[], seen: Set<Shared>): boolean {
  for (const higher of levels) {
    if (seen.has(higher) || !isBelow(one, higher, levels)) continue;
    seen.add(higher);
    if (higher.lower !== undefined && !placeBelow(higher.lower, levels, seen)) continue;
    higher.lower = one;
    return true;
  }
  return false;
}

/** The order of equal levels is that of the configuration, so that views cannot contain each other in a circle. */
function isBelow(one: Shared, higher: Shared, levels: readonly Shared[]): boolean {
  if (one === higher || one.isAlone || higher.isAlone) return false;
  if ((one.level.lists & ~higher.level.lists) !== 0) return false;
  return one.level.lists !== higher.level.lists || levels.indexOf(one) < levels.indexOf(higher);
}

function viewOf(highest: Shared): ClientLevel[] {
  const view: ClientLevel[] = [];
  for (let one: Shared | undefined = highest; one !== undefined; one = one.lower)
    view.unshift(one.level);
  return view;
}

function countOf({ level }: Shared): number {
  return level.lists.toString(2).replaceAll("0", "").length;
}

/** Groups with the same lists. A group that shares clients with another one stays alone: BIND could not tell them apart. */
function levelGroups(groups: readonly Group[]): Group[][] {
  const byLists = Map.groupBy(groups, (group) =>
    isOverlapping(group, groups) ? group : JSON.stringify(group.lists?.toSorted() ?? "all"),
  );
  return [...byLists.values()];
}

function isOverlapping(group: Group, groups: readonly Group[]): boolean {
  const own = networksOf(group);
  return groups.some(
    (other) =>
      other !== group && networksOf(other).some((net) => own.some((one) => overlap(one, net))),
  );
}

/** No trigger of a policy zone can have all addresses. */
function isEveryone(group: Group): boolean {
  return networksOf(group).some(({ prefix }) => prefix === 0);
}

function networksOf({ clients }: Group): Network[] {
  return clients.flatMap((client) => networkOf(client) ?? []);
}

/** The lists of a group and those that they cover, as bits. */
function bitsOf(group: Group, lists: readonly (CombinedListName | undefined)[]): number {
  const wanted = [...(group.lists ?? lists.flatMap((list) => list?.name ?? []))];
  for (const name of wanted)
    for (const covered of lists.find((list) => list?.name === name)?.covers ?? [])
      if (!wanted.includes(covered)) wanted.push(covered);
  return lists.reduce(
    (bits, list, place) => (list && wanted.includes(list.name) ? bits | (1 << place) : bits),
    0,
  );
}
