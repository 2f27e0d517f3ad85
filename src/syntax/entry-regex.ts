import { RE2JS } from "re2js";

/** Tests a line; the same answer as JavaScript's own engine, but never more than linear time where that can be had. */
export type LineTest = (line: string) => boolean;

/**
 * A regular expression of an exclusion, flags `i` and `m`. JavaScript's engine is ten times faster but can be made to
 * hang; it is used for expressions in which nothing that repeats is repeated, and for those RE2 cannot express.
 * Throws a SyntaxError when it does not compile.
 */
export function compileEntryRegex(source: string): { test: LineTest; isLinear: boolean } {
  const native = new RegExp(source, "im");
  const test: LineTest = (line) => native.test(line);
  if (isSimple(source)) return { test, isLinear: true };
  try {
    const linear = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE);
    return { test: (line) => linear.matcher(line).find(), isLinear: true };
  } catch {
    return { test, isLinear: false };
  }
}

/** No group is repeated without bound, and at most two other things are: backtracking stays polynomial in a short line. */
function isSimple(source: string): boolean {
  const bare = source.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  if (/\)(?:[*+]|\{\d+,)/.test(bare)) return false;
  return (bare.match(/[*+]|\{\d+,\}/g) ?? []).length <= 2;
}
