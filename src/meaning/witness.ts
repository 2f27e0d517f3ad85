import { patternParts } from "../syntax/name-pattern.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import type { Rule } from "./rule.ts";

/** A label that no list has and no pattern is likely to match. */
export const PROBE = "q7-any-0z";

/** A name that a wildcard pattern matches; undefined for regular expressions, and if none is found. */
export function witnessOf({
  pattern,
  matches,
}: Pick<Rule, "pattern" | "matches">): string | undefined {
  if (isRegexText(pattern)) return undefined;
  const filled = patternParts(pattern)?.parts.join(PROBE) ?? "";
  return [filled, `${filled}${PROBE}`, `${PROBE}${filled}`, `${PROBE}${filled}${PROBE}`]
    .flatMap((name) => [name, `${name}.example`])
    .find((name) => isName(name) && matches(name));
}

function isName(text: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/.test(text);
}
