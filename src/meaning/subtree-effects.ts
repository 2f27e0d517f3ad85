import { withParents } from "../syntax/parents.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import type { Rule } from "./rule.ts";

/** What rules do to names, of several rules together. */
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

/** Adds what a rule does. Exceptions do nothing to anybody. */
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
 * Which effects patterns could have on a name or on something below it. It errs on the safe side: a pattern counts unless its
 * end rules that out. Patterns are found by their ends, so that many names can be asked about many patterns.
 */
export class SubtreeEffects {
  /** Of patterns that may end in anything. */
  private readonly free = noEffects();
  private readonly byEnd = new Map<string, Effects>();
  /** Of patterns whose end is below a name, by that name. */
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
    // Only what stands below the name can have an end that is longer than the name.
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

/** The text that every name which a pattern matches ends in; "" when there is none. */
export function patternEnd(pattern: string): string {
  if (isRegexText(pattern)) return expressionEnd(pattern.slice(1, -1));
  const body = /^\|{0,2}(?<body>.*?)[|^][|^*]*$/.exec(pattern)?.groups?.["body"];
  return body?.split("*").at(-1) ?? "";
}

/** Letters, digits, hyphens and escaped dots before a final `$`, if the expression has no alternatives. */
function expressionEnd(source: string): string {
  if (source.includes("|")) return "";
  const end = /(?<end>(?:[a-z0-9-]|\\\.)+)\$$/i.exec(source)?.groups?.["end"] ?? "";
  const before = source.slice(0, source.length - end.length - 1);
  // What a backslash or a bracket in front makes of the first letters is another thing.
  return /[\\[{]|\(\?/.test(before.slice(-3)) ? "" : end.replaceAll("\\.", ".").toLowerCase();
}
