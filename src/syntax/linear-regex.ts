import type { RE2JS } from "re2js";
import { regexCost } from "./regex-cost.ts";

let re2: typeof RE2JS | undefined;

/** Loads RE2: 17 ms and 8 MB that a list without regular expressions can do without. Must be awaited before the rest. */
export async function loadRegex(): Promise<void> {
  re2 ??= (await import("re2js")).RE2JS;
}

export function isRegexLoaded(): boolean {
  return re2 !== undefined;
}

/** Compiling takes 3 to 8 µs for each, matching 0.1 µs for each character at the worst. Real ones have 280 at the most. */
const MOST_INSTRUCTIONS = 500;
/** Instructions of all programs that are kept at a time: about 5 MB. Those of 365 real lists together have 13,000. */
const MOST_KEPT = 20_000;
/** States of an automaton, and instructions in them: half a megabyte. More are forgotten and found again. */
const MOST_STATES = 512;
const LARGEST_AUTOMATON = 50_000;

/** An expression that RE2 matches: in a time that grows with the text and the program, and with nothing else. */
export class LinearRegex {
  /** Instructions of its program. */
  readonly size: number;
  private readonly regex: RE2JS;
  private forgotten = 0;

  constructor(regex: RE2JS) {
    this.regex = regex;
    this.size = regex.programSize();
  }

  /** Whether the expression matches a part of the text. */
  test(text: string): boolean {
    const isMatch = this.regex.test(text);
    if (this.held > LARGEST_AUTOMATON || this.held > this.size * MOST_STATES) this.forget();
    return isMatch;
  }

  /** Forgets what is known of texts so far. */
  forget(): void {
    this.forgotten += this.held;
    this.automaton?.clearCache();
  }

  /**
   * What the texts so far took, in instructions looked at: the program is walked for each state that its automaton has.
   * The same on every machine, which a time is not.
   */
  get work(): number {
    return this.forgotten + this.held;
  }

  private get held(): number {
    return this.size * (this.automaton?.stateCount ?? 0);
  }

  /** Made when it is first needed, whatever its type says. */
  private get automaton(): { readonly stateCount: number; clearCache(): void } | null {
    return this.regex.re2().lazyDFA;
  }
}

/** Expressions are looked at more than once, and compiling one costs more than matching it. */
const compiled = new Map<string, LinearRegex | undefined>();
let kept = 0;

/**
 * The expression, with case ignored; undefined when RE2 does not take it, when its program would be too large, or when it
 * turned up where none was expected and RE2 is not loaded.
 */
export function linearRegex(
  source: string,
  mostInstructions: number = MOST_INSTRUCTIONS,
): LinearRegex | undefined {
  // Told from the text alone, so that the answer does not depend on what was compiled before.
  if (re2 === undefined || regexCost(source).instructions > mostInstructions) return undefined;
  const known = compiled.get(source);
  if (known !== undefined || compiled.has(source)) return known;
  let regex: LinearRegex | undefined;
  try {
    regex = new LinearRegex(re2.compile(source, re2.CASE_INSENSITIVE));
  } catch {
    // Not in RE2.
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

/** What trying an expression may take, see `LinearRegex.work`: some 10 ms. Real ones take 3,400 at the most. */
const MOST_WORK = 8000;

/** A test that says `givenUp` of all texts once the expression took too much. */
export function limitedTest(
  regex: LinearRegex,
  mostWork: number = MOST_WORK,
  givenUp = false,
): { readonly test: (text: string) => boolean; readonly isGivenUp: () => boolean } {
  // Others may have tried it before, which must make no difference.
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
