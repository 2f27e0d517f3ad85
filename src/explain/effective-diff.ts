import { soleName } from "../meaning/line.ts";
import { type PlacedRule, RuleIndex, nameScope } from "../meaning/rule-index.ts";
import {
  PROBE,
  type Rule,
  SubtreeEffects,
  cancelledKey,
  readRule,
  witnessOf,
} from "../meaning/rule.ts";
import { withParents } from "../syntax/public-suffix.ts";
import { type PlainList, hostsOf } from "./list-rules.ts";
import type { Change, ChangedName, ListDifference } from "../documents/facts.ts";

export type { Change, ChangedName, ListDifference } from "../documents/facts.ts";

/**
 * What a new list changes for its users. `known` are names on which patterns are compared, in addition to those of the two
 * lists.
 */
export function effectiveDiff(
  old: PlainList,
  fresh: PlainList,
  known: Iterable<string> = [],
): ListDifference {
  return new ListComparison(old, fresh).difference(known);
}

/** Compares two lists, first on their own names, then on more if that is needed. */
export class ListComparison {
  private readonly old: PlainList;
  private readonly fresh: PlainList;
  private readonly added: readonly string[];
  private readonly removed: readonly string[];
  /** Names of added and removed rules. */
  private readonly touched = new Set<string>();
  /** Added and removed patterns. */
  private readonly changed: string[] = [];
  /** Those of them that can only be compared on known names. */
  private readonly patterns: string[] = [];
  private readonly wildcards: ChangedName[] = [];
  /** Whether a changed pattern may match a name or names below it. */
  private readonly matches: (name: string) => boolean;
  /** What changed for the names of the lists that a changed rule concerns. */
  private readonly found = new Map<string, ChangedName>();

  /** With `isFreedOnly`, names that are newly blocked may be missing: added rules that only block a name free none. */
  constructor(old: PlainList, fresh: PlainList, isFreedOnly = false) {
    this.old = old;
    this.fresh = fresh;
    this.added = [...fresh.texts].filter((text) => !old.texts.has(text));
    this.removed = [...old.texts].filter((text) => !fresh.texts.has(text));
    for (const text of this.added)
      if (!isFreedOnly || soleName(text) === undefined) this.enter(text);
    for (const text of this.removed) this.enter(text);
    this.matches = matcherOf(this.changed);
    for (const name of old.names()) this.visit(name);
    for (const name of fresh.names()) if (!old.isNamed(name)) this.visit(name);
  }

  /** `known` are names on which patterns are compared, in addition to those of the two lists. */
  difference(known: Iterable<string> = []): ListDifference {
    const { old, fresh, added, removed, patterns } = this;
    const found = new Map(this.found);
    // The answer for any other name is the same in both lists, and in no change follows from it.
    if (this.changed.length > 0)
      for (const name of known)
        if (!found.has(name) && (this.isConcerned(name) || isAtOrBelow(name, found)))
          found.set(name, changeOf(name, old, fresh));
    const isNamed = (name: string): boolean => old.isNamed(name) || fresh.isNamed(name);
    const changes = [
      ...[...found.values()].filter((change) => !isImplied(change, found, isNamed)),
      ...this.wildcards,
    ];
    return {
      added,
      removed,
      changes,
      blocked: changes.filter((one) => hasChange(one, "blocked")).length,
      freed: changes.filter((one) => hasChange(one, "freed")).length,
      patterns,
    };
  }

  private enter(text: string): void {
    // A `$badfilter` rule affects the names of the rule that it cancels.
    const { names, isPattern } = hostsOf(text);
    for (const name of names) this.touched.add(name);
    if (!isPattern) return;
    this.changed.push(text);
    const witness = witnessFor(text);
    if (witness === undefined) this.patterns.push(text);
    else {
      const { change, rule } = compareName(witness, this.old, this.fresh);
      if (change !== undefined)
        this.wildcards.push({ name: text, self: change, below: undefined, rule });
    }
  }

  private visit(name: string): void {
    if (this.isConcerned(name)) this.found.set(name, changeOf(name, this.old, this.fresh));
  }

  /** Whether a name is at or below a changed rule, or a changed pattern matches it. */
  private isConcerned(name: string): boolean {
    return isAtOrBelow(name, this.touched) || this.matches(name);
  }
}

/** Whether the name or names below it changed in this way. One rule can block a name and another free those below it. */
export function hasChange({ self, below }: ChangedName, kind: Change): boolean {
  return self === kind || below === kind;
}

/** A name and what of it changed in this way: `name`, `name and below`, `below name`. */
export function changedText(
  { name, self, below }: ChangedName,
  kind: Change,
  show: (name: string) => string,
): string {
  if (self !== kind) return `below ${show(name)}`;
  return below === kind ? `${show(name)} and below` : show(name);
}

function witnessFor(text: string): string | undefined {
  const rule = readRule(text);
  return rule && witnessOf(rule);
}

