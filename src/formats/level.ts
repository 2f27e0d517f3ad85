import type { Rule } from "../meaning/rule.ts";

/**
 * The precedence of rules, lowest first. Odd levels block, even ones allow. A rewrite wins over all others. No format can express
 * it, but none may block the name: it has an answer.
 */
export const Level = {
  None: 0,
  Block: 1,
  Allow: 2,
  ImportantBlock: 3,
  ImportantAllow: 4,
  Rewrite: 6,
} as const;
export type Level = (typeof Level)[keyof typeof Level];

export function isBlock(level: Level): boolean {
  return level % 2 === 1;
}

export function isAllow(level: Level): boolean {
  return level !== Level.None && level % 2 === 0;
}

export function isImportant(level: Level): boolean {
  return level >= Level.ImportantBlock;
}

export function stronger(a: Level, b: Level): Level {
  return a > b ? a : b;
}

export function levelOf(rule: Pick<Rule, "isAllow" | "isImportant" | "rewrite">): Level {
  if (rule.rewrite !== undefined) return Level.Rewrite;
  if (rule.isAllow) return rule.isImportant ? Level.ImportantAllow : Level.Allow;
  return rule.isImportant ? Level.ImportantBlock : Level.Block;
}
