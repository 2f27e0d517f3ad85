import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { commands } from "../src/cli/commands/registry.ts";
import { CODES } from "../src/diagnostics/codes.ts";
import { FATES, Fate } from "../src/rules/fate.ts";

const root = join(import.meta.dirname, "..");
const pages = [
  ...readdirSync(root).filter((file) => file.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];

test("every code has a section in the reference and every section a code", () => {
  const page = readFileSync(join(root, "docs/reference/errors.md"), "utf8");
  const sections = [...page.matchAll(/^## (.+)$/gm)].map((match) => match[1]!);
  assert.deepEqual(sections, Object.keys(CODES).toSorted());
});

test("every code is used in the source", () => {
  const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("codes.ts"))
    .map((file) => readFileSync(join(root, "src", file), "utf8"))
    .join("\n");
  for (const code of Object.keys(CODES)) assert.ok(source.includes(`"${code}"`), code);
});

test("fate names and numbers agree", () => {
  assert.equal(FATES.length, Object.keys(Fate).length);
  for (const [name, number] of Object.entries(Fate))
    assert.equal(FATES[number][0], name.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase());
});

test("links between pages point to existing files", () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8").replace(/```[^]*?```/g, "");
    for (const [, target] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g))
      assert.ok(existsSync(join(root, dirname(page), target!)), `${page}: ${target}`);
  }
});

test("the README is short: 150 lines, and the rest is linked", () => {
  const lines = readFileSync(join(root, "README.md"), "utf8").trimEnd().split("\n");
  assert.ok(lines.length <= 150, `${lines.length} lines`);
});

test("the commands of the README exist", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const known = new Set(commands.map(({ name }) => name));
  const named = [...text.matchAll(/^rules-compiler (?<command>[a-z]+)/gm)];
  assert.ok(named.length >= 4);
  for (const { groups } of named) assert.ok(known.has(groups!["command"]!), groups!["command"]);
});
