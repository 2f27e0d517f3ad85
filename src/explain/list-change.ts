import { BANG, LF, decodeUtf8, encodeUtf8, equalBytes, lineEnd } from "../bytes/text.ts";
import type { SourceChange } from "../documents/documents.ts";
import type { RankedNames } from "../meaning/ranked-names.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { isCanaryRule } from "../syntax/host-name.ts";
import { ruleLocations } from "./why.ts";
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
import type {
  Change,
  ChangedName,
  FileChange,
  ListDifference,
  LineLocation,
} from "../documents/facts.ts";
import { type Concern, type LineFinder, NameEnds, PlainList, hostsOf } from "./plain-list.ts";

/** A list, and the record of its build if it exists. */
export interface ListState {
  readonly bytes: Uint8Array;
  readonly record?: BuildRecord | undefined;
}

/** The changes from one list to another, in text and in effect. */
export interface ListChange extends ListDifference {
  readonly rulesBefore: number;
  readonly rulesNow: number;
  /** Whether only one of the lists has a canary, so that the new one must be published. */
  readonly changesCanary: boolean;
  /** The other files that change; the file of the list only if it has the same rules. */
  readonly files: readonly FileChange[];
  /** The locations of changed and deciding rules, if a record has them. */
  readonly locations: ReadonlyMap<string, LineLocation>;
  /** The number of added and removed rules per source. */
  readonly bySource: readonly SourceChange[];
}

/** Whether nothing that is published changes. */
export function isSame(change: ListChange): boolean {
  return hasSameRules(change) && change.files.length === 0;
}

/** Whether both lists have the same rules, and both or none have a canary. */
export function hasSameRules({ added, removed, changesCanary }: ListChange): boolean {
  return added.length + removed.length === 0 && !changesCanary;
}

/** Compares two lists: their texts, their effect, and the sources of the changes. */
export async function listChange(old: ListState, fresh: ListState): Promise<ListChange> {
  const before = await PlainList.read(old.bytes);
  const now = await PlainList.read(fresh.bytes);
  const difference = effectiveDiff(before, now);
  const { added, removed, changes } = difference;
  const decisive = changes.flatMap(({ rule }) => rule ?? []);
  const locationsIn = (
    { bytes, record }: ListState,
    texts: readonly string[],
  ): Map<string, LineLocation> =>
    record === undefined ? new Map() : ruleLocations(bytes, record, new Set(texts));
  const oldLocations = locationsIn(old, [...removed, ...decisive]);
  const newLocations = locationsIn(fresh, [...added, ...decisive]);
  return {
    ...difference,
    rulesBefore: before.size,
    rulesNow: now.size,
    changesCanary: before.hasCanary !== now.hasCanary,
    files: [],
    locations: new Map([...oldLocations, ...newLocations]),
    bySource: countBySource(added, removed, newLocations, oldLocations),
  };
}

function countBySource(
  added: readonly string[],
  removed: readonly string[],
  newLocations: ReadonlyMap<string, LineLocation>,
  oldLocations: ReadonlyMap<string, LineLocation>,
): ListChange["bySource"] {
  const counts = new Map<string, { added: number; removed: number }>();
  const count = (location: LineLocation | undefined, key: "added" | "removed"): void => {
    if (location === undefined) return;
    const known = counts.get(location.source) ?? { added: 0, removed: 0 };
    known[key]++;
    counts.set(location.source, known);
  };
  for (const text of added) count(newLocations.get(text), "added");
  for (const text of removed) count(oldLocations.get(text), "removed");
  return [...counts]
    .map(([label, numbers]) => ({ label, ...numbers }))
    .toSorted((a, b) => b.added + b.removed - a.added - a.removed);
}

