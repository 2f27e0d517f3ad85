import assert from "node:assert/strict";
import { test } from "node:test";
import { SKETCH_SIZE, SketchMaker, commonShare, namesOf } from "../../src/sources/name-sketch.ts";
import { SourceGauge } from "../../src/sources/source-gauge.ts";
import { Random } from "../support/random.ts";

/** The sketch of names by the gauge, as it is made of a list. */
function sketchOf(written: readonly string[], salt = 7): readonly number[] {
  const bytes = new TextEncoder().encode(written.map((name) => `||${name}^\n`).join(""));
  const gauge = new SourceGauge(salt, new Set());
  gauge.look(bytes, 0, bytes.length);
  return gauge.measure.sketch;
}

function names(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${from + index}.example`);
}

test("a sketch estimates the size of a set and the overlap of two", () => {
  const random = new Random(5);
  for (let round = 0; round < 40; round++) {
    const [first, second] = [50 + random.below(20_000), 50 + random.below(20_000)];
    const start = random.below(first + 1);
    const common = Math.max(0, Math.min(first, start + second) - start);
    const one = sketchOf(names(0, first), round);
    const other = sketchOf(names(start, second), round);
    assert.ok(Math.abs(namesOf(one) / first - 1) < 0.2, `${namesOf(one)} of ${first}`);
    const expected = common / Math.min(first, second);
    const ratio = Math.max(first, second) / Math.min(first, second);
    // The more the sizes differ, the fewer names of the smaller one are in the sample.
    const slack = 0.13 * Math.sqrt(Math.min(ratio, 30));
    const share = commonShare(one, other);
    assert.ok(Math.abs(share - expected) < slack, `${share} for ${expected}, ratio ${ratio}`);
    assert.equal(share, commonShare(other, one));
  }
});

test("small sets are compared exactly", () => {
  const one = sketchOf(names(0, 300));
  assert.equal(namesOf(one), 300);
  assert.ok(Math.abs(commonShare(one, sketchOf(names(200, 300))) - 1 / 3) < 1e-9);
  assert.equal(commonShare(one, one), 1);
  assert.equal(commonShare(one, []), 1);
});

test("a sketch has the smallest hashes, sorted and unique", () => {
  const random = new Random(9);
  const hashes = random.times(20_000, () => random.below(2 ** 32));
  const maker = new SketchMaker();
  for (const hash of [...hashes, ...hashes]) maker.add(hash);
  const expected = [...new Set(hashes)].toSorted((a, b) => a - b).slice(0, SKETCH_SIZE);
  assert.deepEqual(maker.sketch, expected);
});

test("a different salt gives different hashes", () => {
  const [one, other] = [sketchOf(names(0, 3000), 1), sketchOf(names(0, 3000), 2)];
  assert.ok(commonShare(one, other) < 0.05);
});

/** What the gauge finds in a text: entries and names. */
function gauged(text: string, watched: readonly string[]): [number, string[]] {
  const bytes = new TextEncoder().encode(text);
  const gauge = new SourceGauge(3, new Set(watched));
  gauge.look(bytes, 0, bytes.length);
  const { entries, watched: found } = gauge.measure;
  return [entries, [...found]];
}

test("one name per entry is found in lines of any syntax", () => {
  for (const [text, entries, found] of [
    ["||a.example^", 1, ["a.example"]],
    ["||A.Example^$important", 1, ["a.example"]],
    ["||*.a.example^", 1, ["a.example"]],
    ["@@||a.example^", 1, []],
    ["0.0.0.0 a.example b.example # c.example", 2, ["a.example", "b.example"]],
    ["127.0.0.1\ta.example\r\n::1 b.example", 2, ["a.example", "b.example"]],
    ["address=/a.example/0.0.0.0", 1, ["a.example"]],
    ["a.example. CNAME .", 1, ["a.example"]],
    [".a.example", 1, ["a.example"]],
    ['["a.example","b.example"]', 2, ["a.example", "b.example"]],
    ["||x.example^$denyallow=a.example", 1, []],
    ["! a.example\n# b.example\n[Adblock Plus 2.0]\n\n  \n", 0, []],
    ["/ads[0-9]+/", 1, []],
    ["0.0.0.0", 1, []],
    ["||a.example/path/file.js", 1, ["a.example"]],
    ["a.example\rb.example\r! c.example\r", 2, ["a.example", "b.example"]],
    ["localhost", 1, []],
    ["...", 1, []],
  ] as const)
    assert.deepEqual(gauged(text, ["a.example", "b.example", "c.example"]), [entries, found], text);
});
