import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { test } from "node:test";
import { RE2JS } from "re2js";
import { needsRe2, regexCost, regexTexts } from "../../src/syntax/regex-rule.ts";
import { Random, seedFrom } from "../support/random.ts";

const seed = seedFrom(process.env["FUZZ_SEED"]);

const ATOMS = [
  ..."a b c x . ^ $ \\. \\d \\w \\S \\b \\pL \\x2e \\x{2e} \\A \\- [a-z] [^a] [abc.-] [[:alpha:]] [[:digit:]x] []a] [^]b] [\\]a] [\\pL] é {x} ab.c ads".split(
    " ",
  ),
  "[a-z0-9.-]",
  "(?i)",
];
const REPEATS = "* + ? *? +? ?? {3} {0} {2,} {1,4} {0,30} {30} {5}?".split(" ");

function randomRegex(random: Random, depth = 0): string {
  const piece = (): string => {
    const atom =
      depth < 3 && random.chance(0.3)
        ? `${random.pick(["(", "(?:", "(?P<n>", "(?i:"])}${randomRegex(random, depth + 1)})`
        : random.pick(ATOMS);
    return random.chance(0.4) ? atom + random.pick(REPEATS) : atom;
  };
  const branch = (): string => random.times(1 + random.below(4), piece).join("");
  return random.times(random.chance(0.8) ? 1 : 1 + random.below(3), branch).join("|");
}

function compiled(source: string): RE2JS | undefined {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
  } catch {
    return undefined;
  }
}

test("no compiled expression has more instructions than estimated", () => {
  const random = new Random(seed);
  let count = 0;
  for (let round = 0; round < 20_000; round++) {
    const source = randomRegex(random);
    const { instructions } = regexCost(source);
    assert.ok(Number.isFinite(instructions), source);
    const regex = instructions > 5000 ? undefined : compiled(source);
    if (regex === undefined) continue;
    count++;
    assert.ok(
      regex.programSize() <= instructions,
      `seed ${seed}: ${source}: ${regex.programSize()} > ${instructions}`,
    );
  }
  assert.ok(count > 5000, `${count} expressions`);
});

test("every match of an expression contains its literals", () => {
  const random = new Random(seed);
  const words = ["a", "b", "c", "x", ".", "ads", "ab.c", "-", "1", "_", "s", "k", "é", "{x}", "]"];
  let count = 0;
  for (let round = 0; round < 20_000; round++) {
    const source = randomRegex(random);
    const texts = regexTexts(source);
    const regex =
      texts.length === 0 || regexCost(source).instructions > 500 ? undefined : compiled(source);
    if (regex === undefined) continue;
    for (let ask = 0; ask < 10; ask++) {
      const text = random.times(1 + random.below(8), () => random.pick(words)).join("");
      if (!regex.test(text)) continue;
      count++;
      for (const one of texts)
        assert.ok(text.includes(one), `seed ${seed}: ${source} in ${text} without ${one}`);
    }
  }
  assert.ok(count > 500, `${count} matches`);
});

test("literals are correct for ambiguous syntax and for case folding that changes lengths", () => {
  for (const [source, texts] of [
    ["a{x|b}cde", []],
    ["[\\]abc]def", ["def"]],
    ["[[:alpha:]abc]de", []],
    ["ads\u{1f600}?", ["ads"]],
    ["ad\u017f", ["ad"]],
    ["a{2,3}bc", ["bc"]],
    ["\\Qads\\E", []],
    ["^ads12[a-z]+\\.example", ["ads12", ".example"]],
  ] as const)
    assert.deepEqual(regexTexts(source), texts, source);
});

test("JavaScript's engine only gets expressions that are fast", () => {
  const random = new Random(seed);
  const names = ["a".repeat(60), "abcx.".repeat(12), `${"ads.".repeat(15)}!`, "a.".repeat(30)];
  let simple = 0;
  for (let round = 0; round < 20_000; round++) {
    const source = `${randomRegex(random)}${random.pick(["", "!", "~$"])}`;
    if (needsRe2(source)) continue;
    simple++;
    const regex = new RegExp(source, "i");
    const start = performance.now();
    for (const name of names) regex.test(name);
    assert.ok(performance.now() - start < 100, `seed ${seed}: ${source}`);
  }
  assert.ok(simple > 2000, `${simple} expressions`);
});

test("expressions with more than quadratic backtracking are left to RE2", () => {
  for (const source of [
    "(.?){30}!",
    "[a-z.]?{16}[a-z.]{16}!",
    `${"[a-z.]?".repeat(16)}[a-z.]{16}!`,
    `${"(a|a)".repeat(30)}!`,
    "(a|b|ab)*!",
    "a*a*a*!",
    "(a+)+!",
    "(x+x+)+y",
    "(?:a{0,20}){0,20}!",
    "a{0,99}a{0,99}!",
    "(?=a)b",
    "(a)\\1",
  ])
    assert.ok(needsRe2(source), source);
  for (const source of ["^ads?[0-9]+\\.", "^ads[0-9]", "banner\\d+", "(ads|track)[0-9]+\\.", "^a$"])
    assert.ok(!needsRe2(source), source);
});
