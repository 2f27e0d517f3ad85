import { patternParts } from "../syntax/name-pattern.ts";
import { withParents } from "../syntax/parents.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import type { Rule } from "./rule.ts";

/** The combined effects of several rules on names. */
export interface Effects {
  blocks: boolean;
  blocksImportantly: boolean;
  rewrites: boolean;
  rewritesImportantly: boolean;
}

export function noEffects(): Effects {
  return {
    blocks: false,
    blocksImportantly: false,
    rewrites: false,
    rewritesImportantly: false,
  };
}

/** Adds the effects of a rule. Exceptions have none. */
export function addEffects(
  effects: Effects,
  rule: Partial<Pick<Rule, "isAllow" | "isImportant" | "rewrite">>,
): void {
  if (rule.isAllow === true) return;
  const isImportant = rule.isImportant === true;
  if (rule.rewrite === undefined) {
    effects.blocks = true;
    effects.blocksImportantly ||= isImportant;
  } else {
    effects.rewrites = true;
    effects.rewritesImportantly ||= isImportant;
  }
}

/**
 * Finds possible effects of patterns on a name or its subdomains. It is conservative: a pattern counts unless its end rules
 * out a match. It indexes patterns by their ends, so that many names can be checked against many patterns.
 */
export class SubtreeEffects {
  /** Effects of patterns with any end. */
  private readonly free = noEffects();
  private readonly byEnd = new Map<string, Effects>();
  /** Effects of patterns whose end is below a name, by that name. */
  private readonly byParent = new Map<string, Effects>();

  add(rule: Rule): void {
    const end = patternEnd(rule.pattern);
    if (end === "") {
      addEffects(this.free, rule);
      return;
    }
    addEffects(entry(this.byEnd, end), rule);
    for (const parent of withParents(end).slice(1)) addEffects(entry(this.byParent, parent), rule);
  }

  over(name: string): Effects {
    const sum = { ...this.free };
    // Only subdomains of the name can have an end that is longer than the name.
    merge(sum, this.byParent.get(name));
    for (let at = 0; at < name.length; at++) merge(sum, this.byEnd.get(name.slice(at)));
    merge(sum, this.byEnd.get(`.${name}`));
    return sum;
  }
}

function entry(map: Map<string, Effects>, key: string): Effects {
  let effects = map.get(key);
  if (effects === undefined) map.set(key, (effects = noEffects()));
  return effects;
}

function merge(sum: Effects, more: Effects | undefined): void {
  if (more === undefined) return;
  sum.blocks ||= more.blocks;
  sum.blocksImportantly ||= more.blocksImportantly;
  sum.rewrites ||= more.rewrites;
  sum.rewritesImportantly ||= more.rewritesImportantly;
}

/** The text at the end of every name that a pattern matches; "" if they share none. */
export function patternEnd(pattern: string): string {
  if (isRegexText(pattern)) return expressionEnd(pattern.slice(1, -1));
  const read = patternParts(pattern);
  return read?.endsName === true ? read.parts.at(-1)! : "";
}

/** Letters, digits, hyphens and escaped dots before a final `$`, if the expression has no alternatives. */
function expressionEnd(source: string): string {
  if (source.includes("|")) return "";
  const end = /(?<end>(?:[a-z0-9-]|\\\.)+)\$$/i.exec(source)?.groups?.["end"] ?? "";
  const before = source.slice(0, source.length - end.length - 1);
  // A backslash or bracket before the first letters changes their meaning.
  return /[\\[{]|\(\?/.test(before.slice(-3)) ? "" : end.replaceAll("\\.", ".").toLowerCase();
}
