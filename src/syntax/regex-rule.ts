import type { RE2JS } from "re2js";
import { someNames } from "./sample-names.ts";

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
  if (regex === undefined || (!isOwn && isSlowRegex(regex)))
    throw new RegexEntryError("a remote file may only use expressions that RE2 matches quickly");
  const linear = isOwn
    ? (line: string) => regex.test(line)
    : limitedTest(regex, MOST_REMOTE_WORK).test;
  return (line) => (line.length <= longest ? native.test(line) : linear(line));
}

/** Whether ordinary names suffice to show that an expression takes too long. */
function isSlowRegex(regex: LinearRegex): boolean {
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

let re2: typeof RE2JS | undefined;

/** Loads RE2 (17 ms and 8 MB), which only lists with regular expressions need. Must be awaited before any other function. */
export async function loadRegex(): Promise<void> {
  re2 ??= (await import("re2js")).RE2JS;
}

function isRegexLoaded(): boolean {
  return re2 !== undefined;
}

/** Compiling takes 3 to 8 µs per instruction, matching at worst 0.1 µs per character. Real expressions have at most 280. */
const MOST_INSTRUCTIONS = 500;
/** Instructions of all cached programs: about 5 MB. The expressions of 365 real lists together have 13,000. */
const MOST_KEPT = 20_000;
/** States of an automaton, and instructions in them: half a megabyte. Beyond that, the cached states are dropped. */
const MOST_STATES = 512;
const LARGEST_AUTOMATON = 50_000;

/** The limit of `LinearRegex.work` for testing one expression: about 8 ms. Real expressions take at most 3,400. */
const MOST_WORK = 6000;
const PROBES = ["www.north.com", "api-1.silver.org", "mail.42.example.net", "shop.de"];
/** Slow expressions. Kept longer than their programs, because finding out takes longer than compiling. */
const slow = new Set<string>();
const MOST_SLOW = 1000;

/** An expression that RE2 matches, in time proportional to the text and the program. */
export class LinearRegex {
  /** Number of instructions of its program. */
  readonly size: number;
  private readonly regex: RE2JS;
  private forgotten = 0;
  private readonly source: string;
  private isTried = false;

  constructor(source: string, regex: RE2JS) {
    this.source = source;
    this.regex = regex;
    this.size = regex.programSize();
  }

  /** Whether the expression matches a part of the text. */
  test(text: string): boolean {
    const isMatch = this.regex.test(text);
    if (this.held > LARGEST_AUTOMATON || this.held > this.size * MOST_STATES) this.forget();
    return isMatch;
  }

  /** Whether a few ordinary names suffice to show that tests take too long: then no others need be run. */
  get isSlow(): boolean {
    // At worst, every character costs one visit of every instruction.
    if (this.size * PROBES.join("").length <= MOST_WORK) return false;
    if (slow.has(this.source)) return true;
    if (this.isTried) return false;
    this.isTried = true;
    this.forget();
    const limit = this.work + MOST_WORK;
    const isSlow = PROBES.some((name) => {
      this.test(name);
      return this.work > limit;
    });
    this.forget();
    if (!isSlow) return false;
    if (slow.size >= MOST_SLOW) slow.clear();
    slow.add(this.source);
    return true;
  }

  /** Drops the cached states. */
  forget(): void {
    this.forgotten += this.held;
    this.automaton?.clearCache();
  }

  /**
   * The cost of all tests so far, in visited instructions: RE2 walks the program once for each state of its automaton.
   * Unlike a time, it is the same on every machine.
   */
  get work(): number {
    return this.forgotten + this.held;
  }

  private get held(): number {
    return this.size * (this.automaton?.stateCount ?? 0);
  }

  /** RE2 creates it lazily, whatever its type claims. */
  private get automaton(): { readonly stateCount: number; clearCache(): void } | null {
    return this.regex.re2().lazyDFA;
  }
}

/** Expressions are used more than once, and compiling one costs more than matching it. */
const compiled = new Map<string, LinearRegex | undefined>();
let kept = 0;

/**
 * The compiled expression, ignoring case. Undefined if RE2 rejects it, if its program would be too large, or if RE2 is not
 * loaded because no expression was expected.
 */
export function linearRegex(
  source: string,
  mostInstructions: number = MOST_INSTRUCTIONS,
): LinearRegex | undefined {
  // The limit depends only on the text, so that the result does not depend on the cache.
  if (re2 === undefined || regexCost(source).instructions > mostInstructions) return undefined;
  const known = compiled.get(source);
  if (known !== undefined || compiled.has(source)) return known;
  let regex: LinearRegex | undefined;
  try {
    regex = new LinearRegex(source, re2.compile(source, re2.CASE_INSENSITIVE));
  } catch {
    // RE2 does not support it.
  }
  const weight = source.length + (regex?.size ?? 0);
  if (kept + weight > MOST_KEPT) {
    compiled.clear();
    kept = 0;
  }
  compiled.set(source, regex);
  kept += weight;
  return regex;
}

/** A test that returns `givenUp` for all texts once the expression exceeds `mostWork`. */
export function limitedTest(
  regex: LinearRegex,
  mostWork: number = MOST_WORK,
  givenUp = false,
): { readonly test: (text: string) => boolean; readonly isGivenUp: () => boolean } {
  if (mostWork === MOST_WORK && regex.isSlow) return { test: () => givenUp, isGivenUp: () => true };
  // Earlier tests by other callers must not affect the result.
  regex.forget();
  const limit = regex.work + mostWork;
  let isGivenUp = false;
  const test = (text: string): boolean => {
    if (isGivenUp) return givenUp;
    const isMatch = regex.test(text);
    isGivenUp = regex.work > limit;
    if (isGivenUp) regex.forget();
    return isGivenUp ? givenUp : isMatch;
  };
  return { test, isGivenUp: () => isGivenUp };
}

/** The maximum cost of a regular expression, estimated from its text before compiling. */
interface RegexCost {
  /** An upper bound of the instructions of its RE2 program. A repetition counts as often as it repeats. */
  readonly instructions: number;
  /** An upper bound of the ways in which a backtracking engine may try to match a text of `LENGTH` characters. */
  readonly paths: number;
}

/** The length of an ordinary name, plus the position after the last character. */
const LENGTH = 65;
/** RE2 folds the case of each character of a wide range: 7 ms. */
const WIDE_CLASS = 500;
/** A Unicode class has hundreds of ranges. */
const UNICODE_CLASS = 40;
const START = 3;
const TOO_LARGE = 1e9;

const COUNT = /\{(\d+)(,?)(\d*)\}/y;
const FLAGS = /\(\?[a-zA-Z-]*\)/y;
const WIDE = /[^\u0000-\u007f]|\\[0-7x]/;

/** An alternative between two `|`, or an item that a quantifier may follow. */
interface ExpressionPiece {
  size: number;
  paths: number;
}

/** An open group, or the whole expression. */
interface Group {
  /** Alternatives before the current one. */
  readonly done: ExpressionPiece;
  branch: ExpressionPiece;
  /** The last item. A quantifier after it applies to it. */
  last: ExpressionPiece;
}

/**
 * Estimates the cost in one pass. Consecutive pieces multiply the ways to match, alternatives add theirs, and a quantifier
 * adds one way per number of repetitions. The result is `Infinity` if the ways cannot be counted: for a repeated choice,
 * look-around, back-references, and syntax that JavaScript and RE2 read differently.
 */
export function regexCost(source: string): RegexCost {
  const open: Group[] = [newGroup()];
  let paths = 1;
  for (let at = 0; at < source.length; at++) {
    const group = open.at(-1)!;
    const character = source[at]!;
    if (character === "(") {
      const flags = flagsAt(source, at);
      if (flags > 0) {
        at += flags - 1;
        // In RE2, this repeats everything before the flags.
        if (/[*+?{]/.test(source[at + 1] ?? "")) group.branch.size = TOO_LARGE;
        continue;
      }
      if (/^\(\?<?[=!]/.test(source.slice(at, at + 4))) paths = Infinity;
      if (source[at + 1] === "?") at++;
      open.push(newGroup());
    } else if (character === ")" && open.length > 1) {
      open.pop();
      addPiece(open.at(-1)!, closed(group, 2));
    } else if (character === "|") nextBranch(group);
    else if (character === "[") {
      const end = classEnd(source, at);
      const members = source.slice(at + 1, end);
      if (members === "" || /^\^?\]/.test(members)) paths = Infinity;
      addPiece(group, { size: classSize(members), paths: 1 });
      at = end;
    } else if (character === "\\") {
      const next = source[++at] ?? "";
      if (/[1-9k]/.test(next)) paths = Infinity;
      addPiece(group, { size: escapeSize(next), paths: 1 });
      if (next === "p" || next === "P") at = scriptEnd(source, at + 1);
    } else if (character === "*" || character === "+" || character === "?") {
      group.last = repeated(
        group.last,
        character === "+" ? 1 : 0,
        character === "?" ? 1 : Infinity,
      );
      if (source[at + 1] === "?") at++;
    } else {
      COUNT.lastIndex = at;
      const count = character === "{" ? COUNT.exec(source) : null;
      if (count === null) addPiece(group, { size: 1, paths: 1 });
      else {
        const [text, from, comma, to] = count;
        const most = comma === "" ? Number(from) : to === "" ? Infinity : Number(to);
        group.last = repeated(group.last, Number(from), most);
        at += text.length - 1;
        if (source[at + 1] === "?") at++;
      }
    }
  }
  const isAnchored = source.startsWith("^") && open[0]!.done.size === 0;
  let whole = closed(open.pop()!, START);
  // Unclosed groups: neither engine accepts the expression.
  while (open.length > 0) {
    addPiece(open.at(-1)!, whole);
    whole = closed(open.pop()!, START);
  }
  return { instructions: whole.size, paths: paths * whole.paths * (isAnchored ? 1 : LENGTH) };
}

function newGroup(): Group {
  return { done: { size: 0, paths: 0 }, branch: nothing(), last: nothing() };
}

function nothing(): ExpressionPiece {
  return { size: 0, paths: 1 };
}

function addPiece(group: Group, piece: ExpressionPiece): void {
  group.branch.size += group.last.size;
  group.branch.paths *= group.last.paths;
  group.last = piece;
}

function nextBranch(group: Group): void {
  addPiece(group, nothing());
  group.done.size += group.branch.size + 1;
  group.done.paths += group.branch.paths;
  group.branch = nothing();
}

function closed(group: Group, own: number): ExpressionPiece {
  nextBranch(group);
  return { size: group.done.size + own, paths: group.done.paths };
}

/** `x{2,4}` is `xx(x(x)?)?`, `x{2,}` is `xx+`, and `x*` is `(x+)?` if `x` may be empty. */
function repeated({ size, paths }: ExpressionPiece, from: number, to: number): ExpressionPiece {
  if (to === Infinity)
    return {
      size: Math.min(Math.max(from, 1) * size + (from === 0 ? 2 : 1), TOO_LARGE),
      paths: paths === 1 ? LENGTH : Infinity,
    };
  const optional = Math.max(0, to - from);
  return {
    // Not `Infinity`, because zero repetitions of it would be NaN.
    size: Math.min(Math.min(from, to) * size + optional * (size + 1), TOO_LARGE),
    paths: (optional + 1) * paths ** to,
  };
}

function classSize(members: string): number {
  if (WIDE.test(members)) return WIDE_CLASS;
  return 1 + (members.length >> 4) + UNICODE_CLASS * (members.split(/\\[pP]/).length - 1);
}

function escapeSize(next: string): number {
  // RE2 reads everything up to `\E` as plain text. This function does not support that.
  if (next === "Q") return TOO_LARGE;
  return next === "p" || next === "P" ? UNICODE_CLASS : 1;
}

/** The length of a group that only sets flags, such as `(?i)`, or 0. */
function flagsAt(source: string, at: number): number {
  FLAGS.lastIndex = at;
  return FLAGS.exec(source)?.[0].length ?? 0;
}

/** Where the name of a script ends: `L` in `\pL`, `{Greek}` in `\p{Greek}`. */
function scriptEnd(source: string, start: number): number {
  return source[start] === "{" ? Math.max(start, source.indexOf("}", start)) : start;
}

/** Where a class ends. A `]` right after the start is a member of the class. */
function classEnd(source: string, start: number): number {
  const first = start + (source[start + 1] === "^" ? 2 : 1);
  for (let at = first; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "]" && at > first) return at;
  }
  return source.length;
}

const REPETITION = /\{\d+,?\d*\}/y;

/**
 * Texts in lower case that every match of an expression contains: runs of plain characters that are outside of groups and
 * classes and not optional. ASCII only, because `ſ` matches `s` if case is ignored.
 */
export function regexTexts(source: string): string[] {
  const texts: string[] = [];
  let run = "";
  let depth = 0;
  const end = (): void => {
    if (run !== "") texts.push(run.toLowerCase());
    run = "";
  };
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === "|" && depth === 0) return [];
    if (character === "[") {
      end();
      const last = classEnd(source, at);
      // RE2 reads `[:alpha:]` inside as a class, JavaScript does not.
      if (source.slice(at + 1, last).includes("[")) return [];
      at = last;
    } else if (character === "(") {
      const flags = flagsAt(source, at);
      if (flags > 0) {
        at += flags - 1;
        // In RE2, this repeats the text before the flags or makes it optional.
        if (/[*+?{]/.test(source[at + 1] ?? "")) return [];
        continue;
      }
      end();
      depth++;
    } else if (character === ")") {
      run = "";
      depth--;
    } else if (character === "?" || character === "*") {
      // The preceding character is optional.
      run = run.slice(0, -1);
      end();
    } else if (character === "{") {
      REPETITION.lastIndex = at;
      const count = REPETITION.exec(source)?.[0] ?? "";
      run = run.slice(0, -1);
      end();
      at += Math.max(0, count.length - 1);
    } else if (character === "\\") {
      const next = source[++at] ?? "";
      // A character code or a class: the text after it is not literal.
      if (/[0-9xuUcpPkQ]/.test(next)) return [];
      if (/[A-Za-z]|[^\u0020-\u007e]/.test(next)) end();
      else if (depth === 0) run += next;
    } else if (/[+^$.]|[^\u0020-\u007e]/.test(character)) end();
    else if (depth === 0) run += character;
  }
  end();
  return texts;
}
