import { RuleIndex } from "../meaning/rule-index.ts";
import type { Rule } from "../meaning/rule.ts";
import { patternParts } from "../syntax/name-pattern.ts";
import { endOfPattern, patternWords } from "../syntax/pattern-end.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { ExceptionReach } from "./exception-reach.ts";
import type { LossReason } from "./losses.ts";
import { Level, isBlock, levelOf, stronger } from "./level.ts";

/** An exception with a pattern, and what the pattern reveals about the names that it can match. */
export interface PatternException extends Rule {
  readonly row: number;
  readonly level: Level;
  /** The common suffix of the names that it is meant for; "" if they can be anywhere. */
  readonly end: string;
  /** Whether every name that it matches has that suffix. */
  readonly isEndSure: boolean;
  /** Without a suffix: words of which one occurs in each name that it is meant for. */
  readonly words: readonly string[];
  /** Whether it also matches everything below a name that it matches. */
  readonly takesBelow: boolean;
  /** Why formats cannot express it. */
  readonly reason: LossReason;
}

/** The levels of a name after the pattern exceptions. */
export interface FreedLevels {
  readonly self: Level;
  readonly below: Level;
  /** Whether unknown names below it are freed. */
  readonly isUnsure: boolean;
}

/** The exceptions of a list that are patterns or regular expressions. */
export class PatternExceptions {
  readonly all: PatternException[] = [];
  /** Those that can match below any name. */
  readonly floating: PatternException[] = [];
  private readonly index = new RuleIndex<PatternException>();
  /** Whether one may match names without its suffix. */
  private hasUnsure = false;
  /** By the names that they are meant for. */
  private readonly reach = new ExceptionReach();

  add(rule: Rule): void {
    const { end, isSure } = endOfPattern(rule.pattern);
    const exception: PatternException = {
      ...rule,
      row: this.all.length,
      level: levelOf(rule),
      end,
      isEndSure: isSure,
      words: end === "" ? patternWords(rule.pattern) : [],
      takesBelow: rule.denied.length === 0 && takesBelow(rule.pattern),
      reason: reasonOf(rule),
    };
    this.all.push(exception);
    this.index.add(exception);
    this.hasUnsure ||= !isSure;
    if (end === "") this.floating.push(exception);
    else this.reach.addEnd(end, exception.level);
    for (const word of exception.words) this.reach.addWord(word, exception.level);
  }

  /** The level of the strongest that matches a name. */
  strongest(name: string): Level {
    if (this.all.length === 0) return Level.None;
    return this.index
      .matching(name)
      .reduce((level: Level, one) => stronger(level, one.level), Level.None);
  }

  matches(name: string): boolean {
    return this.strongest(name) > Level.None;
  }

  /** Whether one matches the name, or can match something below it. */
  reaches(name: string): boolean {
    return this.all.length > 0 && (this.matches(name) || this.reach.below(name) > Level.None);
  }

  free(name: string, self: Level, below: Level): FreedLevels {
    if (this.all.length === 0 || (!isBlock(self) && !isBlock(below)))
      return { self, below, isUnsure: false };
    let exact: Level = Level.None;
    let whole: Level = Level.None;
    let some = this.reach.below(name);
    // An exception that matches the name has a suffix that reaches it.
    if (some === Level.None && !this.hasUnsure) return { self, below, isUnsure: false };
    for (const { level, takesBelow: isWhole } of this.index.matching(name)) {
      exact = stronger(exact, level);
      if (isWhole) whole = stronger(whole, level);
      else some = stronger(some, level);
    }
    const freedBelow = isBlock(below) ? stronger(below, whole) : below;
    return {
      self: isBlock(self) ? stronger(self, exact) : self,
      below: freedBelow,
      isUnsure: isBlock(freedBelow) && some > freedBelow,
    };
  }
}

function reasonOf({ denied, pattern, rewrite }: Rule): LossReason {
  if (rewrite !== undefined) return "rewrite";
  if (denied.length > 0) return "modifier";
  return isRegexText(pattern) ? "regex" : "pattern";
}

/** A pattern that need not match from the start of a name also matches everything below it. */
function takesBelow(pattern: string): boolean {
  if (!isRegexText(pattern)) return patternParts(pattern)?.startsAtName === false;
  const bare = pattern
    .slice(1, -1)
    .replace(/\\[^A]/g, "x")
    .replace(/\[[^\]]*\]/g, "x");
  return !/[\^\\]/.test(bare);
}
