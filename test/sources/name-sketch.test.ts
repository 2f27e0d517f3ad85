import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SKETCH_SIZE,
  SketchMaker,
  SourceGauge,
  overlapOf,
  readSketch,
  sketchText,
} from "../../src/sources/names-of-source.ts";
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

test("two sketches estimate the overlap of two sets, in both directions", () => {
  const random = new Random(5);
  for (let round = 0; round < 40; round++) {
    const [first, second] = [50 + random.below(20_000), 50 + random.below(20_000)];
    const start = random.below(first + 1);
    const common = Math.max(0, Math.min(first, start + second) - start);
    const one = sketchOf(names(0, first), round);
    const other = sketchOf(names(start, second), round);
    const { kept, known } = overlapOf(one, other);
    // The more the sizes differ, the fewer names of the smaller one are in the sample.
    const slack = 0.13 * Math.sqrt(Math.min(30, Math.max(first / second, second / first)));
    assert.ok(Math.abs(kept - common / first) < slack, `${kept} for ${common / first}`);
    assert.ok(Math.abs(known - common / second) < slack, `${known} for ${common / second}`);
    assert.deepEqual(overlapOf(other, one), { kept: known, known: kept });
  }
});

test("small sets are compared exactly", () => {
  const one = sketchOf(names(0, 300));
  assert.deepEqual(overlapOf(one, sketchOf(names(200, 400))), { kept: 1 / 3, known: 1 / 4 });
  assert.deepEqual(overlapOf(one, one), { kept: 1, known: 1 });
  assert.deepEqual(overlapOf(one, []), { kept: 0, known: 1 });
});

test("a sketch can be written as text and read again, unless it is damaged", () => {
  for (const count of [0, 1, 300, 3000]) {
    const sketch = sketchOf(names(0, count));
    assert.deepEqual(readSketch(sketchText(sketch)), sketch);
  }
  const text = sketchText([1, 2, 4_294_967_295]);
  for (const damaged of [undefined, 5, "?", text.slice(0, 5), text.slice(0, 4), sketchText([2, 1])])
    assert.equal(readSketch(damaged), undefined);
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
  assert.ok(overlapOf(one, other).kept < 0.05);
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
