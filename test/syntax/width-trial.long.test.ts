import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { Fate } from "../../src/rules/fate.ts";
import { namePattern, patternParts } from "../../src/syntax/name-pattern.ts";
import { LARGE_SUFFIXES, nameSample } from "../../src/syntax/name-sample.ts";
import { icannRules, privateRules } from "../../src/syntax/public-suffix-list.ts";
import { NamesByText, sampleHits } from "../../src/syntax/sample-names.ts";
import { WidthTrial } from "../../src/syntax/trust.ts";
import { Random, seedFrom } from "../support/random.ts";

const seed = seedFrom(process.env["FUZZ_SEED"]);

/** Two names under each suffix. */
function probesFor(rules: string): (readonly [string, string])[] {
  return rules
    .split(" ")
    .filter((rule) => rule !== "" && !rule.startsWith("!"))
    .map((rule) => rule.replace(/^\*\./, ""))
    .map((suffix) => [`zq7xkv.${suffix}`, `w3vbjy.${suffix}`] as const);
}

const LISTED = probesFor(icannRules());
const SHARED = probesFor(privateRules());

/** Tries them one after the other. */
function coversSlowly(matches: (name: string) => boolean, isShared: boolean): boolean {
  return [LISTED, isShared ? SHARED : []].some((probes) =>
    probes.some(([one, other]) => matches(one) && matches(other)),
  );
}

const NAMES = nameSample().split(" ");

/** Counts all names: one in a thousand, and one in fifty of a large suffix. */
function isWide(matches: (name: string) => boolean): boolean {
  const hits = NAMES.filter((name) => matches(name));
  return (
    hits.length > NAMES.length / 1000 ||
    Object.keys(LARGE_SUFFIXES).some((suffix) => {
      const isBelow = (name: string): boolean => name.endsWith(`.${suffix}`);
      return hits.filter(isBelow).length > NAMES.filter(isBelow).length / 50;
    })
  );
}

const PIECES =
  "com co.uk uk net org .com .jp jp co. .co github.io github io edu gov v y 7 q a e o n s t 1 2 - . .. *. .* ads example xn-- city museum kobe tokyo www shop news api-1. 11. .net".split(
    " ",
  );

function randomPattern(random: Random): string {
  const count = 1 + random.below(5);
  const body = random
    .times(count, () => random.pick(PIECES) + (random.chance(0.5) ? "*" : ""))
    .join("");
  const star = random.chance(0.4) ? "*" : "";
  return `${random.pick(["||", "||", "|", ""])}${star}${body}${random.pick(["^", "^", "|", "", "*", "^*"])}`;
}

test("a pattern gets the same result on the names with its literals as on all names", () => {
  const random = new Random(seed);
  const seen = new Map<Fate, number>();
  for (let round = 0; round < 500; round++) {
    const pattern = randomPattern(random);
    const isAllow = random.chance(0.5);
    const parts = patternParts(pattern);
    const matches = namePattern(pattern);
    if (parts === undefined || matches === undefined) continue;
    const slow =
      sampleHits(matches) === undefined
        ? Fate.TooWide
        : coversSlowly(matches, isAllow)
          ? Fate.PublicSuffix
          : Fate.Kept;
    // Sample addresses count, too.
    if (slow !== Fate.TooWide) assert.ok(!isWide(matches), `seed ${seed}: ${pattern}`);
    const fast = new WidthTrial().judgePattern(parts, isAllow);
    assert.equal(fast, slow, `seed ${seed}: ${isAllow ? "@@" : ""}${pattern}`);
    seen.set(slow, (seen.get(slow) ?? 0) + 1);
  }
  for (const fate of [Fate.TooWide, Fate.PublicSuffix, Fate.Kept])
    assert.ok((seen.get(fate) ?? 0) > 20, `fate ${fate}: ${seen.get(fate)}`);
});

test("names are found by the literals in them", () => {
  const random = new Random(seed);
  const letters = [..."abc.-1"];
  const word = (length: number): string =>
    random.times(length, () => random.pick(letters)).join("");
  for (let round = 0; round < 200; round++) {
    const names = random.times(random.below(60), () => word(1 + random.below(12)));
    const index = new NamesByText(names);
    // The first asks search, later ones read an index; the cost of a pattern must not depend on it.
    for (let ask = 0; ask < 60; ask++) {
      const texts = random.times(random.below(4), () => word(random.below(5)));
      const expected = names.filter((name) => texts.every((text) => name.includes(text)));
      assert.deepEqual(index.candidates(texts), expected, `seed ${seed}, ask ${ask}`);
    }
  }
});
