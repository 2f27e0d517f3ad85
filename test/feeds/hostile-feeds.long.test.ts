import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { FeedError, type FeedSettings } from "../../src/feeds/feed.ts";
import { feedFormats } from "../../src/feeds/registry.ts";
import { isNightly } from "../support/nightly.ts";
import { propertyRuns } from "../support/property.ts";
import { SAFE_LINE, readFeed } from "../support/read-feed.ts";

const folder = join(import.meta.dirname, "../fixtures/feeds");
const fixtures = readdirSync(folder).map((file) => readFileSync(join(folder, file)));

/** Bytes with a meaning in some feed, and some that break text. */
const MARKS = Array.from("\",;\n\r\t #[]{}:\\/*.@%?='|()", (sign) => [...Buffer.from(sign)]);
const PIECES = fc.oneof(
  fc.constantFrom(...MARKS),
  fc.constantFrom(
    [0],
    [0xff],
    [0xc3],
    [0xef, 0xbb, 0xbf],
    [...Buffer.from("\u202e")],
    [...Buffer.from('\\u0000\\ud800"')],
    [...Buffer.from("\n||evil.example^$important\n")],
    [...Buffer.from("\n!#include /etc/passwd\n")],
    [...Buffer.from("http://@@evil.example/")],
  ),
  fc.array(fc.nat(255), { maxLength: 6 }),
);

interface Mutation {
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly number[];
}

const mutations = fc.array(fc.record({ at: fc.nat(10_000), remove: fc.nat(12), insert: PIECES }), {
  minLength: 1,
  maxLength: 8,
});

function mutated(bytes: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  const all = [...bytes];
  for (const { at, remove, insert } of changes)
    all.splice(at % (all.length + 1), remove, ...insert);
  return Uint8Array.from(all);
}

/** Fixtures with any bytes changed, or with strange text in their values, which keeps JSON valid. */
const texts = fc.oneof(
  fc.tuple(fc.constantFrom(...fixtures), mutations).map(([bytes, some]) => mutated(bytes, some)),
  fc
    .tuple(fc.constantFrom(...fixtures), fc.string({ unit: "binary", maxLength: 9 }))
    .map(([bytes, strange]) =>
      Buffer.from(bytes.toString().replaceAll("example", JSON.stringify(strange).slice(1, -1))),
    ),
);

function outcome(bytes: Uint8Array, settings: FeedSettings, sizes: readonly number[]): string[] {
  try {
    return readFeed(bytes, settings, sizes);
  } catch (error) {
    if (error instanceof FeedError) return ["refused"];
    throw error;
  }
}

const SETTINGS: Readonly<Record<string, Partial<FeedSettings>>> = {
  csv: { column: "2", where: { 1: "1" } },
  json: { path: "/*/*" },
  ndjson: { path: "/*" },
};

for (const type of feedFormats.keys())
  test(`${type}: no mutation crashes the reader or gets past the grammar of names`, () => {
    const settings = { type, ...SETTINGS[type] };
    let good = 0;
    fc.assert(
      fc.property(
        texts,
        fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
        (text, sizes) => {
          const whole = outcome(text, settings, [text.length]);
          for (const line of whole) assert.match(line, line === "refused" ? /./ : SAFE_LINE);
          if (whole[0] !== "refused" && whole.length > 0) good++;
          // Where the bytes are cut makes no difference.
          assert.deepEqual(outcome(text, settings, sizes), whole);
        },
      ),
      { ...propertyRuns(500), numRuns: isNightly ? 10_000 : 150 },
    );
    assert.ok(good > 3, `${good} were read`);
  });
