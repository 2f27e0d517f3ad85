import { RuleIndex } from "../meaning/rule-index.ts";
import type { Rule } from "../meaning/rule.ts";
import { patternParts } from "../syntax/name-pattern.ts";
import { endOfPattern, patternWords } from "../syntax/pattern-end.ts";
import { isRegexText } from "../syntax/regex-rule.ts";
import { ExceptionReach } from "./exception-reach.ts";
import type { LossReason } from "./losses.ts";
import { Level, isBlock, levelOf, stronger } from "./level.ts";

/** An exception for names of a form, and what its form says about the names that it can match. */
export interface PatternException extends Rule {
  readonly row: number;
  readonly level: Level;
  /** What all names end in that it is meant for; "" for one that is meant for names everywhere. */
  readonly end: string;
  /** Whether every name that it matches has that end. */
  readonly isEndSure: boolean;
  /** Words of one without an end: it is meant for names that have one of them. */
  readonly words: readonly string[];
  /** Whether it matches everything below a name that it matches. */
  readonly takesBelow: boolean;
  /** Why formats cannot say it. */
  readonly reason: LossReason;
}

/** What the names of a list and the pattern exceptions together mean for one name. */
export interface FreedLevels {
  readonly self: Level;
  readonly below: Level;
  /** Whether some of what is below the name is freed, nobody can say which. */
  readonly isUnsure: boolean;
}

/** The exceptions of a list that are patterns or regular expressions. */
export class PatternExceptions {
  readonly all: PatternException[] = [];
  /** Those that can match below every name. */
  readonly floating: PatternException[] = [];
  private readonly index = new RuleIndex<PatternException>();
  /** Whether one may match names that do not end in what it is meant for. */
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

  /** Whether one is for the name or can be for something below it. */
  reaches(name: string): boolean {
    return this.all.length > 0 && (this.matches(name) || this.reach.below(name) > Level.None);
  }

  free(name: string, self: Level, below: Level): FreedLevels {
    if (this.all.length === 0 || (!isBlock(self) && !isBlock(below)))
      return { self, below, isUnsure: false };
    let own: Level = Level.None;
    let whole: Level = Level.None;
    let some = this.reach.below(name);
    // What matches the name has an end that reaches it.
    if (some === Level.None && !this.hasUnsure) return { self, below, isUnsure: false };
    for (const { level, takesBelow: isWhole } of this.index.matching(name)) {
      own = stronger(own, level);
      if (isWhole) whole = stronger(whole, level);
      else some = stronger(some, level);
    }
    const freedBelow = isBlock(below) ? stronger(below, whole) : below;
    return {
      self: isBlock(self) ? stronger(self, own) : self,
      below: freedBelow,
      isUnsure: isBlock(freedBelow) && some > freedBelow,
    };
  }
}

function reasonOf({ denied, pattern }: Rule): LossReason {
  if (denied.length > 0) return "modifier";
  return isRegexText(pattern) ? "regex" : "pattern";
}

/** What matches a part of a name from any label on matches everything below the name, too. */
function takesBelow(pattern: string): boolean {
  if (!isRegexText(pattern)) return patternParts(pattern)?.startsAtName === false;
  const bare = pattern
    .slice(1, -1)
    .replace(/\\[^A]/g, "x")
    .replace(/\[[^\]]*\]/g, "x");
  return !/[\^\\]/.test(bare);
}
