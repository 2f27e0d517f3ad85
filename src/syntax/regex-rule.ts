import { someNames } from "./sample-names.ts";
import { type LinearRegex, isRegexLoaded, limitedTest, linearRegex } from "./linear-regex.ts";
import { regexCost } from "./regex-cost.ts";

export { loadRegex } from "./linear-regex.ts";

/** The limit for expressions in the user's own files; the largest take 30 ms to compile. */
const MOST_OWN_INSTRUCTIONS = 10_000;

/** Whether a pattern is a regular expression, `/…/`. */
export function isRegexText(pattern: string): boolean {
  return pattern.length > 1 && pattern.startsWith("/") && pattern.endsWith("/");
}

/** Whether a resolver can use the expression in `/…/`: either JavaScript's engine or RE2 (AdGuard Home) accepts it. */
export function regexCompiles(pattern: string): boolean {
  const source = pattern.slice(1, -1);
  if (isJavaScript(source)) return true;
  if (!isRegexLoaded()) throw new Error("loadRegex() was not awaited");
  return linearRegex(source, MOST_OWN_INSTRUCTIONS) !== undefined;
}

/**
 * A test that matches names like RE2, and therefore AdGuard Home. Undefined if RE2 rejects the expression or its program
 * is too large. Simple expressions with the same meaning in both use JavaScript's engine, which needs no compiling. With
 * `givenUp`, the test returns it for all names once it took too long, because guards test all expressions of a list.
 */
export function nameRegex(source: string, givenUp?: boolean): LineTest | undefined {
  if (!needsRe2(source)) return scriptRegex(source);
  const regex = linearRegex(source);
  if (regex === undefined) return undefined;
  if (givenUp !== undefined) return limitedTest(regex, undefined, givenUp).test;
  return (name) => regex.test(name);
}

/** Letters, digits, ranges of them and escapes that match a name in lower case the same way whether case counts or not. */
const LOWER_CASE = /\\(?:[bdwsBDWS]|[^A-Za-z0-9])|[a-z]-[a-z]|[0-9]-[0-9]|\[\^?-|-\]/g;

/**
 * The expression for software that compiles it with Go's engine and compares names in lower case, as `nameRegex` reads it. Undefined
 * if that engine does not support it.
 */
export function goExpression(source: string): string | undefined {
  if (nameRegex(source) === undefined) return undefined;
  return /[A-Z\\-]/.test(source.replace(LOWER_CASE, "")) ? `(?i)${source}` : source;
}

/** Whether `nameRegex` needs RE2, which must then be loaded. */
export function needsRe2(source: string): boolean {
  return !isPortable(source) || !isSimple(source) || !isJavaScript(source);
}

/** The expression by JavaScript's rules, which other resolvers follow, if it is simple. */
export function scriptRegex(source: string): LineTest | undefined {
  if (!isSimple(source) || !isJavaScript(source)) return undefined;
  const native = new RegExp(source, "i");
  return (name) => native.test(name);
}

/** The check takes time quadratic in the length, so longer expressions do not count as portable. */
const LONGEST_PORTABLE = 1000;

/** Letters, digits, anchors, groups, plain classes, and escapes with the same meaning in JavaScript and RE2. */
export function isPortable(source: string): boolean {
  if (source.length > LONGEST_PORTABLE) return false;
  const bare = source.replace(/\\(?:[bdwsBDWS]|[^A-Za-z0-9])/g, "x").replaceAll("(?:", "(");
  // `[[:alpha:]]`, `[]`, and all other escapes are not portable.
  return !/\\|\(\?|\[[^\]]*\[:|\[\^?\]|[^\u0020-\u007e]/.test(bare);
}

/** Whether JavaScript's engine accepts an expression. */
export function isJavaScript(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Allows one choice of two and one unbounded repetition, from any position of the text. JavaScript's engine tries every
 * way to match. Within this limit, it takes at worst quadratic time: a microsecond for a name. Without a limit,
 * `(.?){30}!` takes 2^30 steps per position.
 */
const MOST_PATHS = 65 * 65 * 2;

function isSimple(source: string): boolean {
  return regexCost(source).paths <= MOST_PATHS;
}

/** Tests a line, in linear time if possible. */
export type LineTest = (line: string) => boolean;

/** Quadratic time is negligible up to this many characters. */
const LONGEST_FOR_NATIVE = 500;
/** The limit of `LinearRegex.work` for a remote expression on all lines of a list: about 20 ms. */
const MOST_REMOTE_WORK = 16_000;
/** If an automaton exceeds this, most lines create new states. */
const LARGEST_UNION = 100_000;

/** An exclusion or inclusion that must not be run, and the reason. */
export class RegexEntryError extends Error {}

/**
 * Compiles a regular expression of an exclusion, with flags `i` and `m`. JavaScript's engine is faster, but some
 * expressions make it hang. So it only matches simple expressions on lines of ordinary length, and the user's own
 * expressions (`isOwn`) that RE2 does not support. A remote expression that takes too long on the lines of a list matches
 * no further lines. Throws a SyntaxError if it does not compile, and a RegexEntryError if it must not be run.
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

/** Whether ordinary names suffice to show that an expression takes too long. */
function isSlow(regex: LinearRegex): boolean {
  const { test, isGivenUp } = limitedTest(regex);
  for (const name of someNames(300)) test(`||${name}^`);
  return isGivenUp();
}

/**
 * Whether any of several portable expressions of exclusions matches a line. They run as one expression, unless its
 * automaton becomes so large that separate tests are faster.
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
