import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import * as fc from "fast-check";
import { AhoCorasick, FOLDED } from "../../src/bytes/aho-corasick.ts";
import { encodeUtf8 } from "../../src/bytes/text.ts";
import { LiteralIndex } from "../../src/meaning/rule-index.ts";
import { loadRegex } from "../../src/syntax/regex-rule.ts";
import { LineFilter } from "../../src/transformations/filter.ts";
import { propertyRuns } from "../support/property.ts";
import { Random, seedFrom } from "../support/random.ts";

const seed = seedFrom(process.env["FUZZ_SEED"]);
const LETTERS = [
  "a",
  "B",
  "ads",
  "k",
  "s",
  ".",
  "-",
  "^",
  "||",
  "1",
  "реклама",
  "Реклама",
  "\u212a",
  "\u017f",
  "\u0130",
  "é",
];

function word(random: Random, most: number, letters: readonly string[] = LETTERS): string {
  return random.times(1 + random.below(most), () => random.pick(letters)).join("");
}

const REGEXES = [
  "^ads",
  "ads?",
  "[a-c]+1",
  "b$",
  "k",
  "\\.ads\\.",
  "(a|b)1",
  "^[^.]+\\.",
  "s-",
  "é",
  "a{2}",
  "(?:ads){2}",
  "[k-s]1",
  "\\bads\\b",
];

function anyWord(most: number): fc.Arbitrary<string> {
  const parts = fc.array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: most });
  return parts.map((some) => some.join(""));
}

const star = fc.constantFrom("*", "");
const anyEntry = fc.oneof(
  fc
    .array(fc.constantFrom(...REGEXES), { minLength: 1, maxLength: 2 })
    .map((parts) => `/${parts.join("")}/`),
  fc.tuple(star, anyWord(2), anyWord(2), star).map(([a, b, c, d]) => `${a}${b}*${c}${d}`),
);

test("many exclusions together match what each matches alone", async () => {
  await loadRegex();
  let matched = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyEntry, fc.boolean()), { minLength: 1, maxLength: 12 }),
      fc.array(anyWord(8), { minLength: 20, maxLength: 30 }),
      (some, lines) => {
        const entries = some.map(([text]) => text);
        const remote = new Set(some.filter(([, isRemote]) => isRemote).map(([text]) => text));
        const filter = new LineFilter(entries, remote);
        const each = entries.map((one) => new LineFilter([one]));
        for (const line of lines) {
          const expected = each.some((one) => one.matchesLine(line));
          assert.equal(filter.matchesLine(line), expected, `${line} by ${entries.join(" ")}`);
          if (expected) matched++;
        }
      },
    ),
    propertyRuns(300),
  );
  assert.ok(matched > 500, `${matched} lines`);
});

test("a wildcard exclusion matches whole lines and ignores case in other scripts", () => {
  for (const [entry, line] of [
    ["*реклама*", "||РЕКЛАМА.example^"],
    ["*ads*РЕКЛАМА", "||ADS.реклама"],
    ["*kads*", "||\u212aads.example^"],
  ] as const)
    assert.ok(new LineFilter([entry]).matchesLine(line), entry);
});

test("every word in a text is visited", () => {
  const random = new Random(seed);
  for (let round = 0; round < 500; round++) {
    const words = [
      ...new Set(random.times(1 + random.below(10), () => word(random, 4, ["a", "b", "c"]))),
    ];
    const search = new AhoCorasick(words.map(encodeUtf8));
    const text = word(random, 20, ["a", "b", "c", "C"]);
    const bytes = encodeUtf8(text);
    const found = new Set<string>();
    search.some(bytes, { start: 0, end: bytes.length }, FOLDED, (at) => {
      found.add(words[at]!);
      return false;
    });
    const expected = words.filter((one) => text.toLowerCase().includes(one));
    assert.deepEqual([...found].toSorted(), expected.toSorted(), `seed ${seed}: ${text}`);
  }
});

test("entries are found once by the names that contain their texts", () => {
  const random = new Random(seed);
  for (let round = 0; round < 300; round++) {
    const index = new LiteralIndex<readonly string[]>();
    const things = random.times(random.below(40), () =>
      random.times(random.below(3), () => word(random, 7, ["a", "b", "."])),
    );
    for (const thing of things) index.add(thing, thing);
    for (let ask = 0; ask < 20; ask++) {
      const name = word(random, 12, ["a", "b", "."]);
      const isMeant = (texts: readonly string[]): boolean =>
        texts.every((one) => name.includes(one));
      const found = index.candidates(name);
      assert.equal(new Set(found).size, found.length);
      const expected = things.filter(isMeant);
      assert.ok(
        expected.every((thing) => found.includes(thing)),
        `seed ${seed}: ${name}`,
      );
    }
  }
});
