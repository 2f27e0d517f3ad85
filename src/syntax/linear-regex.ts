import type { RE2JS } from "re2js";
import { regexCost } from "./regex-cost.ts";

let re2: typeof RE2JS | undefined;

/** Loads RE2 (17 ms and 8 MB), which only lists with regular expressions need. Must be awaited before any other function. */
export async function loadRegex(): Promise<void> {
  re2 ??= (await import("re2js")).RE2JS;
}

export function isRegexLoaded(): boolean {
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
