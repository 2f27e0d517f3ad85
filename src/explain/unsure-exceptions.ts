import { nameScope } from "../meaning/name-scope.ts";
import { type PlacedRule, RuleIndex } from "../meaning/rule-index.ts";
import { type Rule, readRule } from "../meaning/rule.ts";
import { SubtreeEffects } from "../meaning/subtree-effects.ts";
import { PROBE } from "../meaning/witness.ts";
import { type PlainList, hostsOf } from "./plain-list.ts";

/** Exceptions of a new list that may free names which a comparison of the names in both lists does not find. */
export interface UnsureExceptions {
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
