import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { CompilerError, loadConfig, memoryHost } from "../support/internals.ts";

const MESSAGE =
  /^(?:Invalid JSON|Invalid configuration|Failed to parse configuration|Configuration file not found|name is required|sources is required)/;

function aliasBomb(levels: number): string {
  let text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (let level = 1; level < levels; level++)
    text += `a${level}: &a${level} [${Array(9)
      .fill(`*a${level - 1}`)
      .join(", ")}]\n`;
  return `${text}name: n\nsources: *a${levels - 1}\n`;
}

const DEEP = 100_000;
const BOMBS: Readonly<Record<string, string>> = {
  "alias.yaml": aliasBomb(12),
  "self.yaml": "name: n\nsources: &a [*a]\n",
  "missing-anchor.yaml": "name: n\nsources: *nowhere\n",
  "merge.yaml": "base: &b {name: n}\n<<: *b\nsources: 1\n",
  "deep-flow.yaml": `name: ${"[".repeat(DEEP)}`,
  "deep-block.yaml": Array.from({ length: 3000 }, (_, depth) => `${" ".repeat(depth)}a:`).join(
    "\n",
  ),
  "deep-sequence.yaml": `name: n\nsources:\n  ${"- ".repeat(5000)}x`,
  "duplicate.yaml": "name: a\nname: b\nsources: []\n",
  "tag.yaml": "name: !!js/function 'x'\nsources: 1\n",
  "proto.yaml": "__proto__: {name: n, sources: [{source: a}]}\n",
  "deep.json": "[".repeat(DEEP),
  "deep-object.json": '{"a":'.repeat(DEEP),
  "deep-closed.json": `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`,
  "duplicate.json": '{"name":"a","name":"b","sources":[{"source":"s"}]}',
  "duplicate-proto.json": '{"__proto__":{"name":"n","sources":[{"source":"s"}]}}',
  "constructor.json": '{"constructor":{"prototype":{"name":"n"}}}',
  "trailing-comma.json": '{"name":"a",}',
  "unquoted.json": "{name: 1}",
  "single-quotes.json": "{'name': 'a'}",
  "missing-colon.json": '{"name" "a"}',
  "comment.json": '{"name":"a" /* c */}',
  "two-values.json": '{"name":"a"} {}',
  "cut.json": '{"name":"a","sources":[{"source":"s"',
  "empty.json": "",
  "blank.json": " \n ",
  "null.json": "null",
  "number.json": "1",
  "array.json": "[]",
  "text.json": '"name"',
  "bad-escape.json": '{"name":"\\x"}',
  "control.json": '{"name":"a\u0001b"}',
  "big.json": `{"name":"${"x".repeat(2_000_000)}"}`,
  "wide.json": `{"sources":[${"1,".repeat(300_000)}1]}`,
  "many-keys.json": `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
  "deep.jsonc": `/* c */ ${"[".repeat(DEEP)}`,
  "unclosed-comment.jsonc": '{"name":"a"} /*',
  "empty.yaml": "",
  "only-comment.yaml": "# nothing\n",
  "tab.yaml": "name: a\n\tsources: b\n",
  "two-documents.yaml": "name: a\n---\nname: b\n",
  "no-extension": '{"name":"a"}',
  "wrong.txt": '{"name":"a"}',
  "yaml-in.json": "name: a\nsources: []\n",
};

for (const [file, text] of Object.entries(BOMBS)) {
  test(`${file} is rejected within a second with the specified message`, async () => {
    const before = process.cpuUsage();
    const error = await loadConfig(file, memoryHost({ files: { [file]: text } })).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    // Time of the processor: other tests run at the same time.
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${(user + system) / 1000} ms`);
    assert.ok(error instanceof CompilerError, String(error));
    const first = error.diagnostics.find(({ severity }) => severity === "error");
    assert.match(first!.message, MESSAGE);
    assert.equal(error.exit, 2);
    assert.equal(({} as { name?: string }).name, undefined);
  });
}

test("small anchors work", async () => {
  const text =
    "name: n\nsources:\n  - {source: a, name: a, type: hosts, transformations: &t [Compress]}\n  - {source: b, name: b, type: hosts, transformations: *t}\n";
  const { config } = await loadConfig("c.yaml", memoryHost({ files: { "c.yaml": text } }));
  assert.deepEqual([...config.sources[1]!.transformations!], ["Compress"]);
});

test("all problems are reported at once, each with its location", async () => {
  const text =
    '{\n  "nam": "x",\n  "sources": [\n    { "source": 1, "typ": "hosts" },\n    { "source": "a", "type": "host", "transformations": ["dedupe", "Compress"] }\n  ]\n}\n';
  const error = await loadConfig("c.json", memoryHost({ files: { "c.json": text } })).catch(
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompilerError);
  const found = error.diagnostics.map(
    ({ code, at, hint }) => `${code} ${at?.line}:${at?.column} ${hint}`,
  );
  assert.deepEqual(found, [
    'config-required 2:3 Rename "nam" to "name"',
    'unknown-key 4:20 Did you mean "type"?',
    "config-invalid 4:17 Put it in quotes",
    'config-invalid 5:30 Did you mean "hosts"?',
    "unknown-transformation 5:58 Known names: ConvertToAscii, TrimLines, RemoveComments, RemoveModifiers, Compress, InvertAllow, Validate, ValidateAllowIp, ValidateAllowPublicSuffix, ValidateAllowIpAndPublicSuffix, Deduplicate, RemoveEmptyLines, InsertFinalNewLine",
    "source-incomplete 4:5 Without a name, the URL or file is the label. Without a type, a source is read as adblock",
  ]);
});
