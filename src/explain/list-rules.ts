import type { BuildRecord } from "../record/build-record.ts";
import { cancelledBy, parseAdblockRule } from "../syntax/adblock-rule.ts";
import { longestLiteral } from "../syntax/name-pattern.ts";
import { withParents } from "../syntax/parents.ts";
import { isRegexText, loadRegex, needsRe2, regexLiteral } from "../syntax/regex-rule.ts";
import { type WeighedRule, weighRule, weightiest } from "../syntax/weighed-rule.ts";
import { namesIn } from "./line-names.ts";
import { LiteralIndex } from "./literal-index.ts";
import type { OrdinaryNames } from "./ordinary-names.ts";

export type Verdict = "blocked" | "allowed" | "rewritten" | "neither";

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

export type OddRule = WeighedRule & ListRule;

const NO_RULES: readonly OddRule[] = [];
const NEITHER: Answer = { verdict: "neither", partial: NO_RULES };

interface Pattern {
  readonly literal: string;
  readonly rule: OddRule;
}

/** The rules of a published list, by the semantics of AdGuard's DNS engine. */
export class ListRules {
  private readonly names: OrdinaryNames;
  /** Rules that are more than a name, by the name they are for. */
  private readonly byHost = new Map<string, OddRule[]>();
  /** Those for no name in particular, each with a text that must stand in every name it matches. */
  private readonly patterns: Pattern[] = [];
  private readonly byLiteral = new LiteralIndex<Pattern>();
  private readonly exact = new Map<string, ListRule>();
  private readonly cancelled = new Set<string>();

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
    for (const frame of record.frames) for (const rule of frame.odd) odd.push(rule);
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
    const cancelled = cancelledBy(text);
    if (cancelled !== undefined) {
      this.cancelled.add(cancelled);
      return;
    }
    const names = namesIn(text);
    if (names !== undefined) {
      for (const name of names) if (!this.exact.has(name)) this.exact.set(name, { text, row });
      return;
    }
    const weighed = weighRule(text);
    if (weighed === undefined) return;
    const { pattern } = weighed;
    const rule = { ...weighed, text, row };
    const host = /^\|\|(?<host>[a-z0-9_.-]+)\^$/i.exec(pattern)?.groups?.["host"]?.toLowerCase();
    if (host === undefined) {
      const literal = isRegexText(pattern)
        ? regexLiteral(pattern.slice(1, -1))
        : longestLiteral(pattern);
      const entry = { literal, rule };
      this.patterns.push(entry);
      this.byLiteral.add(literal, entry);
      return;
    }
    const known = this.byHost.get(host);
    if (known === undefined) this.byHost.set(host, [rule]);
    else known.push(rule);
  }

  /** What the list means for a name in lower case. */
  answer(name: string): Answer {
    const parents = withParents(name);
    const odd = this.oddRulesFor(name, parents);
    // Nearly always.
    if (odd.length === 0) {
      const rule = this.ordinaryRuleFor(name, parents);
      return rule === undefined ? NEITHER : { verdict: "blocked", by: rule, partial: NO_RULES };
    }
    const whole = odd.filter(({ isPartial, isRewrite }) => !isPartial && !isRewrite);
    const partial = odd.filter(({ isPartial }) => isPartial);
    const weighed = weightiest(whole);
    if (weighed?.isAllow === true) return { verdict: "allowed", by: weighed, partial };
    // A changed answer goes before a refused one.
    const rewrite = odd.find(
      ({ isRewrite, isPartial, isAllow }) => isRewrite && !isPartial && !isAllow,
    );
    if (rewrite !== undefined) return { verdict: "rewritten", by: rewrite, partial };
    if (weighed?.isImportant === true) return { verdict: "blocked", by: weighed, partial };
    const by = weighed ?? this.ordinaryRuleFor(name, parents);
    return by === undefined ? { verdict: "neither", partial } : { verdict: "blocked", by, partial };
  }

  private oddRulesFor(name: string, parents: readonly string[]): readonly OddRule[] {
    let rules: OddRule[] | undefined;
    for (const parent of parents)
      for (const rule of this.byHost.get(parent) ?? NO_RULES)
        if (rule.matches(name)) (rules ??= []).push(rule);
    let patterns: OddRule[] | undefined;
    for (const { literal, rule } of this.byLiteral.candidates(name))
      if (name.includes(literal) && rule.matches(name)) (patterns ??= []).push(rule);
    if (patterns !== undefined) (rules ??= []).push(...patterns.toSorted((a, b) => a.row - b.row));
    if (rules === undefined) return NO_RULES;
    return this.cancelled.size === 0 ? rules : rules.filter((rule) => !this.isCancelled(rule));
  }

  private ordinaryRuleFor(name: string, parents: readonly string[]): ListRule | undefined {
    for (const parent of parents) {
      const { subtree, exact } = this.names.find(parent);
      if (subtree !== undefined && !this.isCancelled(subtree)) return subtree;
      if (parent === name && exact !== undefined && !this.isCancelled(exact)) return exact;
    }
    return this.exact.get(name);
  }

  private isCancelled({ text }: ListRule): boolean {
    return this.isCancelledText(text);
  }

  /** Whether a `$badfilter` takes a rule back. */
  isCancelledText(text: string): boolean {
    return this.cancelled.size > 0 && this.cancelled.has(text);
  }

  /** The rules that are more than names and count. */
  odd(): OddRule[] {
    const patterns = this.patterns.map(({ rule }) => rule);
    return [...[...this.byHost.values()].flat(), ...patterns].filter(
      (rule) => !this.isCancelled(rule),
    );
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
  return !text.includes("*") && !text.includes("badfilter");
}

/** Whether a rule is an expression for RE2 that may match one of the names. */
function mayNeedRe2(text: string, asked: readonly string[] | undefined): boolean {
  if (!/^(?:@@)?\//.test(text)) return false;
  const pattern = parseAdblockRule(text)?.pattern ?? "";
  if (!isRegexText(pattern)) return true;
  const source = pattern.slice(1, -1);
  if (!needsRe2(source)) return false;
  const literal = regexLiteral(source);
  return asked === undefined || asked.some((name) => name.includes(literal));
}
