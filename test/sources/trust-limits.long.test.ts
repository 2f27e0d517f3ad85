import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Chunk } from "../../src/rules/chunk.ts";
import { Fate } from "../../src/rules/fate.ts";
import { LARGE_SUFFIXES, nameSample } from "../../src/syntax/name-sample.ts";
import { namePattern, patternTexts } from "../../src/syntax/name-pattern.ts";
import { TrustJudge, isWideName } from "../../src/syntax/trust.ts";
import { prepareTrust } from "../../src/transformations/trust.ts";
import { type Config, compile, memoryHost, rowsOf } from "../support/internals.ts";

/** What becomes of each line of a stranger's, by its number. */
async function fatesOf(
  lines: readonly string[],
  source: Partial<Config["sources"][number]> = {},
): Promise<string[]> {
  const url = "https://lists.example/l.txt";
  const host = memoryHost({ web: { [url]: `${lines.join("\n")}\n` } });
  const { rules } = await compile({ name: "n", sources: [{ source: url, ...source }] }, { host });
  const fates: string[] = [];
  for (const { line, fate } of rowsOf(rules))
    if (fates[line - 1] !== "kept") fates[line - 1] = fate;
  return fates;
}

async function fateOf(
  line: string,
  source: Partial<Config["sources"][number]> = {},
): Promise<string> {
  return (await fatesOf([line, "||fine.example^"], source))[0]!;
}

function rule(length: number): string {
  return `||a.example^$client='${"x".repeat(length - 22)}'`;
}

test("lines of 4 KiB are accepted, longer ones are not", async () => {
  assert.equal(rule(4096).length, 4096);
  assert.equal(await fateOf(rule(4096)), "kept");
  assert.equal(await fateOf(rule(4097)), "too-long");
});

test("control characters are refused, also in comments; letters with adjacent codes are not", async () => {
  for (const [line, fate] of [
    ["||a\u0001.example^", "control-bytes"],
    ["||a\u007f.example^", "control-bytes"],
    ["||a\u0080.example^", "control-bytes"],
    ["||a\u009f.example^", "control-bytes"],
    ["! a comment with \u001b[31m", "control-bytes"],
    ["! a comment with \u0085", "control-bytes"],
    ["! a tab\tand a sign © and é", "kept"],
    ["! ÿ©", "kept"],
    ["0.0.0.0\ta.example", "kept"],
  ] as const)
    assert.equal(await fateOf(line), fate, JSON.stringify(line));
});

test("at most three hundred expressions of a source are accepted", async () => {
  const fates = await fatesOf(
    Array.from({ length: 302 }, (_, index) => `/^ads${index}x[0-9]\\.example$/`),
  );
  assert.equal(fates[299], "kept");
  assert.equal(fates[300], "slow-regex");
  assert.equal(fates[301], "slow-regex");
});

/** Letters that nearly all names have, in an order that hardly any has. */
function letters(index: number): string[] {
  return [0, 3, 6, 9].map((place) => "aeinorst"[(index >> place) & 7]!);
}

test("expensive patterns are checked up to a cost limit, cheap ones always", async () => {
  const lines = Array.from(
    { length: 1000 },
    (_, index) => `||*o*${letters(index).join("*")}*a*e*^`,
  );
  const fates = await fatesOf([
    ...lines,
    "||ads*.example.com^",
    "||tracker*.example.net^",
    "||*.com^",
  ]);
  assert.ok(fates.slice(0, 100).every((fate) => fate !== "slow-regex"));
  assert.ok(fates.slice(900, 1000).every((fate) => fate === "slow-regex"));
  assert.deepEqual(fates.slice(1000), ["kept", "kept", "public-suffix"]);
});

test("expressions that are too large, too long or too slow are dropped", async () => {
  for (const [line, fate] of [
    ["/(.?){30}!/", "kept"],
    ["/(.?){300}!/", "slow-regex"],
    [`/ads(?:${"a|".repeat(130)}a)x/`, "slow-regex"],
    ["/([a-m].{15}|(.?){50})[!0]/", "slow-regex"],
    ["/[a-\u{10ffff}][b-\u{10ffff}]x/", "slow-regex"],
    ["/^\\x7e.{0,1000}.{0,1000}$/", "slow-regex"],
  ] as const)
    assert.equal(await fateOf(line), fate, line);
});

test("$badfilter works for plain names and not for a block-only source", async () => {
  assert.deepEqual(
    await fatesOf(["a.example", "a.example$badfilter", "||b.example^", "||b.example^$badfilter"]),
    ["cancelled", "cancels", "cancelled", "cancels"],
  );
  assert.deepEqual(
    await fatesOf(["||b.example^", "||b.example^$badfilter"], { trust: "block-only" }),
    ["kept", "cancels"],
  );
  assert.deepEqual(await fatesOf(["0.0.0.0 a.example", "||x.example^$badfilter"]), [
    "kept",
    "cancels",
  ]);
});

test("trust decides about addresses, shared hosts and special names", async () => {
  for (const [line, fate] of [
    ["||93.184.216.34^", "kept"],
    ["||dyndns.org^", "kept"],
    ["@@||dyndns.org^", "public-suffix"],
    ["||dyndns.org^$important", "kept"],
    ["@@||dyndns.org^$important", "public-suffix"],
    ["*.com.*", "too-wide"],
    ["||*.co.uk.*^", "public-suffix"],
    ["||me.dyndns.org^", "kept"],
    ["@@||me.dyndns.org^", "kept"],
    ["0.0.0.0 dyndns.org", "kept"],
    ["0.0.0.0 *.com", "public-suffix"],
    ["0.0.0.0 ads*.example.com", "kept"],
    ["0.0.0.0 a|b.example", "public-suffix"],
    ["0.0.0.0 ｃom", "public-suffix"],
    ["||ads*.example.com^", "kept"],
    ["||*^", "too-wide"],
    ["||a*^", "too-wide"],
    ["/^ads[0-9]+\\./", "kept"],
    ["/./", "too-wide"],
    ["@@/\\.github\\.io$/", "public-suffix"],
    ["/\\.com$/", "too-wide"],
    ["", "blank"],
  ] as const)
    assert.equal(await fateOf(line), fate, line);
});

