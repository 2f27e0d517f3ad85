import { patternTexts } from "../syntax/name-pattern.ts";
import { withParents } from "../syntax/parents.ts";
import { regexTexts } from "../syntax/regex-texts.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { subtreeName } from "./line.ts";
import { LiteralIndex } from "./literal-index.ts";
import { type Rule, cancelledKey } from "./rule.ts";

/** A rule and its position in the list. */
export interface PlacedRule extends Rule {
  readonly row: number;
}

const NO_RULES: readonly never[] = [];

/** Indexes the rules of a list that are more than a name by the names that they match. Applies `$badfilter` rules. */
export class RuleIndex<R extends PlacedRule> {
  private readonly byHost = new Map<string, R[]>();
  private readonly patterns: R[] = [];
  private readonly byText = new LiteralIndex<R>();
  private readonly cancelled = new Set<string>();

  add(rule: R): void {
    const host = subtreeName(rule.pattern);
    if (host === undefined) {
      this.patterns.push(rule);
      this.byText.add(textsOf(rule.pattern), rule);
      return;
    }
    const known = this.byHost.get(host);
    if (known === undefined) this.byHost.set(host, [rule]);
    else known.push(rule);
  }

  get isEmpty(): boolean {
    return this.byHost.size + this.patterns.length === 0;
  }

  /** Takes a `$badfilter` rule; false for any other line. */
  cancel(text: string): boolean {
    const key = cancelledKey(text);
    if (key !== undefined) this.cancelled.add(key);
    return key !== undefined;
  }

  isCancelled(key: string): boolean {
    return this.cancelled.size > 0 && this.cancelled.has(key);
  }

  /** False if no rule matches the name; most names need no more. */
  mayMatch(name: string): boolean {
    return this.byHost.size > 0 || this.byText.candidates(name).length > 0;
  }

  /** The rules that match a name: first those for the name and its parents, then the others in list order. */
  matching(name: string): readonly R[] {
    let rules: R[] | undefined;
    if (this.byHost.size > 0)
      for (const parent of withParents(name))
        for (const rule of this.byHost.get(parent) ?? NO_RULES)
          if (rule.matches(name)) (rules ??= []).push(rule);
    let patterns: R[] | undefined;
    for (const rule of this.byText.candidates(name))
      if (rule.matches(name)) (patterns ??= []).push(rule);
    if (patterns !== undefined) {
      patterns.sort((a, b) => a.row - b.row);
      rules = rules === undefined ? patterns : rules.concat(patterns);
    }
    if (rules === undefined) return NO_RULES;
    return this.cancelled.size === 0 ? rules : rules.filter(({ key }) => !this.isCancelled(key));
  }

  /** All active rules. */
  all(): R[] {
    return [...[...this.byHost.values()].flat(), ...this.patterns].filter(
      ({ key }) => !this.isCancelled(key),
    );
  }
}

/** The longest of `textsOf`; "" without one. */
export function literalOf(pattern: string): string {
  return textsOf(pattern).reduce((best, text) => (text.length > best.length ? text : best), "");
}

/** Texts that every name which the pattern matches must contain. */
export function textsOf(pattern: string): readonly string[] {
  return isRegexText(pattern) ? regexTexts(pattern.slice(1, -1)) : patternTexts(pattern);
}
