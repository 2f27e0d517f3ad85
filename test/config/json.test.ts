import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseJson } from "../../src/config/json.ts";

type Parsed = ReturnType<typeof parseJson>;

function valueOf(node: Parsed): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "array") return node.items.map(valueOf);
  const entries = node.entries.map(({ key, node: value }) => [key, valueOf(value)] as const);
  return Object.fromEntries(entries);
}

/** The value, or the message of the mistake. */
function attempt(parse: () => unknown): { value?: unknown; mistake?: string } {
  try {
    return { value: parse() };
  } catch (error) {
    return { mistake: (error as Error).message };
  }
}

const values = fc.jsonValue({ maxDepth: 5 });
const pieces = fc.constantFrom(
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "u12",
  "1",
  "-",
  ".",
  "e",
  "0",
  "true",
  "null",
  " ",
  "\n",
  "\u0001",
  "\ud800",
  "a",
  "//",
  "/*",
);

test("strict JSON is accepted and read as JSON.parse does, also after random edits", () => {
  fc.assert(
    fc.property(
      values,
      fc.array(fc.tuple(fc.nat(), fc.nat(3), pieces), { maxLength: 2 }),
      fc.constantFrom(undefined, 1, "\t"),
      (value, edits, indent) => {
        let text = JSON.stringify(value, undefined, indent);
        for (const [place, removed, piece] of edits) {
          const at = place % (text.length + 1);
          text = text.slice(0, at) + piece + text.slice(at + removed);
        }
        const ours = attempt(() => valueOf(parseJson(text, false)));
        const theirs = attempt(() => JSON.parse(text) as unknown);
        // JSON.parse takes the last of two equal keys.
        if (ours.mistake?.endsWith("stands twice") === true) return;
        assert.equal(ours.mistake === undefined, theirs.mistake === undefined, text);
        assert.deepEqual(ours.value, theirs.value, text);
      },
    ),
    { numRuns: 5000 },
  );
});

test("comments and space between tokens change nothing in .jsonc, and are refused in .json", () => {
  const between = fc.constantFrom(
    "",
    " ",
    "\n",
    "// }\n",
    "/* , */",
    "/**/",
    "//\r\n",
    "/* \n // */",
  );
  fc.assert(
    fc.property(values, fc.infiniteStream(between), (value, stream) => {
      const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[-\w.+]+|[[\]{},:]/g)!;
      const text = tokens.map((token) => `${stream.next().value}${token}`).join("");
      assert.deepEqual(valueOf(parseJson(text, true)), JSON.parse(JSON.stringify(value)), text);
      if (/\/[/*]/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "")))
        assert.throws(() => parseJson(text, false), /comments/);
    }),
    { numRuns: 1000 },
  );
});

test("each mistake is named at its place", () => {
  for (const [text, message, offset] of [
    ['{"a": 1,}', "a double-quoted key should stand here", 8],
    ["[1,]", "a value should stand here", 3],
    ["[1 2]", "a comma should stand here", 3],
    ['{"a" 1}', "a colon should stand here", 5],
    ['{"a": }', "a value should stand here", 6],
    ["{a: 1}", "a double-quoted key should stand here", 1],
    ["{'a': 1}", "a double-quoted key should stand here", 1],
    ['{"a": 01}', "this is not a number", 6],
    ['{"a": yes}', "a value, a double-quoted string or a bracket should stand here", 6],
    ['{"a": "b', "the string does not end", 6],
    ['{"a": "b\n"}', "the string does not end", 6],
    ['{"a": "\t"}', "this character must be escaped", 7],
    ['{"a": "\\x"}', "this escape is not known", 7],
    ['{"a": "\\u12"}', "this is not a Unicode escape", 7],
    ['{"a": 1, "a": 2}', 'the key "a" stands twice', 9],
    ['{"a": 1', "a closing brace is missing", 7],
    ["[1", "a closing bracket is missing", 2],
    ["[1] 2", "nothing may follow the configuration", 4],
    ["/* x", "the comment does not end", 0],
    ["[1] // x", "comments are allowed in .jsonc only", 4],
    ["", "the file is empty", 0],
  ] as const) {
    const allows = text.startsWith("/*");
    assert.throws(() => parseJson(text, allows), { message, offset }, text);
  }
});
