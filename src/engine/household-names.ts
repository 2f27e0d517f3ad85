import { HOUSEHOLD_TABLE } from "./household-table.ts";

/** A remote source never blocks names of these kinds. The strictest is first. */
export const STRICT_KINDS: readonly string[] =
  "infrastructure os payment bank health government mail search".split(" ");
/** Some lists block names of these kinds on purpose. */
export const ACCEPTED_KINDS: readonly string[] =
  "messenger vendor shop streaming games social".split(" ");

const KINDS: readonly string[] = [...STRICT_KINDS, ...ACCEPTED_KINDS];

export function isKind(text: string): boolean {
  return KINDS.includes(text);
}

/** Whether lists exist that block names of this kind on purpose. */
export function isAcceptedKind(kind: string): boolean {
  return ACCEPTED_KINDS.includes(kind);
}

let kinds: ReadonlyMap<string, string> | undefined;

/** The names that people need, with their kinds. */
export function householdKinds(): ReadonlyMap<string, string> {
  kinds ??= readTable(HOUSEHOLD_TABLE);
  return kinds;
}

/** How many of the names are of each kind. */
export function countKinds(names: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) {
    const kind = householdKinds().get(name);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** If a name is there twice, the stricter kind wins. Infrastructure has no `www`. */
export function readTable(table: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  let kind = "";
  for (const token of table.trim().split(/\s+/)) {
    if (token.endsWith(":")) kind = token.slice(0, -1);
    if (!token.includes(".")) continue;
    const [name = "", ...hosts] = token.split("+");
    const all = hosts.map((host) => `${host}.${name}`);
    if (kind !== "infrastructure") all.push(`www.${name}`);
    for (const one of [name, ...all]) {
      const known = names.get(one);
      if (known === undefined || KINDS.indexOf(kind) < KINDS.indexOf(known)) names.set(one, kind);
    }
  }
  return names;
}
