import { patternParts } from "./name-pattern.ts";
import { isRegexText } from "./regex-rule.ts";

/** What a pattern or a regular expression reveals about the ends of the names that it matches. */
export interface PatternEnd {
  /** The common end of all names, or the intended one. It contains a dot; "" if unknown. */
  readonly end: string;
  /** Whether every name that the pattern matches has that end. */
  readonly isSure: boolean;
}

const NO_END: PatternEnd = { end: "", isSure: false };

/**
 * `|a*.name.example^` matches names that end with `.name.example`. `||name.example` and `/\.name.example/` are intended
 * for that domain, but they also match `name.example.other.example`.
 */
export function endOfPattern(pattern: string): PatternEnd {
  if (isRegexText(pattern)) return expressionEnd(pattern.slice(1, -1));
  const read = patternParts(pattern);
  const end = read?.parts.at(-1) ?? "";
  if (read?.endsName !== true) return meantEnd(end);
  return end.includes(".") ? { end, isSure: true } : NO_END;
}

function meantEnd(text: string): PatternEnd {
  const end = /(?:[a-z0-9_-]*\.)+[a-z][a-z0-9-]+$/.exec(text)?.[0];
  return end === undefined ? NO_END : { end, isSure: false };
}

function expressionEnd(source: string): PatternEnd {
  if (hasAlternatives(source)) return NO_END;
  // Authors nearly always mean a literal dot.
  if (!source.endsWith("$")) return meantEnd(source.replaceAll("\\.", ".").toLowerCase());
  const end = /(?<![\\[{][a-z0-9-]*)(?:[a-z0-9-]|\\\.)+\$$/i.exec(source)?.[0].slice(0, -1);
  const text = end?.replaceAll("\\.", ".").toLowerCase() ?? "";
  return text.includes(".") ? { end: text, isSure: true } : NO_END;
}

/** Whether an expression has alternatives outside of its groups. */
function hasAlternatives(source: string): boolean {
  let depth = 0;
  const bare = source.replace(/\\./g, "x").replace(/\[\^?\]?[^\]]*\]/g, "x");
  for (const character of bare)
    if (character === "(") depth++;
    else if (character === ")") depth--;
    else if (character === "|" && depth === 0) return true;
  return false;
}

const WORD = /[a-z0-9-]{4,}/g;

/** Words of a pattern that indicate which names it matches. */
export function patternWords(pattern: string): string[] {
  const bare = isRegexText(pattern)
    ? pattern
        .replace(/\\[a-z]/gi, ".")
        .replace(/\[\^?\]?[^\]]*\]/g, ".")
        .replace(/\{[^}]*\}/g, ".")
    : pattern;
  return bare.toLowerCase().match(WORD) ?? [];
}
