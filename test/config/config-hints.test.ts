import assert from "node:assert/strict";
import { test } from "node:test";
import { CompilerError, loadConfig, memoryHost } from "../support/internals.ts";

/** Positions, messages and hints of the problems of a configuration. */
async function problemsOf(text: string): Promise<string[]> {
  const error = await loadConfig("c.yaml", memoryHost({ files: { "c.yaml": text } })).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompilerError, String(error));
  return error.diagnostics.map(
    ({ message, hint, at }) => `${at?.line}:${at?.column} ${message}. ${hint}`,
  );
}

const SOURCES = "sources: [{ source: a.txt, name: a, type: hosts }]\n";

test("a hint says what to write in place of a wrong value", async () => {
  const invalid = "Invalid configuration:";
  for (const [text, hint] of [
    [
      "name: n\nsources: [{ source: a.txt, name: a, type: hosts, required: yes }]\n",
      `2:60 ${invalid} sources[0].required must be true or false. Write true or false`,
    ],
    [
      'name: n\nsources: [{ source: a.txt, name: a, type: hosts, required: "true" }]\n',
      `2:60 ${invalid} sources[0].required must be true or false. Write it without quotes`,
    ],
    [
      `name: n\n${SOURCES}guards: { max_shrink: 200% }\n`,
      `3:23 ${invalid} guards.max_shrink must be a number from 0 on. Write a number, such as 30`,
    ],
    [
      `name: n\n${SOURCES}guards: { max_shrink: "20" }\n`,
      `3:23 ${invalid} guards.max_shrink must be a number from 0 on. Write it without quotes`,
    ],
    [`name:\n${SOURCES}`, `1:6 ${invalid} name must be a string, not null. Give it a string`],
    [`name: 5\n${SOURCES}`, `1:7 ${invalid} name must be a string, not 5. Put it in quotes`],
  ] as const)
    assert.deepEqual(await problemsOf(text), [hint]);
});

test("an error of indentation names the line and says what to do", async () => {
  const hint = "Indent all keys and all dashes of one level by the same number of blanks";
  const deeper = "this line is indented more than the one that it belongs with";
  const start = "Failed to parse configuration:";
  for (const [text, place, message] of [
    ["name: n\n  sources:\n    - source: a\n", "2:9", deeper],
    ["name: n\nsources:\n  - source: a\n    name: x\n     type: hosts\n", "5:9", deeper],
    [
      "name: n\nsources:\n  - source: a\n  name: b\n",
      "4:1",
      "All mapping items must start at the same column",
    ],
    ["name: n\n\tsources: b\n", "2:1", "Tabs are not allowed as indentation"],
  ] as const)
    assert.deepEqual(await problemsOf(text), [`${place} ${start} ${message}. ${hint}`]);
  const entry = "  - name: More\n    source: https://lists.example/more.txt\n";
  for (const last of ["allow: []", "transformations: recommended", "guards:\n  max_shrink: 3"])
    assert.match(
      (await problemsOf(`name: n\n${SOURCES}${last}\n${entry}`)).join(),
      /:3 .*: this entry does not belong to the key above it\. Move it .*such as sources,/,
    );
  assert.deepEqual(await problemsOf("name: a: b\n"), [
    `1:7 ${start} Nested mappings are not allowed in compact mappings. Quote a string that contains ": "`,
  ]);
});
