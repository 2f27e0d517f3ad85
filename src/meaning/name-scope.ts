import { patternParts } from "../syntax/name-pattern.ts";
import { isRegexText } from "../syntax/regex-rule.ts";

/** The one name that a pattern matches: the name itself, its subdomains, or both. */
export interface NameScope {
  readonly name: string;
  readonly self: boolean;
  readonly below: boolean;
}

/** What a pattern matches; undefined if that is not one name, its subdomains, or both. */
export function nameScope(pattern: string): NameScope | undefined {
  const read = isRegexText(pattern) ? undefined : patternParts(pattern);
  if (read?.endsName !== true) return undefined;
  const { startsAtLabel, startsAtName, parts } = read;
  const [first, second] = parts;
  const isAnchored = startsAtLabel || startsAtName;
  if (parts.length === 1 && isAnchored)
    return scopeOf(first!, { self: true, below: startsAtLabel });
  // `.name^` and `*.name^`, with or without an anchor before the star.
  const tail = parts.length === 1 ? first! : parts.length === 2 && first === "" ? second! : "";
  return tail.startsWith(".") ? scopeOf(tail.slice(1), { self: false, below: true }) : undefined;
}

function scopeOf(name: string, scope: Omit<NameScope, "name">): NameScope | undefined {
  const isName = name !== "" && !name.startsWith(".") && !name.endsWith(".");
  return isName ? { name, ...scope } : undefined;
}
