import { NamesByText } from "../syntax/names-by-text.ts";
import { isRegexText, nameRegex } from "../syntax/regex-rule.ts";
import { textsOf } from "./rule-index.ts";
import { type Rule, patternTest, readRule } from "./rule.ts";

/** Reads rules that match one of a few names. Most patterns contain a text that none of the names contains. */
export class NameRules {
  private readonly names: readonly string[];
  private readonly isGuard: boolean;
  private byText: NamesByText | undefined;

  /** A guard (`isGuard`) treats an expression that is too slow as a match. */
  constructor(names: readonly string[], isGuard: boolean) {
    this.names = names;
    this.isGuard = isGuard;
  }

  /** The rule and the names that it matches; undefined if it matches none. */
  read(text: string): { readonly rule: Rule; readonly names: readonly string[] } | undefined {
    let candidates: readonly string[] = [];
    const rule = readRule(text, (pattern) => {
      this.byText ??= new NamesByText(this.names);
      candidates = this.byText.candidates(textsOf(pattern));
      if (candidates.length === 0) return undefined;
      return this.isGuard && isRegexText(pattern)
        ? nameRegex(pattern.slice(1, -1), true)
        : patternTest(pattern);
    });
    if (rule === undefined) return undefined;
    const names = candidates.filter((name) => rule.matches(name));
    return names.length === 0 ? undefined : { rule, names };
  }
}