export interface ChangedRules {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Bytes that are compared at a time. */
const STEP = 65_536;

/** The added and removed rules. Most of two versions is equal at both ends; only the rest is compared line by line. */
export function changedRules(old: Uint8Array, fresh: Uint8Array): ChangedRules {
  const start = sameStart(old, fresh);
  const end = sameEnd(old, fresh, start);
  const before = linesOf(old, start, old.length - end);
  const now = linesOf(fresh, start, fresh.length - end);
  return {
    added: [...now].filter((line) => !before.has(line)),
    removed: [...before].filter((line) => !now.has(line)),
  };
}

/** The start of the first line that differs after the header, whose dates always differ. */
function sameStart(a: Uint8Array, b: Uint8Array): number {
  let at = headerEnd(a);
  if (at !== headerEnd(b)) return 0;
  const most = Math.min(a.length, b.length);
  while (at + STEP <= most && equalBytes(a.subarray(at, at + STEP), b.subarray(at, at + STEP)))
    at += STEP;
  while (at < most && a[at] === b[at]) at++;
  const line = a.lastIndexOf(LF, Math.max(0, at - 1)) + 1;
  return Math.max(line, 0);
}

/** The end of the comments at the start of a list. */
function headerEnd(list: Uint8Array): number {
  let at = 0;
  while (list[at] === BANG) at = lineEnd(list, at) + 1;
  return Math.min(at, list.length);
}

/** The number of equal bytes at the end, from the start of a line on. */
function sameEnd(a: Uint8Array, b: Uint8Array, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let count = 0;
  const step = (size: number): boolean =>
    count + size <= most &&
    equalBytes(
      a.subarray(a.length - count - size, a.length - count),
      b.subarray(b.length - count - size, b.length - count),
    );
  while (step(STEP)) count += STEP;
  while (step(1)) count++;
  return Math.max(0, a.length - lineEnd(a, a.length - count) - 1);
}

function linesOf(list: Uint8Array, start: number, end: number): Set<string> {
  const lines = decodeUtf8(list, start, Math.max(start, end)).split("\n");
  return new Set(
    lines.filter((line) => line !== "" && !line.startsWith("!") && !isCanaryRule(line)),
  );
}

/** The names that are newly blocked or freed, the most popular first if ranks are known. */
export function namesWith(
  kind: Change,
  changes: readonly ChangedName[],
  ranks: RankedNames | undefined,
): readonly ChangedName[] {
  const all = changes.filter((change) => hasChange(change, kind));
  if (ranks === undefined) return all;
  const ranked = all.map((name) => ({ name, rank: rankOfChange(name, ranks) ?? Infinity }));
  // Ranks without an end: their difference is not a number.
  return ranked
    .toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))
    .map(({ name }) => name);
}

/** The best rank of the names whose answer changed. */
export function rankOfChange(
  { name, self, below }: ChangedName,
  ranks: RankedNames,
): number | undefined {
  return below === undefined || (self !== undefined && self !== below)
    ? ranks.rankOf(name)
    : ranks.bestOf(name);
}

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
  /** Added and removed patterns. */
  private readonly changed: string[] = [];
  /** Those of them that can only be compared on known names. */
  private readonly patterns: string[] = [];
  /** The others, with a name that each matches. */
  private readonly witnesses = new Map<string, string>();
  private readonly concern = new Concerned();
  /** The names that a changed rule concerns. */
  private readonly concerned = new Set<string>();
  /** What changed for them; undefined for a name that has the same answer. */
  private readonly found = new Map<string, ChangedName | undefined>();

  /** With `isFreedOnly`, added rules that only block are left out: they free no name. */
  constructor(old: PlainList, fresh: PlainList, isFreedOnly = false) {
    this.old = old;
    this.fresh = fresh;
    this.added = isFreedOnly
      ? fresh.specialWithout(old).filter(mayFree)
      : fresh.textsAt(fresh.without(old));
    this.removed = old.textsAt(old.without(fresh));
    for (const text of this.added) this.enter(text);
    for (const text of this.removed) this.enter(text);
    this.concern.setPatterns(this.changed);
    this.visitNames(old);
    this.visitNames(fresh);
  }

  private enter(text: string): void {
    // A `$badfilter` rule affects the names of the rule that it cancels.
    const { names, isPattern } = hostsOf(text);
    for (const name of names) this.concern.add(name);
    if (!isPattern) return;
    this.changed.push(text);
    const witness = witnessFor(text);
    if (witness === undefined) this.patterns.push(text);
    else this.witnesses.set(text, witness);
  }

  private visitNames(list: PlainList): void {
    list.eachConcerned(this.concern, (name) => {
      if (this.concern.has(name)) this.concerned.add(name);
    });
  }

  /** Compares the lists on the names of another one, too. */
  compareOn(list: PlainList): void {
    if (this.changed.length > 0) this.visitNames(list);
  }

  /** `known` are names on which patterns are compared, in addition to those of the two lists. */
  difference(known: Iterable<string> = []): ListDifference {
    const { old, fresh, added, removed, patterns, found, concern, concerned } = this;
    // The answer for any other name is the same in both lists, and in no change follows from it.
    if (this.changed.length > 0)
      for (const name of known)
        if (concern.has(name) || isAtOrBelow(name, concerned)) concerned.add(name);
    const asked = [...concerned, ...this.witnesses.values()].filter((name) => !found.has(name));
    const looked = asked.map((name) => `${PROBE}.${name}`);
    for (const list of [old, fresh])
      if (concern.filter === undefined) list.expect(looked);
      else list.noteEntered(looked);
    for (const name of concerned) if (!found.has(name)) found.set(name, changeOf(name, old, fresh));
    const isNamed = (name: string): boolean => old.isNamed(name) || fresh.isNamed(name);
    const changes: ChangedName[] = [];
    for (const [name, change] of found)
      if (!isImplied(name, change, found, isNamed))
        changes.push(change ?? { name, self: undefined, below: undefined, rule: undefined });
    for (const [text, witness] of this.witnesses) {
      const { change, rule } = compareName(witness, old, fresh);
      if (change !== undefined) changes.push({ name: text, self: change, below: undefined, rule });
    }
    return {
      added,
      removed,
      changes,
      blocked: changes.filter((one) => hasChange(one, "blocked")).length,
      freed: changes.filter((one) => hasChange(one, "freed")).length,
      patterns,
    };
  }
}

