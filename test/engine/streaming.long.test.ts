import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EngineOptions,
  CompilerError,
  type CompileResult,
  type Config,
  compile,
  memoryHost,
} from "../support/internals.ts";

async function compileFiles(
  config: Omit<Config, "name">,
  files: Record<string, string>,
  options: EngineOptions = {},
): Promise<CompileResult> {
  return await compile({ name: "n", ...config }, { host: memoryHost({ files }), ...options });
}

function rulesOf({ bytes }: CompileResult): string[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("!"));
}

test("duplicates are found while the arena grows", async () => {
  const half = Array.from({ length: 420_000 }, (_, index) => `/${index}`).join("\n");
  const { report } = await compileFiles(
    { sources: [{ source: "a" }], transformations: ["Deduplicate"] },
    { a: `${half}\n${half}\n` },
    { limits: { chunks: 1e9, pages: 0, pageBytes: 4096, partitions: 256 } },
  );
  assert.equal(report.rules, 420_000);
});

test("long lines of letters are compared correctly", async () => {
  const long = "a".repeat(70_000);
  const less = "b".repeat(5000);
  const result = await compileFiles(
    { sources: [{ source: "a" }, { source: "b" }], transformations: ["Deduplicate"] },
    {
      a: `${long}\nx.example\n||${long}^\n${less}\n`,
      b: `${long}\nя${long}\n||${long}^\n${less}\n`,
    },
  );
  assert.deepEqual(
    rulesOf(result).map((line) => line.length),
    [9, 70_000, 70_001, 70_003, 5000],
  );
});

/** Bytes of all chunks, for each byte that was read. */
function copiesOf({ rules, report }: CompileResult): number {
  const held = rules.pool.chunks.reduce((sum, { byteCount }) => sum + byteCount, 0);
  return held / report.sources.reduce((sum, { bytes }) => sum + bytes, 0);
}

test("endless blank lines and endless names take constant memory", async () => {
  const blank = await compileFiles(
    { sources: [{ source: "a" }], transformations: ["Compress"] },
    { a: `a.example\n${"\n".repeat(6_000_000)}b.example\n` },
  );
  assert.equal(blank.report.lines, 6_000_002);
  assert.deepEqual(rulesOf(blank), ["||a.example^", "||b.example^"]);
  assert.ok(copiesOf(blank) < 1.1, `${copiesOf(blank)}`);
  for (const separator of [" ", "\t", "\u00a0"]) {
    const names = Array.from({ length: 200_000 }, (_, index) => `n${index}.example`);
    const many = await compileFiles(
      { sources: [{ source: "a" }], transformations: ["Compress"] },
      { a: `0.0.0.0 ${names.join(separator)}\nlast.example` },
    );
    assert.equal(many.report.rules, 200_001);
    assert.equal(many.report.lines, 2);
    // The line itself, and the names that stand in the chunks after its own.
    assert.ok(copiesOf(many) < 2.1, `${copiesOf(many)}`);
    assert.ok(many.rules.pool.chunks.length < 20);
  }
});

test("a file of entries may have any number of blank lines", async () => {
  const result = await compileFiles(
    { sources: [{ source: "a" }], exclusions_sources: ["e"] },
    { a: "a.example\nb.example", e: `${"\n".repeat(12_000_000)}a.example\n` },
  );
  assert.deepEqual(rulesOf(result), ["b.example"]);
});

test("an exclusion matches a name that Deduplicate wrote out", async () => {
  const result = await compileFiles(
    {
      sources: [{ source: "a", type: "hosts", transformations: ["Compress", "Deduplicate"] }],
      exclusions: ["||bad.example^"],
    },
    { a: "0.0.0.0 ok_.example\n0.0.0.0 AAAAAAAABAD.EXAMPLE\n" },
  );
  assert.deepEqual(rulesOf(result), ["||ok_.example^", "||aaaaaaaabad.example^"]);
});

async function messagesOf(run: Promise<unknown>): Promise<string[]> {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompilerError);
  return error.diagnostics.map(({ message, at }) => `${at?.file}:${at?.line} ${message}`);
}

test("locations are correct in a source that is only read to find further problems", async () => {
  const messages = await messagesOf(
    compileFiles(
      { sources: [{ source: "missing" }, { source: "b" }] },
      { b: "a\nb\r\nc\n!#include gone.txt\n" },
    ),
  );
  assert.match(messages[1]!, /^b:4 /);
});

test("directives of a list are escaped before they are printed", async () => {
  const includes = Array.from({ length: 4095 }, (_, index) => `!#include i${index}`).join("\n");
  const files = Object.fromEntries(
    Array.from({ length: 4095 }, (_, index) => [`i${index}`, "x.example\n"]),
  );
  const messages = await messagesOf(
    compileFiles(
      { sources: [{ source: "a" }] },
      { ...files, a: `${includes}\n!#include \u001b]0;owned\u0007x\n` },
    ),
  );
  assert.ok(messages.every((message) => !message.includes("\u001b")));
});
