import { regexCost } from "../syntax/regex-cost.ts";
import { regexTexts } from "../syntax/regex-texts.ts";
import { compileEntryRegex, isPortable, unionRegex } from "../syntax/regex-rule.ts";
import type { LiteralTest } from "./literal-tests.ts";

/** Instruction limit per combined expression. */
const LARGEST_UNION = 500;

/**
 * Tests for the expressions of one level. Expressions that need a literal text are found by it; many of the others are
 * combined into one.
 */
export function regexTests(sources: readonly string[], isOwn: boolean): LiteralTest[] {
  const tests: LiteralTest[] = [];
  let joined: string[] = [];
  let size = 0;
  const join = (): void => {
    if (joined.length > 0) tests.push({ texts: [], test: unionRegex(joined, isOwn) });
    joined = [];
    size = 0;
  };
  for (const source of sources) {
    const texts = regexTexts(source);
    const { instructions } = regexCost(source);
    if (texts.length > 0 || !isPortable(source) || instructions > LARGEST_UNION) {
      tests.push({ texts, test: compileEntryRegex(source, isOwn) });
      continue;
    }
    if (size + instructions > LARGEST_UNION) join();
    joined.push(source);
    size += instructions + 1;
  }
  join();
  return tests;
}
