import assert from "node:assert/strict";
import { test } from "node:test";
import { readRule } from "../../src/meaning/rule.ts";
import { ListMatcher } from "../support/reference/list-matcher.ts";

const PIECES = ["|", "||", ":", "/", "//", "^", "*", "http", "https", "x.com", "om", "."];
const NAMES = ["x.com", "a.x.com", "x.com.net"];

/** All texts of one to four pieces. */
function spellings(): Set<string> {
  let longest = [""];
  const all = new Set<string>();
  for (let length = 1; length <= 4; length++) {
    longest = longest.flatMap((start) => PIECES.map((piece) => start + piece));
    for (const text of longest) all.add(text);
  }
  return all;
}

test("every spelling of a pattern matches the names that the reference matcher matches", () => {
  const differing: string[] = [];
  for (const text of spellings()) {
    // What has neither anchors nor separators is a plain name, not a rule.
    if (!/[|^*:/]/.test(text)) continue;
    const rule = readRule(text);
    const judge = new ListMatcher([text]);
    for (const name of NAMES)
      if ((rule?.matches(name) ?? false) !== (judge.decide(name).meaning === "blocked"))
        differing.push(`${text} for ${name}`);
  }
  assert.deepEqual(differing, []);
});
