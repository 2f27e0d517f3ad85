import { withParents } from "../syntax/parents.ts";
import { type PlainList, hostsOf } from "./plain-list.ts";

/** What happened to a name: it is blocked now and was not, or the other way round. */
export type Change = "blocked" | "freed";

/** A name of which something changed. */
export interface ChangedName {
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
  /** Rules without a name of their own that came or went: for names that neither list has, nobody can say what they do. */
  readonly patterns: readonly string[];
}

/** A label that no list has and no pattern is likely to match. */
const PROBE = "q7-any-0z";

/** What a new list changes for those who use it, compared with an old one. */
export function effectiveDiff(old: PlainList, fresh: PlainList): ListDifference {
  const added = [...fresh.texts].filter((text) => !old.texts.has(text));
  const removed = [...old.texts].filter((text) => !fresh.texts.has(text));
  const touched = new Set<string>();
  const patterns: string[] = [];
  for (const text of [...added, ...removed]) {
    // What a `$badfilter` takes back is the rule without it.
    const { names, isPattern } = hostsOf(text);
    for (const name of names) touched.add(name);
    if (isPattern) patterns.push(text);
  }
  const found = new Map<string, ChangedName>();
  for (const name of concernedNames(old, fresh, touched, patterns.length > 0)) {
    const change = changeOf(name, old, fresh);
    found.set(name, change);
  }
  const changes = [...found.values()].filter((change) => !isImplied(change, found));
  return {
    added,
    removed,
    changes,
    blocked: changes.filter(({ self, below }) => (self ?? below) === "blocked").length,
    freed: changes.filter(({ self, below }) => (self ?? below) === "freed").length,
    patterns,
  };
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
