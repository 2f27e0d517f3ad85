import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { blocksOf } from "../support/markdown.ts";

/** Every example of the library guide is type-checked and run, on every runtime that `TEST_RUNTIMES` names. */
const root = join(import.meta.dirname, "../..");
const blocks = blocksOf(readFileSync(join(root, "docs/guide/library.md"), "utf8"));
const examples = blocks.flatMap(({ language, title, text }, index) =>
  language === "ts" ? [{ file: title!, text, output: blocks[index + 1]!.text }] : [],
);
const runtimes = (process.env["TEST_RUNTIMES"] ?? process.execPath).trim().split("\n");
const folder = mkdtempSync(join(tmpdir(), "library-guide-"));

function run(command: string, ...words: string[]): string {
  const [program = "", ...first] = command.split(" ");
  try {
    return execFileSync(program, [...first, ...words], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return assert.fail(`${command} ${words.join(" ")}\n${stdout}${stderr}`);
  }
}

before(() => {
  const made = join(folder, "node_modules/rules-compiler");
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  mkdirSync(made);
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  for (const name of ["dist", "package.json", "node_modules"])
    symlinkSync(join(root, name), join(made, name));
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  for (const { title, text } of blocks)
    if (title !== undefined && title !== "output") writeFileSync(join(folder, title), text);
});
after(() => rmSync(folder, { recursive: true }));

test("the examples of the library guide pass tsc --strict", { timeout: 300_000 }, () => {
  assert.ok(examples.length >= 5);
  const strict = ["--strict", "--noEmit", "--skipLibCheck", "false", "--module", "nodenext"];
  const library = ["--target", "es2024", "--lib", "es2024", "--types", "node"];
  const files = examples.map(({ file }) => file);
  run(
    process.execPath,
    join(root, "node_modules/typescript/bin/tsc"),
    ...strict,
    ...library,
    ...files,
  );
});

for (const runtime of runtimes)
  test(`the examples of the library guide run as printed: ${runtime.split("/").at(-1)}`, () => {
    for (const one of ["published", "rules"])
      rmSync(join(folder, one), { recursive: true, force: true });
    for (const { file, output } of examples)
      assert.equal(run(runtime, file).replace(/[ \t]+$/gm, ""), output, file);
  });