test("trust decides about patterns with wildcards", () => {
  for (const [pattern, matching, others] of [
    [
      "||a*b*c.example^",
      ["abc.example", "axbyc.example", "z.a1b2c.example"],
      ["acb.example", "ab.example", "abc.example.org", "bac.example"],
    ],
    ["||a*b*c", ["abc.example", "a.b.c.example", "abcd"], ["acb", "ab"]],
    ["||a*^", ["a", "ab", "x.ab"], ["ba"]],
    ["||ab*ba^", ["abba", "abxba"], ["aba", "ab", "abbax"]],
    ["|a*b^", ["ab", "axb"], ["x.ab", "abx"]],
    ["a*b", ["xaxbx", "ab"], ["ba"]],
    ["||example.com^", ["example.com", "x.example.com"], ["xexample.com", "example.com.x"]],
    ["||ex*", ["example.com", "a.ex"], ["hex.com"]],
    ["ads", ["my-ads.example", "ads"], ["ad.example"]],
  ] as const) {
    const matches = namePattern(pattern)!;
    for (const name of matching) assert.ok(matches(name), `${pattern} ${name}`);
    for (const name of others) assert.ok(!matches(name), `${pattern} not ${name}`);
  }
  assert.equal(namePattern("||a^b^"), undefined);
  assert.equal(namePattern("||a/b"), undefined);
});

test("the literals of a pattern are in every match", () => {
  for (const [pattern, texts] of [
    ["||ads*.example.com^", ["ads", ".example.com"]],
    ["||abc*def^", ["abc", "def"]],
    ["*", []],
    ["||A*^", ["a"]],
    ["http://x.example^", ["x.example"]],
  ] as const)
    assert.deepEqual(patternTexts(pattern), texts, pattern);
});

function waits(has: Partial<Chunk["has"]>): boolean {
  return prepareTrust({ has } as Chunk) !== undefined;
}

test("trust prepares for expressions in every chunk that may have one", () => {
  assert.equal(waits({}), false);
  assert.equal(waits({ regexes: true }), true);
  assert.equal(waits({ outerBlanks: true }), true);
  assert.equal(waits({ nonAscii: true }), true);
  assert.equal(waits({ comments: true, specialHosts: true }), false);
});

test("wide names of an untrusted hosts line are recognised", () => {
  for (const [name, isWide] of [
    ["com", true],
    ["co.uk", true],
    ["example.com", false],
    ["github.io", false],
    ["com.", true],
    ["ｃom", true],
    ["пример.example", false],
    ["*.com", true],
    ["ads*.example.com", false],
    ["a|b.example", true],
    ["a$b.example", true],
  ] as const)
    assert.equal(isWideName(name), isWide, name);
});

/** Lines that match much, each in its own way. */
function wideLines(): string[] {
  const alphabet = [..."abcdefghijklmnopqrstuvwxyz"];
  const pairs = alphabet.flatMap((one) => alphabet.map((other) => one + other));
  const names = nameSample().split(" ");
  const starts = names.map((name) => name.slice(0, 4)).filter((start) => /^[a-z]+$/.test(start));
  return [
    ...["com", "net", "de"].flatMap((end) => alphabet.map((one) => `||*${one}*.${end}^`)),
    ...pairs.flatMap((pair) => [`||*${pair}*`, `||${pair}*.com^`, `||*${pair}.org^`]),
    ...[...new Set(starts)].map((start) => `||${start}*`),
  ];
}

test("all patterns of a source together match at most one name in 200", () => {
  const names = nameSample().split(" ");
  const judge = new TrustJudge({ onlyBlocks: true });
  const lines = wideLines();
  const kept = lines.filter((line) => judge.judge(line) === Fate.Kept);
  assert.ok(lines.length > 5000 && kept.length > 10, `${kept.length} of ${lines.length}`);
  assert.deepEqual(
    ["||*s*.com^", "||*c*.com^", "||*th*", "||shop*"].filter((line) => kept.includes(line)),
    [],
  );
  const tests = kept.map((line) => namePattern(line)!);
  const hits = names.filter((name) => tests.some((matches) => matches(name)));
  assert.ok(hits.length <= names.length / 200, `${hits.length} of ${names.length}`);
});

test("many patterns that match no known name are limited, too", () => {
  const judge = new TrustJudge({ onlyBlocks: true });
  const lines = Array.from({ length: 20_000 }, (_, index) => `||qx${index.toString(36)}zq*`);
  const kept = lines.filter((line) => judge.judge(line) === Fate.Kept).length;
  assert.ok(kept > 1500 && kept < 2500, `${kept}`);
  // Patterns in one domain are not.
  assert.equal(judge.judge("||ads*.example.com^"), Fate.Kept);
});

test("the sample is large, varied and small to ship", () => {
  const names = nameSample().split(" ");
  assert.ok(names.length >= 20_000 && new Set(names).size === names.length);
  for (const name of names) assert.match(name, /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/);
  assert.ok(gzipSync(nameSample()).length <= 300_000);
  for (const [suffix, count] of Object.entries(LARGE_SUFFIXES)) {
    assert.ok(count >= 500, suffix);
    assert.ok(names.filter((name) => name.endsWith(`.${suffix}`)).length >= count, suffix);
  }
});
