import { canaries } from "./canaries.ts";
import { type LinearRegex, isRegexLoaded, limitedTest, linearRegex } from "./linear-regex.ts";
import { regexCost } from "./regex-cost.ts";

export { loadRegex } from "./linear-regex.ts";

/** Expressions of files that people keep for themselves; 30 ms to compile the largest. */
const MOST_OWN_INSTRUCTIONS = 10_000;

/** Whether a pattern is a regular expression, `/…/`. */
export function isRegexText(pattern: string): boolean {
  return pattern.length > 1 && pattern.startsWith("/") && pattern.endsWith("/");
}

/** Whether `/…/` holds a regular expression that a resolver can use: JavaScript's engine or RE2 (AdGuard Home) takes it. */
export function regexCompiles(pattern: string): boolean {
  const source = pattern.slice(1, -1);
  if (isJavaScript(source)) return true;
  if (!isRegexLoaded()) throw new Error("loadRegex() was not awaited");
  return linearRegex(source, MOST_OWN_INSTRUCTIONS) !== undefined;
}

/**
 * A test for names, as RE2 and so AdGuard Home would match them; undefined when it does not take the expression, or when its
 * program is too large. JavaScript's engine, which needs no compiling, matches the simple ones that mean the same to both.
 * With `givenUp` the test says that of all names once it took too long: guards look at all expressions of a list.
 */
export function nameRegex(source: string, givenUp?: boolean): LineTest | undefined {
  if (!needsRe2(source)) return scriptRegex(source);
  const regex = linearRegex(source);
  if (regex === undefined) return undefined;
  if (givenUp !== undefined) return limitedTest(regex, undefined, givenUp).test;
  return (name) => regex.test(name);
}

/** Whether RE2, and so AdGuard Home, takes the expression, and it is not too large. */
export function isLinearRegex(source: string): boolean {
  return linearRegex(source) !== undefined;
}

/** Whether `nameRegex` has to ask RE2, which then must be loaded. */
export function needsRe2(source: string): boolean {
  return !isPortable(source) || !isSimple(source) || !isJavaScript(source);
}

/** The expression by JavaScript's rules, which other resolvers go by, if it is a simple one. */
export function scriptRegex(source: string): LineTest | undefined {
  if (!isSimple(source) || !isJavaScript(source)) return undefined;
  const native = new RegExp(source, "i");
  return (name) => native.test(name);
}

/** Longer ones are not worth looking at: looking takes the square of the length. */
const LONGEST_PORTABLE = 1000;

/** Letters, digits, anchors, groups, plain classes and the escapes that mean the same in JavaScript and in RE2. */
export function isPortable(source: string): boolean {
  if (source.length > LONGEST_PORTABLE) return false;
  const bare = source.replace(/\\(?:[bdwsBDWS]|[^A-Za-z0-9])/g, "x").replaceAll("(?:", "(");
  // `[[:alpha:]]`, `[]`, and everything that is escaped in another way.
  return !/\\|\(\?|\[[^\]]*\[:|\[\^?\]|[^\u0020-\u007e]/.test(bare);
}

/** Whether JavaScript's engine takes an expression. */
export function isJavaScript(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * A choice of two, and one thing that is repeated without bound, from any place of the text on. JavaScript's engine tries
 * every way there is: with these it takes the square of the text's length at the worst, which is a microsecond for a
 * name. Without a limit `(.?){30}!` takes 2^30 steps for each place.
 */
const MOST_PATHS = 65 * 65 * 2;

function isSimple(source: string): boolean {
  return regexCost(source).paths <= MOST_PATHS;
}

/** Tests a line; never more than linear time where that can be had. */
export type LineTest = (line: string) => boolean;

/** Squared, this many characters are still nothing. */
const LONGEST_FOR_NATIVE = 500;
/** What an expression from an address may take on all lines of a list, see `LinearRegex.work`: some 20 ms. */
const MOST_REMOTE_WORK = 16_000;
/** Where an automaton took so much, most lines make new states. */
const LARGEST_UNION = 100_000;

/** An exclusion or inclusion that may not be tried, and why. */
export class RegexEntryError extends Error {}

/**
 * A regular expression of an exclusion, flags `i` and `m`. JavaScript's engine is faster but can be made to hang; it is
 * used for simple expressions on lines of ordinary length, and for those of the user's own (`isOwn`) that RE2 cannot express.
 * One from an address that takes too long on the lines of a list matches none of the others. Throws a SyntaxError when it does
 * not compile, and a RegexEntryError when it may not be tried.
 */
export function compileEntryRegex(source: string, isOwn = true): LineTest {
  const native = new RegExp(source, "im");
  if (!isRegexLoaded()) throw new Error("loadRegex() was not awaited");
  const longest = isSimple(source) ? LONGEST_FOR_NATIVE : 0;
  if (regexCost(source).instructions > MOST_OWN_INSTRUCTIONS)
    throw new RegexEntryError("it has too many repetitions to match in reasonable time");
  const regex = linearRegex(source, isOwn ? MOST_OWN_INSTRUCTIONS : undefined);
  if (regex === undefined && isOwn) return (line) => native.test(line);
  if (regex === undefined || (!isOwn && isSlow(regex)))
    throw new RegexEntryError("a remote file may only use expressions that RE2 matches quickly");
  const linear = isOwn
    ? (line: string) => regex.test(line)
    : limitedTest(regex, MOST_REMOTE_WORK).test;
  return (line) => (line.length <= longest ? native.test(line) : linear(line));
}

/** Whether ordinary names are enough to see that an expression takes too long. */
function isSlow(regex: LinearRegex): boolean {
  const { test, isGivenUp } = limitedTest(regex);
  for (const name of canaries()) test(`||${name}^`);
  return isGivenUp();
}

/**
 * Whether any of several expressions of exclusions, all portable, matches a line. They are tried as one, unless their
 * automaton becomes so large that it is quicker to try each.
 */
export function unionRegex(sources: readonly string[], isOwn: boolean): LineTest {
  let each: LineTest[] | undefined;
  const any: LineTest = (line) => {
    each ??= sources.map((source) => compileEntryRegex(source, isOwn));
    return each.some((test) => test(line));
  };
  const source = sources.map((one) => `(?:${one})`).join("|");
  const union = sources.length === 1 ? undefined : linearRegex(source, MOST_OWN_INSTRUCTIONS);
  if (union === undefined) return any;
  const { test, isGivenUp } = limitedTest(union, LARGEST_UNION);
  return (line) => {
    if (isGivenUp()) return any(line);
    const isMatch = test(line);
    return isGivenUp() ? any(line) : isMatch;
  };
}
