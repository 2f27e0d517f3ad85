import { readLine } from "../meaning/line.ts";
import { type PlacedRule, RuleIndex } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import { type Verdict, decide } from "../meaning/verdict.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { withParents } from "../syntax/parents.ts";
import { regexTexts } from "../syntax/regex-texts.ts";
import { isRegexText, loadRegex, needsRe2 } from "../syntax/regex-rule.ts";
import type { ListRule, PlainNames } from "./plain-names.ts";

/** The answer of the list for a name. */
export interface ListAnswer {
  readonly verdict: Verdict;
  /** The deciding rule. */
  readonly by?: ListRule;
  /** Matching rules that apply only to some clients or query types. */
  readonly partial: readonly ListRule[];
}

const NO_RULES: readonly PlacedRule[] = [];
const NO_NAMES: readonly string[] = [];
const NOT_BLOCKED = { rules: NO_RULES, byName: false };
const NEITHER: ListAnswer = { verdict: "neither", partial: NO_RULES };

/** The rules of a published list: plain names, and special rules. */
export class ListRules {
  private readonly names: PlainNames;
  private readonly index = new RuleIndex<PlacedRule>();
  private readonly exact = new Map<string, ListRule[]>();

  private constructor(special: readonly ListRule[], names: PlainNames) {
    this.names = names;
    for (const { text, row } of special) this.enter(text, row);
  }

  /** `asked`, the names of all queries, excludes rules for other names. */
  static async of(
    record: BuildRecord,
    names: PlainNames,
    asked?: readonly string[],
  ): Promise<ListRules> {
    const special: ListRule[] = [];
    for (const frame of record.frames) for (const rule of frame.special) special.push(rule);
    return await ListRules.from(special, names, asked);
  }

  /** The same for special rules from any file. */
  static async from(
    rules: readonly ListRule[],
    names: PlainNames,
    asked?: readonly string[],
  ): Promise<ListRules> {
    const hosts = asked === undefined ? undefined : new Set(asked.flatMap(withParents));
    const special: ListRule[] = [];
    let needsEngine = false;
    for (const { row, text: raw } of rules) {
      const text = raw.trim();
      if (hosts !== undefined && isForOther(text, hosts)) continue;
      needsEngine ||= mayNeedRe2(text, asked);
      special.push({ text, row });
    }
    if (needsEngine) await loadRegex();
    return new ListRules(special, names);
  }

  private enter(text: string, row: number): void {
    const line = readLine(text);
    if (line.kind === "nothing" || (line.kind === "rule" && this.index.cancel(text))) return;
    if (line.kind === "names") {
      for (const name of line.names) {
        const known = this.exact.get(name);
        if (known === undefined) this.exact.set(name, [{ text, row }]);
        else known.push({ text, row });
      }
      return;
    }
    const rule = readRule(text);
    if (rule !== undefined) this.index.add({ ...rule, row });
  }

  /** The answer for a name in lower case. */
  answer(name: string): ListAnswer {
    const matching = this.index.matching(name);
    // The common case.
    if (matching.length === 0) {
      const rule = this.nameRuleFor(name);
      return rule === undefined ? NEITHER : { verdict: "blocked", by: rule, partial: NO_RULES };
    }
    const partial = matching.filter(({ isPartial }) => isPartial);
    const { verdict, by } = decide(matching);
    if (by !== undefined) return { verdict, by, partial };
    const rule = this.nameRuleFor(name);
    return rule === undefined
      ? { verdict: "neither", partial }
      : { verdict: "blocked", by: rule, partial };
  }

  private nameRuleFor(name: string): ListRule | undefined {
    for (const parent of this.namedAbove(name)) {
      const { subtree, exact } = this.names.find(parent);
      if (subtree !== undefined && !this.isCancelled(subtree.text)) return subtree;
      if (parent === name && exact !== undefined) return exact;
    }
    return this.exact.get(name)?.[0];
  }

  /**
   * Every rule that would block the name if the list had no other block rule, and whether rules that are only a name count. No
   * rules for a name that the list does not block.
   */
  blocking(name: string): { readonly rules: readonly ListRule[]; readonly byName: boolean } {
    const matching = this.index.matching(name);
    // The common case.
    if (matching.length === 0) {
      const rules = this.nameRules(name);
      return rules.length === 0 ? NOT_BLOCKED : { rules, byName: true };
    }
    const whole = matching.filter(({ isPartial }) => !isPartial);
    const exceptions = whole.filter(({ isAllow }) => isAllow);
    const { verdict } = decide(whole);
    if (verdict === "allowed" || verdict === "rewritten") return NOT_BLOCKED;
    const rules: ListRule[] = whole.filter(
      (rule) => !rule.isAllow && decide([...exceptions, rule]).verdict === "blocked",
    );
    // Plain names block what no exception decides.
    const byName = decide(exceptions).by === undefined;
    if (byName) rules.push(...this.nameRules(name));
    return { rules, byName };
  }

  private nameRules(name: string): readonly ListRule[] {
    let rules: ListRule[] | undefined;
    for (const parent of this.namedAbove(name)) {
      const { subtree, exact } = this.names.find(parent);
      if (subtree !== undefined && !this.isCancelled(subtree.text)) (rules ??= []).push(subtree);
      if (parent === name && exact !== undefined) (rules ??= []).push(exact);
    }
    const special = this.exact.get(name);
    if (special === undefined) return rules ?? NO_RULES;
    return rules === undefined ? special : rules.concat(special);
  }

  /** The name and the names above it; none if no plain rule has one of them, as for most names. */
  private namedAbove(name: string): readonly string[] {
    return this.names.mayFind?.(name) === false ? NO_NAMES : withParents(name);
  }

  /** Whether a `$badfilter` rule cancels a rule. */
  isCancelled(text: string): boolean {
    return this.index.isCancelled(text);
  }

  /** The special rules that are not cancelled. */
  special(): PlacedRule[] {
    return this.index.all();
  }
}

/**
 * Whether a rule has the form `||host^`, with or without `@@` and modifiers, and its host is not among `hosts`. A regular expression
 * would take ten times as long, and a list has thousands of such rules.
 */
function isForOther(text: string, hosts: ReadonlySet<string>): boolean {
  const start = text.startsWith("||") ? 2 : text.startsWith("@@||") ? 4 : 0;
  const end = text.indexOf("^", start);
  if (start === 0 || end === -1) return false;
  if (end + 1 < text.length && text[end + 1] !== "$") return false;
  if (hosts.has(text.slice(start, end).toLowerCase())) return false;
  // A non-ASCII name matches by its ASCII form.
  return !/\*|badfilter|[^\u0000-\u007f]/.test(text);
}

/** Whether a rule is an expression that needs RE2 and may match one of the names. */
function mayNeedRe2(text: string, asked: readonly string[] | undefined): boolean {
  const pattern = text.includes("/") ? (parseAdblockRule(text)?.pattern ?? "") : "";
  if (!isRegexText(pattern)) return false;
  const source = pattern.slice(1, -1);
  if (!needsRe2(source)) return false;
  const texts = regexTexts(source);
  return asked === undefined || asked.some((name) => texts.every((part) => name.includes(part)));
}