/** The names that changed rules concern: those at or below their names, and those that changed patterns may match. */
class Concerned implements Concern {
  private readonly ends = new NameEnds();
  /** The changed patterns; "any" if one is cancelled, or not readable, and may be for any name. */
  private patterns: RuleIndex<PlacedRule> | "any" = new RuleIndex();
  private readonly probed = new Uint8Array(PROBE.length + 1 + LONGEST);

  add(name: string): void {
    this.ends.add(name);
  }

  setPatterns(texts: readonly string[]): void {
    const index = new RuleIndex<PlacedRule>();
    this.patterns = index;
    for (const [row, text] of texts.entries()) {
      const rule = cancelledKey(text) === undefined ? readRule(text) : undefined;
      if (rule === undefined) {
        this.patterns = "any";
        return;
      }
      index.add({ ...rule, row });
    }
    this.probed.set(encodeUtf8(`${PROBE}.`));
  }

  isAbove(hash: number): boolean {
    return this.ends.isAbove(hash);
  }

  get filter(): LineFinder | undefined {
    const { ends, patterns } = this;
    return patterns !== "any" && patterns.isEmpty ? ends.filter : undefined;
  }

  mayHold(bytes: Uint8Array, start: number, end: number): boolean {
    const { ends, patterns, probed } = this;
    if (patterns === "any" || ends.mayHold(bytes, start, end)) return true;
    if (patterns.isEmpty) return false;
    if (end - start > LONGEST) return true;
    // What a pattern needs in the name is in the longer name too.
    let at = PROBE.length + 1;
    for (let from = start; from < end; from++) probed[at++] = bytes[from]!;
    return patterns.mayMatchBytes(probed, 0, at);
  }

  has(name: string): boolean {
    const { ends, patterns } = this;
    if (patterns === "any" || isAtOrBelow(name, ends)) return true;
    if (patterns.isEmpty) return false;
    const below = `${PROBE}.${name}`;
    return (
      patterns.mayMatch(below) &&
      (patterns.matching(name).length > 0 || patterns.matching(below).length > 0)
    );
  }
}

/** Longer than any name. */
const LONGEST = 1024;

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

function mayFree(text: string): boolean {
  const rule = readRule(text);
  if (rule === undefined || rule.isAllow || rule.rewrite !== undefined) return true;
  return cancelledKey(text) !== undefined;
}

function witnessFor(text: string): string | undefined {
  const rule = readRule(text);
  return rule && witnessOf(rule);
}

function isAtOrBelow(name: string, names: { has(one: string): boolean }): boolean {
  for (let parent = name; ;) {
    if (names.has(parent)) return true;
    const dot = parent.indexOf(".");
    if (dot === -1) return false;
    parent = parent.slice(dot + 1);
  }
}

/** Undefined if the answers for the name and for those below it are the same. */
function changeOf(name: string, old: PlainList, fresh: PlainList): ChangedName | undefined {
  const self = compareName(name, old, fresh);
  const below = compareName(`${PROBE}.${name}`, old, fresh);
  const change = self.change ?? below.change;
  if (change === undefined) return undefined;
  return { name, self: self.change, below: below.change, rule: self.rule ?? below.rule };
}

const NO_CHANGE = { change: undefined, rule: undefined };

/** How the answer for one name changed. */
export function compareName(
  name: string,
  old: PlainList,
  fresh: PlainList,
): { change: Change | undefined; rule: string | undefined } {
  const wasBlocked = old.isBlocked(name);
  if (wasBlocked === fresh.isBlocked(name)) return NO_CHANGE;
  const rule = (wasBlocked ? old : fresh).rules.answer(name).by?.text;
  return { change: wasBlocked ? "freed" : "blocked", rule };
}

/** Whether the change follows from the nearest parent in a list; without a parent, whether nothing changed. */
function isImplied(
  name: string,
  own: ChangedName | undefined,
  found: ReadonlyMap<string, ChangedName | undefined>,
  isNamed: (name: string) => boolean,
): boolean {
  const [, ...parents] = withParents(name);
  const parent = parents.find((one) => found.has(one) || isNamed(one));
  // One that was not examined has not changed.
  const change = parent === undefined ? undefined : found.get(parent)?.below;
  return own?.self === change && own?.below === change;
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
      if (fresh.hasSpecial(rule.text)) effects.add(rule);
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
