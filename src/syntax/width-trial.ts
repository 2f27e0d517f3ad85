import { Fate } from "../rules/fate.ts";
import { readHost } from "./host-name.ts";
import { type LinearRegex, limitedTest, linearRegex } from "./linear-regex.ts";
import { type PatternParts, matchesPattern } from "./name-pattern.ts";
import { regexCost } from "./regex-cost.ts";
import { isJavaScript, isPortable, scriptRegex } from "./regex-rule.ts";
import { regexTexts } from "./regex-texts.ts";
import { sampleHits, sampleSize } from "./sample-names.ts";
import { coversSuffix } from "./suffix-probes.ts";

/** A quarter of a second per source; real lists take a tenth. */
const MOST_TESTS = 1_500_000;
/** A pattern that takes this few is always checked. */
const FEW_TESTS = 100;
/** Characters of an expression. The longest in 365 real lists has 196. */
const LONGEST_REGEX = 256;
/** The limit of `LinearRegex.work` for all expressions of a source: a quarter of a second. Those of 365 real lists together take 170,000. */
const MOST_WORK = 200_000;
/** The cost of compiling an instruction, relative to visiting it. */
const COMPILING = 12;
/** All patterns of a source together may match this share of the sample. */
const MOST_TOGETHER = 1 / 200;
/**
 * A pattern that matches no name of the sample counts as this part of one: many of them match much that the sample does not have. Real
 * lists have at most 650 patterns, a third of what this permits.
 */
const UNSEEN = 1 / 20;

type NameTest = (name: string) => boolean;

/**
 * Measures how many names the patterns of a source match, each and all together, and whether one matches all names under a public suffix.
 * The total cost per source is limited: patterns beyond the limit are rejected.
 */
export class WidthTrial {
  private readonly hits = new Set<string>();
  private unseen = 0;
  private tests = 0;
  private work = 0;

  /** The fate of a pattern that is not a regular expression. */
  judgePattern(pattern: PatternParts, isAllow: boolean): Fate {
    const texts = [...new Set(pattern.parts)].filter((part) => part !== "");
    const fate = this.judge((name) => matchesPattern(name, pattern), texts, isAllow);
    return fate === Fate.Kept && !isInOneDomain(pattern) ? this.count() : fate;
  }

  /** The fate of an expression, as RE2 and as JavaScript read it. */
  judgeRegex(source: string, isAllow: boolean): Fate {
    const regex = this.compile(source);
    if (regex === undefined) return Fate.SlowRegex;
    const { test, isGivenUp } = limitedTest(regex);
    const before = regex.work;
    const texts = regexTexts(source);
    const fate = this.judge(test, texts, isAllow);
    this.work += regex.work - before;
    regex.forget();
    if (isGivenUp()) return Fate.SlowRegex;
    if (fate !== Fate.Kept) return fate;
    if (isPortable(source)) return this.count();
    const script = scriptRegex(source);
    // Engines that read it differently may never finish.
    if (script === undefined && isJavaScript(source)) return Fate.SlowRegex;
    return (script && this.judge(script, texts, isAllow)) || this.count();
  }

  /** The compiled expression. Undefined if it, or all expressions of the source together, cost too much. */
  compile(source: string): LinearRegex | undefined {
    if (source.length > LONGEST_REGEX) return undefined;
    this.work += COMPILING * regexCost(source).instructions;
    return this.work > MOST_WORK ? undefined : linearRegex(source);
  }

  private judge(matches: NameTest, texts: readonly string[], isAllow: boolean): Fate {
    const most = Math.max(MOST_TESTS, this.tests + FEW_TESTS);
    const test = (name: string): boolean => ++this.tests <= most && matches(name);
    const hits = sampleHits(test, texts);
    if (hits === undefined) return Fate.TooWide;
    if (coversSuffix(test, isAllow, texts)) return Fate.PublicSuffix;
    if (this.tests > most) return Fate.SlowRegex;
    const added = hits.filter((name) => !this.hits.has(name));
    if (!this.hasRoom(added.length)) return Fate.TooWide;
    for (const name of added) this.hits.add(name);
    return Fate.Kept;
  }

  /** Counts one more pattern, whatever it matches. */
  private count(): Fate {
    if (!this.hasRoom(UNSEEN)) return Fate.TooWide;
    this.unseen += UNSEEN;
    return Fate.Kept;
  }

  private hasRoom(more: number): boolean {
    return this.hits.size + this.unseen + more <= sampleSize() * MOST_TOGETHER;
  }
}

/** Whether a pattern matches only names of one registered domain: `||ads*.example.com^`, `|www.example.com^`. */
function isInOneDomain({ parts, endsName, startsAtLabel, startsAtName }: PatternParts): boolean {
  const last = parts.at(-1)!;
  if (!endsName) return false;
  const isWhole = parts.length === 1 && (startsAtLabel || startsAtName);
  const host = isWhole ? last : last.slice(last.indexOf(".") + 1);
  if (!isWhole && !last.includes(".")) return false;
  const read = readHost(host);
  return read !== undefined && !read.isSuffix && host.includes(".");
}
