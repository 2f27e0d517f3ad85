import { readRule } from "../meaning/rule.ts";
import { PROBE, witnessOf } from "../meaning/witness.ts";
import { withParents } from "../syntax/parents.ts";
import { type PlainList, hostsOf } from "./plain-list.ts";

/** What happened to a name: it is blocked now and was not, or the other way round. */
export type Change = "blocked" | "freed";

/** A name of which something changed. */
export interface ChangedName {
  /** For a wildcard, the pattern itself. */
  readonly name: string;
  /** For the name itself. */
  readonly self: Change | undefined;
  /** For the names below it that neither list names. */
  readonly below: Change | undefined;
  /** The rule that decides for it now, or did: of the new list for what is blocked, of the old one for what is freed. */
  readonly rule: string | undefined;
}

export interface ListDifference {
  /** Rules that only the new list has, and only the old one. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Names for which an answer changed, but those that a parent among them says already. */
  readonly changes: readonly ChangedName[];
  readonly blocked: number;
  readonly freed: number;
  /** Regular expressions and the like that came or went. They are compared by the known names only, not exactly. */
  readonly patterns: readonly string[];
}

/**
 * What a new list changes for those who use it, compared with an old one. `known` are names that patterns are compared by,
 * besides those of the two lists.
 */
export function effectiveDiff(
  old: PlainList,
  fresh: PlainList,
  known: Iterable<string> = [],
): ListDifference {
  const added = [...fresh.texts].filter((text) => !old.texts.has(text));
  const removed = [...old.texts].filter((text) => !fresh.texts.has(text));
  const touched = new Set<string>();
  const patterns: string[] = [];
  const wildcards: ChangedName[] = [];
  let isAny = false;
  for (const text of [...added, ...removed]) {
    // What a `$badfilter` takes back is the rule without it.
    const { names, isPattern } = hostsOf(text);
    for (const name of names) touched.add(name);
    if (!isPattern) continue;
    isAny = true;
    const witness = witnessFor(text);
    if (witness === undefined) patterns.push(text);
    else {
      const { change, rule } = compare(witness, old, fresh);
      if (change !== undefined)
        wildcards.push({ name: text, self: change, below: undefined, rule });
    }
  }
  const found = new Map<string, ChangedName>();
  for (const name of concernedNames(old, fresh, touched, isAny))
    found.set(name, changeOf(name, old, fresh));
  if (isAny)
    for (const name of known) if (!found.has(name)) found.set(name, changeOf(name, old, fresh));
  const changes = [
    ...[...found.values()].filter((change) => !isImplied(change, found)),
    ...wildcards,
  ];
  return {
    added,
    removed,
    changes,
    blocked: changes.filter(({ self, below }) => (self ?? below) === "blocked").length,
    freed: changes.filter(({ self, below }) => (self ?? below) === "freed").length,
    patterns,
  };
}

function witnessFor(text: string): string | undefined {
  const rule = readRule(text);
  return rule && witnessOf(rule);
}

/** Names of either list that a rule which came or went is for, or is above; all of them when it may be for any. */
function concernedNames(
  old: PlainList,
  fresh: PlainList,
  touched: ReadonlySet<string>,
  isAny: boolean,
): Set<string> {
  const names = new Set<string>();
  for (const list of [old, fresh])
    for (const name of list.names())
      if (isAny || touched.has(name) || withParents(name).some((parent) => touched.has(parent)))
        names.add(name);
  return names;
}

function changeOf(name: string, old: PlainList, fresh: PlainList): ChangedName {
  const self = compare(name, old, fresh);
  const below = compare(`${PROBE}.${name}`, old, fresh);
  const change = self.change ?? below.change;
  return {
    name,
    self: self.change,
    below: below.change,
    rule: change && (self.rule ?? below.rule),
  };
}

function compare(
  name: string,
  old: PlainList,
  fresh: PlainList,
): { change: Change | undefined; rule: string | undefined } {
  const before = old.rules.answer(name);
  const after = fresh.rules.answer(name);
  const wasBlocked = before.verdict === "blocked";
  const isBlocked = after.verdict === "blocked";
  if (wasBlocked === isBlocked) return { change: undefined, rule: undefined };
  return isBlocked
    ? { change: "blocked", rule: after.by?.text }
    : { change: "freed", rule: before.by?.text };
}

/** Whether the nearest parent that was looked at says the same; without one, whether there is nothing to say. */
function isImplied(
  { name, self, below }: ChangedName,
  found: ReadonlyMap<string, ChangedName>,
): boolean {
  const [, ...parents] = withParents(name);
  const parent = parents.map((one) => found.get(one)).find((one) => one !== undefined);
  return self === parent?.below && below === parent?.below;
}
