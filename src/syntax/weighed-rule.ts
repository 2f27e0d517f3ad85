import { parseAdblockRule } from "./adblock-rule.ts";
import { type NameTest, namePattern } from "./name-pattern.ts";
import { isRegexText, nameRegex } from "./regex-rule.ts";

/** A rule that is more than a name: whom it concerns, and how much it weighs. */
export interface WeighedRule {
  readonly text: string;
  readonly isAllow: boolean;
  readonly isImportant: boolean;
  /** Speaks to some clients or some kinds of questions only. */
  readonly isPartial: boolean;
  /** Changes the answer instead of refusing it. */
  readonly isRewrite: boolean;
  readonly pattern: string;
  readonly matches: NameTest;
}

/** Modifiers that leave a rule one for everybody. */
const WHOLE = new Set(["important", "denyallow", "dnsrewrite"]);

/** Reads a rule of adblock syntax; undefined when no name can match. */
export function weighRule(
  text: string,
  testOf: (pattern: string) => NameTest | undefined = patternTest,
): WeighedRule | undefined {
  const rule = parseAdblockRule(text);
  if (rule === undefined) return undefined;
  const { pattern, modifiers, isAllow } = rule;
  const test = testOf(pattern);
  if (test === undefined) return undefined;
  const has = (name: string): boolean => modifiers.some((one) => one.name === name);
  const denied =
    modifiers
      .find((one) => one.name === "denyallow")
      ?.value?.toLowerCase()
      .split("|") ?? [];
  const isWhole = isAllow
    ? modifiers.every((one) => one.name === "important")
    : modifiers.every((one) => WHOLE.has(one.name));
  return {
    text,
    isAllow,
    isImportant: has("important"),
    isPartial: !isWhole,
    isRewrite: has("dnsrewrite"),
    pattern,
    matches: (name) => test(name) && !denied.some((parent) => isBelow(name, parent)),
  };
}

export function patternTest(pattern: string): NameTest | undefined {
  return isRegexText(pattern) ? nameRegex(pattern.slice(1, -1)) : namePattern(pattern);
}

/** The one that decides: an important exception, an important block, an exception, a block. */
export function weightiest<T extends WeighedRule>(rules: readonly T[]): T | undefined {
  return (
    rules.find((rule) => rule.isAllow && rule.isImportant) ??
    rules.find((rule) => rule.isImportant) ??
    rules.find((rule) => rule.isAllow) ??
    rules[0]
  );
}

export function isBelow(name: string, parent: string): boolean {
  return name === parent || name.endsWith(`.${parent}`);
}
