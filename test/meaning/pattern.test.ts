import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { readRule } from "../../src/meaning/rule.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";
import { propertyRuns } from "../support/property.ts";

const LABELS = ["a", "ads", "com"];
const SEPARATORS = ["|", "||", "^", "*", ".", "/", "//", ":"];

const name = fc
  .array(fc.constantFrom(...LABELS), { minLength: 2, maxLength: 3 })
  .map((labels) => labels.join("."));

/** Longer than those of agreement/pattern-spellings, which has every pattern of up to four parts. */
const anyPattern = fc
  .array(fc.oneof(fc.constantFrom(...SEPARATORS), fc.constantFrom(...LABELS), name), {
    minLength: 1,
    maxLength: 9,
  })
  .map((parts) => parts.join(""));

/** A name with wildcards in it, between anchors. */
const likelyPattern = fc
  .tuple(
    fc.constantFrom("", "|", "||", "*", "||*", "||*.", "//", "://"),
    name,
    fc.array(fc.nat(12), { maxLength: 2 }),
    fc.constantFrom("^", "^|", "|", "*", "^*", "/"),
  )
  .map(([start, text, stars, end]) => {
    const letters = [...text].map((letter, at) => (stars.includes(at) ? "*" : letter));
    return start + letters.join("") + end;
  });

const pattern = fc
  .oneof(anyPattern, likelyPattern)
  // Without an anchor or separator, the text is a plain name and not a pattern.
  .filter((text) => /[|^*:/]/.test(text));

test("a pattern of any length matches the names that the reference matcher matches", () => {
  let matched = 0;
  fc.assert(
    fc.property(pattern, fc.array(name, { minLength: 1, maxLength: 5 }), (text, names) => {
      const rule = readRule(text);
      const reference = new ListMatcher([text]);
      for (const one of names) {
        const expected = reference.decide(one).meaning === "blocked";
        assert.equal(rule?.matches(one) ?? false, expected, `${text} for ${one}`);
        if (expected) matched++;
      }
    }),
    propertyRuns(3000),
  );
  assert.ok(matched > 300, `${matched} matches`);
});
