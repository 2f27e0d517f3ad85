import { HOUSEHOLD_TABLE } from "./household-table.ts";

/** A remote source never blocks names of these kinds. The strictest is first. */
export const STRICT_KINDS = [
  "infrastructure",
  "os",
  "payment",
  "bank",
  "health",
  "government",
  "mail",
  "search",
] as const;
/** Some lists block names of these kinds on purpose. */
export const ACCEPTED_KINDS = [
  "messenger",
  "vendor",
  "shop",
  "streaming",
  "games",
  "social",
] as const;

export type HouseholdKind = (typeof STRICT_KINDS)[number] | (typeof ACCEPTED_KINDS)[number];

const KINDS: readonly string[] = [...STRICT_KINDS, ...ACCEPTED_KINDS];
const ACCEPTED: readonly string[] = ACCEPTED_KINDS;

export function isKind(text: string): text is HouseholdKind {
  return KINDS.includes(text);
}

/** Whether lists exist that block names of this kind on purpose. */
export function isAcceptedKind(kind: string): boolean {
  return ACCEPTED.includes(kind);
}

let kinds: ReadonlyMap<string, HouseholdKind> | undefined;

/** The names that people need, with their kinds. */
export function householdKinds(): ReadonlyMap<string, HouseholdKind> {
  kinds ??= readTable(HOUSEHOLD_TABLE);
  return kinds;
}

/** How many of the names are of each kind. */
export function countKinds(names: Iterable<string>): Partial<Record<HouseholdKind, number>> {
  const counts: Partial<Record<HouseholdKind, number>> = {};
  for (const name of names) {
    const kind = householdKinds().get(name);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** If a name is there twice, the stricter kind wins. Infrastructure has no `www`. */
export function readTable(table: string): ReadonlyMap<string, HouseholdKind> {
  const names = new Map<string, HouseholdKind>();
  const rank = (kind: HouseholdKind): number => KINDS.indexOf(kind);
  let kind: HouseholdKind = "search";
  for (const token of table.trim().split(/\s+/)) {
    if (token.endsWith(":")) kind = token.slice(0, -1) as HouseholdKind;
    if (!token.includes(".")) continue;
    const [name = "", ...hosts] = token.split("+");
    const all = hosts.map((host) => `${host}.${name}`);
    if (kind !== "infrastructure") all.push(`www.${name}`);
    for (const one of [name, ...all]) {
      const known = names.get(one);
      if (known === undefined || rank(kind) < rank(known)) names.set(one, kind);
    }
  }
  return names;
}
