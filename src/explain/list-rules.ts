import { type PlacedRule, RuleIndex } from "../meaning/rule-index.ts";
import { readRule } from "../meaning/rule.ts";
import { type Verdict, decide } from "../meaning/verdict.ts";
import type { BuildRecord } from "../record/build-record.ts";
import { parseAdblockRule } from "../syntax/adblock-rule.ts";
import { withParents } from "../syntax/parents.ts";
import { regexTexts } from "../syntax/regex-texts.ts";
import { isRegexText, loadRegex, needsRe2 } from "../syntax/regex-rule.ts";
import { namesIn } from "./line-names.ts";
import type { OrdinaryNames } from "./ordinary-names.ts";

export interface ListRule {
  readonly text: string;
  readonly row: number;
}

/** What the list means for a name. */
export interface Answer {
  readonly verdict: Verdict;
  /** The rule that decides. */
  readonly by?: ListRule;
  /** Rules that match, but speak to some clients or some kinds of questions only. */
  readonly partial: readonly ListRule[];
}

const NO_RULES: readonly PlacedRule[] = [];
const NEITHER: Answer = { verdict: "neither", partial: NO_RULES };

/** The rules of a published list: those that are nothing but a name, and all others. */
export class ListRules {
  private readonly names: OrdinaryNames;
  private readonly index = new RuleIndex<PlacedRule>();
  private readonly exact = new Map<string, ListRule>();

  private constructor(odd: readonly ListRule[], names: OrdinaryNames) {
    this.names = names;
    for (const { text, row } of odd) this.enter(text, row);
  }

  /** `asked`, if there are only a few names to be asked about, leaves out rules that are for others. */
  static async of(
    record: BuildRecord,
    names: OrdinaryNames,
    asked?: readonly string[],
  ): Promise<ListRules> {
    const odd: ListRule[] = [];
    for (const frame of record.frames) for (const rule of frame.special) odd.push(rule);
    return await ListRules.from(odd, names, asked);
  }

  /** The same for rules that are more than a name, wherever they were read. */
  static async from(
    rules: readonly ListRule[],
    names: OrdinaryNames,
    asked?: readonly string[],
  ): Promise<ListRules> {
    const hosts = asked === undefined ? undefined : new Set(asked.flatMap(withParents));
    const odd: ListRule[] = [];
    let needsEngine = false;
    for (const { row, text: raw } of rules) {
      const text = raw.trim();
      if (hosts !== undefined && isForOther(text, hosts)) continue;
      needsEngine ||= mayNeedRe2(text, asked);
      odd.push({ text, row });
    }
    if (needsEngine) await loadRegex();
    return new ListRules(odd, names);
  }

  private enter(text: string, row: number): void {
    if (this.index.cancel(text)) return;
    const names = namesIn(text);
    if (names !== undefined) {
      for (const name of names) if (!this.exact.has(name)) this.exact.set(name, { text, row });
      return;
    }
    const rule = readRule(text);
    if (rule !== undefined) this.index.add({ ...rule, row });
  }

  /** What the list means for a name in lower case. */
  answer(name: string): Answer {
    const matching = this.index.matching(name);
    // Nearly always.
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
    for (const parent of withParents(name)) {
      const { subtree, exact } = this.names.find(parent);
      if (subtree !== undefined && !this.isCancelled(subtree.text)) return subtree;
      if (parent === name && exact !== undefined) return exact;
    }
    return this.exact.get(name);
  }

  /** Whether a `$badfilter` rule takes a rule for a name back. */
  isCancelled(text: string): boolean {
    return this.index.isCancelled(text);
  }

  /** The rules that are more than names and in force. */
  odd(): PlacedRule[] {
    return this.index.all();
  }
}

/**
 * Whether a rule reads `||host^`, with `@@` or modifiers or without, and the host is none of these. Without an expression,
 * which takes ten times as long: there are thousands of them, and one name to be asked about.
 */
function isForOther(text: string, hosts: ReadonlySet<string>): boolean {
  const start = text.startsWith("||") ? 2 : text.startsWith("@@||") ? 4 : 0;
  const end = text.indexOf("^", start);
  if (start === 0 || end === -1) return false;
  if (end + 1 < text.length && text[end + 1] !== "$") return false;
  if (hosts.has(text.slice(start, end).toLowerCase())) return false;
  // A name in another script matches by its ASCII form.
  return !/\*|badfilter|[^\u0000-\u007f]/.test(text);
}

/** Whether a rule is an expression for RE2 that may match one of the names. */
function mayNeedRe2(text: string, asked: readonly string[] | undefined): boolean {
  if (!/^(?:@@)?\//.test(text)) return false;
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  if (!isRegexText(pattern)) return true;
  const source = pattern.slice(1, -1);
  if (!needsRe2(source)) return false;
  const texts = regexTexts(source);
  return asked === undefined || asked.some((name) => texts.every((part) => name.includes(part)));
}
