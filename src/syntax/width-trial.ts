import { Fate } from "../rules/fate.ts";
import { matchesTooMany } from "./sample-names.ts";
import { type LinearRegex, limitedTest, linearRegex } from "./linear-regex.ts";
import { type PatternParts, matchesPattern } from "./name-pattern.ts";
import { regexCost } from "./regex-cost.ts";
import { regexTexts } from "./regex-texts.ts";
import { isJavaScript, isPortable, scriptRegex } from "./regex-rule.ts";
import { coversSuffix } from "./suffix-probes.ts";

/** A quarter of a second per source. Real patterns are tested on a handful of names, the worst on seven thousand. */
const MOST_NAMES = 1_000_000;
/** Testing this few is as cheap as counting them. */
const FEW_NAMES = 16;
/** Characters of an expression. The longest in 365 real lists has 196. */
const LONGEST_REGEX = 256;
/** The limit of `LinearRegex.work` for all expressions of a source: a quarter of a second. Those of 365 real lists together take 170,000. */
const MOST_WORK = 200_000;
/** The cost of compiling an instruction, relative to visiting it. */
const COMPILING = 12;

type NameTest = (name: string) => boolean;

/**
 * Tests whether rules would match nearly everything, or all names under a public suffix. The total cost per source is
 * limited: rules beyond the limit are rejected.
 */
export class WidthTrial {
  private names = 0;
  private work = 0;

  /** The fate of a pattern that is not a regular expression. */
  judgePattern(pattern: PatternParts, isAllow: boolean): Fate {
    const texts = [...new Set(pattern.parts)].filter((part) => part !== "");
    const mayTry = (count: number): boolean =>
      count <= FEW_NAMES || (this.names += count) <= MOST_NAMES;
    const test = (name: string): boolean => matchesPattern(name, pattern);
    const isTooWide = matchesTooMany(test, texts, mayTry);
    if (isTooWide !== false) return isTooWide ? Fate.TooWide : Fate.SlowRegex;
    const isCovering = coversSuffix(test, isAllow, texts, mayTry);
    if (isCovering !== false) return isCovering ? Fate.PublicSuffix : Fate.SlowRegex;
    return Fate.Kept;
  }

  /** The fate of an expression, as RE2 and as JavaScript read it. */
  judgeRegex(source: string, isAllow: boolean): Fate {
    const regex = this.compile(source);
    if (regex === undefined) return Fate.SlowRegex;
    const { test, isGivenUp } = limitedTest(regex);
    const before = regex.work;
    const fate = judgeRegexTest(test, source, isAllow);
    this.work += regex.work - before;
    regex.forget();
    if (isGivenUp()) return Fate.SlowRegex;
    if (fate !== Fate.Kept || isPortable(source)) return fate;
    const script = scriptRegex(source);
    if (script !== undefined) return judgeRegexTest(script, source, isAllow);
    // Engines that read it differently may never finish.
    return isJavaScript(source) ? Fate.SlowRegex : Fate.Kept;
  }

  /** The compiled expression. Undefined if it, or all expressions of the source together, cost too much. */
  compile(source: string): LinearRegex | undefined {
    if (source.length > LONGEST_REGEX) return undefined;
    this.work += COMPILING * regexCost(source).instructions;
    return this.work > MOST_WORK ? undefined : linearRegex(source);
  }
}

function judgeRegexTest(test: NameTest, source: string, isAllow: boolean): Fate {
  const texts = regexTexts(source);
  if (matchesTooMany(test, texts)) return Fate.TooWide;
  return coversSuffix(test, isAllow, texts) ? Fate.PublicSuffix : Fate.Kept;
}