/** Tells whether a changed pattern may match a name or names below it. Others have the same answer in both lists. */
function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const index = new RuleIndex<PlacedRule>();
  for (const [row, text] of patterns.entries()) {
    const rule = cancelledKey(text) === undefined ? readRule(text) : undefined;
    // A pattern that is cancelled, or not readable, may be for any name.
    if (rule === undefined) return () => true;
    index.add({ ...rule, row });
  }
  return (name) => {
    const below = `${PROBE}.${name}`;
    // What a pattern needs in the name is in the longer name too.
    return (
      index.mayMatch(below) && (index.matching(name).length > 0 || index.matching(below).length > 0)
    );
  };
}

function isAtOrBelow(name: string, names: { has(one: string): boolean }): boolean {
  for (let parent = name; ;) {
    if (names.has(parent)) return true;
    const dot = parent.indexOf(".");
    if (dot === -1) return false;
    parent = parent.slice(dot + 1);
  }
}

function changeOf(name: string, old: PlainList, fresh: PlainList): ChangedName {
  const self = compareName(name, old, fresh);
  const below = compareName(`${PROBE}.${name}`, old, fresh);
  const change = self.change ?? below.change;
  return {
    name,
    self: self.change,
    below: below.change,
    rule: change && (self.rule ?? below.rule),
  };
}

/** How the answer for one name changed. */
export function compareName(
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

/** Whether the change follows from the nearest parent in a list; without a parent, whether nothing changed. */
function isImplied(
  { name, self, below }: ChangedName,
  found: ReadonlyMap<string, ChangedName>,
  isNamed: (name: string) => boolean,
): boolean {
  const [, ...parents] = withParents(name);
  const parent = parents.find((one) => found.has(one) || isNamed(one));
  // One that was not examined has not changed.
  const change = parent === undefined ? undefined : found.get(parent)?.below;
  return self === change && below === change;
}

/** Exceptions of a new list that may free names which a comparison of the names in both lists does not find. */
interface UnsureExceptions {
  /** Those that may free names that a pattern of the old list blocks, and that no list has. */
  readonly byPattern: readonly string[];
  /** Those that free names for some clients or query types only. */
  readonly forSome: readonly string[];
}

/** Judges the rules that only the new list has. */
export function unsureExceptions(
  added: readonly string[],
  old: PlainList,
  fresh: PlainList,
): UnsureExceptions {
  const byPattern: string[] = [];
  const partial: Rule[] = [];
  let blocks: SubtreeEffects | undefined;
  for (const text of added) {
    const rule = text.startsWith("@@") ? readRule(text) : undefined;
    if (rule === undefined || rule.rewrite !== undefined) continue;
    if (rule.isPartial) partial.push(rule);
    if (hostsOf(text).isPattern) byPattern.push(text);
    else if (!rule.isPartial) {
      blocks ??= commonPatterns(old, fresh);
      if (mayFreeBelow(rule, blocks, old)) byPattern.push(text);
    }
  }
  return { byPattern, forSome: freeingSome(partial, old) };
}

/** The effects of the block patterns that both lists have. */
function commonPatterns(old: PlainList, fresh: PlainList): SubtreeEffects {
  const effects = new SubtreeEffects();
  for (const rule of old.rules.special())
    if (!rule.isAllow && !rule.isPartial && nameScope(rule.pattern) === undefined)
      if (fresh.texts.has(rule.text)) effects.add(rule);
  return effects;
}

/** Whether a pattern may block names below an exception, and the old list does not allow all of them. */
function mayFreeBelow(
  { pattern, isImportant }: Rule,
  blocks: SubtreeEffects,
  old: PlainList,
): boolean {
  const scope = nameScope(pattern);
  if (scope?.below !== true || !blocks.over(scope.name).blocks) return false;
  const { verdict, by } = old.rules.answer(`${PROBE}.${scope.name}`);
  const isAllowed = verdict === "allowed" && by !== undefined && !hostsOf(by.text).isPattern;
  return isImportant || !isAllowed;
}

/** The rules that match a name which the list blocks. */
function freeingSome(exceptions: readonly Rule[], old: PlainList): string[] {
  if (exceptions.length === 0) return [];
  const index = new RuleIndex<PlacedRule>();
  const freeing = new Set<string>();
  const test = (name: string): void => {
    const rules = index.matching(name).filter(({ text }) => !freeing.has(text));
    if (rules.length === 0 || old.rules.answer(name).verdict !== "blocked") return;
    for (const { text } of rules) freeing.add(text);
  };
  for (const rule of exceptions) index.add({ ...rule, row: 0 });
  for (const { pattern } of exceptions) {
    const scope = nameScope(pattern);
    if (scope === undefined) continue;
    test(scope.name);
    test(`${PROBE}.${scope.name}`);
  }
  for (const name of old.names()) test(name);
  return exceptions.map(({ text }) => text).filter((text) => freeing.has(text));
}
