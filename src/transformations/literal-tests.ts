import { AhoCorasick, FOLDED } from "../bytes/aho-corasick.ts";
import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import type { LineTest } from "../syntax/regex-rule.ts";

export interface LiteralTest {
  /** In lower case. A line that lacks one of them cannot match. */
  readonly texts: readonly string[];
  readonly test: LineTest;
}

/** Non-ASCII letters that fold to `i`, `s` and `k` when case is ignored. */
const FOLDS_TO_ASCII = /[\u0130\u017f\u212a]/;

/** Many tests that each need a text in the line. One pass over the line finds the tests worth trying. */
export class LiteralTests {
  private readonly all: readonly LineTest[];
  private readonly always: readonly LineTest[];
  private readonly byLiteral: readonly (readonly LineTest[])[];
  private readonly literals: AhoCorasick | undefined;
  /** The number of the last line that the tests of each literal ran on. */
  private readonly triedOn: Float64Array;
  private line = 0;

  constructor(tests: readonly LiteralTest[]) {
    this.all = tests.map(({ test }) => test);
    this.always = tests.filter(({ texts }) => texts.length === 0).map(({ test }) => test);
    const byLiteral = new Map<string, LineTest[]>();
    const counts = new Map<string, number>();
    for (const { texts } of tests)
      for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const { texts, test } of tests) {
      const literal = rarest(texts, counts);
      if (literal === undefined) continue;
      const known = byLiteral.get(literal);
      if (known === undefined) byLiteral.set(literal, [test]);
      else known.push(test);
    }
    this.byLiteral = [...byLiteral.values()];
    this.triedOn = new Float64Array(this.byLiteral.length);
    if (byLiteral.size > 0) this.literals = new AhoCorasick([...byLiteral.keys()].map(encodeUtf8));
  }

  get isEmpty(): boolean {
    return this.all.length === 0;
  }

  matches(bytes: Uint8Array, start: number, end: number, isNonAscii: boolean): boolean {
    if (this.isEmpty) return false;
    let decoded: string | undefined;
    const line = (): string => (decoded ??= decodeUtf8(bytes, start, end));
    const isMatch = (test: LineTest): boolean => test(line());
    if (isNonAscii && FOLDS_TO_ASCII.test(line())) return this.all.some(isMatch);
    if (this.always.some(isMatch)) return true;
    if (this.literals === undefined) return false;
    this.line++;
    return this.literals.some(bytes, { start, end }, FOLDED, (word) => {
      if (this.triedOn[word] === this.line) return false;
      this.triedOn[word] = this.line;
      return this.byLiteral[word]!.some(isMatch);
    });
  }
}

/** The text that the fewest tests share; of several, the longest. */
function rarest(texts: readonly string[], counts: ReadonlyMap<string, number>): string | undefined {
  let best: string | undefined;
  for (const text of texts)
    if (best === undefined || weight(text, counts) < weight(best, counts)) best = text;
  return best;
}

function weight(text: string, counts: ReadonlyMap<string, number>): number {
  return counts.get(text)! + 1 / text.length;
}
