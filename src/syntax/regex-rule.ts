import type { RE2JS } from "re2js";

let re2: typeof RE2JS | undefined;

/** Loads RE2: 17 ms and 8 MB that a list without regular expressions can do without. Must be awaited before the rest. */
export async function loadRegex(): Promise<void> {
  re2 ??= (await import("re2js")).RE2JS;
}

/** Whether `/…/` holds a regular expression that a resolver can use: JavaScript's engine or RE2 (AdGuard Home) takes it. */
export function regexCompiles(pattern: string): boolean {
  const source = pattern.slice(1, -1);
  if (isJavaScript(source)) return true;
  if (re2 === undefined) throw new Error("loadRegex() was not awaited");
  try {
    re2.compile(source);
    return true;
  } catch {
    return false;
  }
}

/** Expressions are looked at more than once, and compiling one costs more than matching it. */
const compiled = new Map<string, RE2JS | undefined>();
const MOST_COMPILED = 4096;

/** Undefined when RE2 does not take it, or when it turned up where none was expected and RE2 is not loaded. */
function compiledRegex(source: string): RE2JS | undefined {
  if (re2 === undefined || compiled.has(source)) return compiled.get(source);
  if (compiled.size >= MOST_COMPILED) compiled.clear();
  let regex: RE2JS | undefined;
  try {
    regex = re2.compile(source, re2.CASE_INSENSITIVE);
  } catch {
    // Not in RE2.
  }
  compiled.set(source, regex);
  return regex;
}

/** Whether RE2, and so AdGuard Home, takes the expression: it is then matched in linear time. */
export function isLinearRegex(source: string): boolean {
  return compiledRegex(source) !== undefined;
}

/**
 * A test for names, as RE2 and so AdGuard Home would match them, in linear time; undefined when it does not take the
 * expression. JavaScript's engine, which needs no warming up, does it where both mean the same.
 */
export function nameRegex(source: string): LineTest | undefined {
  if (isPortable(source)) {
    const native = scriptRegex(source);
    if (native !== undefined) return native;
  }
  const regex = compiledRegex(source);
  return regex === undefined ? undefined : (name) => regex.matcher(name).find();
}

/** Whether `nameRegex` has to ask RE2, which then must be loaded. */
export function needsRe2(source: string): boolean {
  return !isPortable(source) || scriptRegex(source) === undefined;
}

/** The same by JavaScript's rules, where that is harmless: other resolvers go by them. */
export function scriptRegex(source: string): LineTest | undefined {
  if (!isSimple(source, 2) || !isJavaScript(source)) return undefined;
  const native = new RegExp(source, "i");
  return (name) => native.test(name);
}

/** Letters, digits, anchors, groups, plain classes and the escapes that mean the same in JavaScript and in RE2. */
function isPortable(source: string): boolean {
  const bare = source.replace(/\\(?:[dwsDWS]|[^A-Za-z0-9])/g, "x").replaceAll("(?:", "(");
  return !/\\|\(\?|\[\[?[:.=]|[^\u0020-\u007e]/.test(bare);
}

function isJavaScript(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Whether a pattern is a regular expression, `/…/`. */
export function isRegexText(pattern: string): boolean {
  return pattern.length > 1 && pattern.startsWith("/") && pattern.endsWith("/");
}

/** Tests a line; never more than linear time where that can be had. */
export type LineTest = (line: string) => boolean;

/**
 * A regular expression of an exclusion, flags `i` and `m`. JavaScript's engine is faster but can be made to hang; it is
 * used for simple expressions on lines of ordinary length, and for those RE2 cannot express. Throws a SyntaxError
 * when it does not compile.
 */
export function compileEntryRegex(source: string): LineTest {
  const native = new RegExp(source, "im");
  if (re2 === undefined) throw new Error("loadRegex() was not awaited");
  try {
    const linear = re2.compile(source, re2.CASE_INSENSITIVE);
    const longest = isSimple(source) ? LONGEST_FOR_NATIVE : 0;
    return (line) => (line.length <= longest ? native.test(line) : linear.matcher(line).find());
  } catch {
    return (line) => native.test(line);
  }
}

/** Squared, this many characters are still nothing. */
const LONGEST_FOR_NATIVE = 500;

/** No group is repeated without bound, and at most one other thing is: backtracking is at worst the line's length squared. */
function isSimple(source: string, unbounded = 1): boolean {
  const bare = source.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  if (/\)(?:[*+]|\{\d+,)/.test(bare)) return false;
  return (bare.match(/[*+]|\{\d+,\}/g) ?? []).length <= unbounded;
}

/**
 * A text in lower case that stands in everything that an expression matches: a run of plain characters outside of groups and
 * classes that nothing makes optional. "" when none is seen.
 */
export function regexLiteral(source: string): string {
  let longest = "";
  let run = "";
  let depth = 0;
  const end = (): void => {
    if (run.length > longest.length) longest = run;
    run = "";
  };
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!;
    if (character === "|" && depth === 0) return "";
    if (character === "[") {
      end();
      at = classEnd(source, at);
    } else if (character === "(") {
      end();
      depth++;
    } else if (character === ")") {
      run = "";
      depth--;
    } else if (character === "?" || character === "*" || character === "{") {
      // What stands before it may be missing.
      run = run.slice(0, -1);
      end();
      if (character === "{") at = Math.max(at, source.indexOf("}", at));
    } else if (character === "+" || character === "^" || character === "$" || character === ".")
      end();
    else if (character === "\\") {
      const next = source[++at] ?? "";
      // A character by its number, or of a kind: what follows is no text.
      if (/[0-9xuUcpPkQ]/.test(next)) return "";
      if (/[A-Za-z]/.test(next)) end();
      else if (depth === 0) run += next;
    } else if (depth === 0) run += character;
  }
  end();
  return longest.toLowerCase();
}

/** Where a class ends; a bracket right behind its start belongs to it. */
function classEnd(source: string, start: number): number {
  for (let at = start + (source[start + 1] === "^" ? 3 : 2); at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "]") return at;
  }
  return source.length;
}
