import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/** hunspell reads every page. `test/fixtures/words.txt` has the terms that its dictionaries lack, sorted, one per line. */
const ROOT = join(import.meta.dirname, "../..");
const WORDS = join(ROOT, "test/fixtures/words.txt");

function pages(): string[] {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  const top = readdirSync(ROOT);
  return [...docs.map((file) => join("docs", file)), ...top].filter(
    // Made from the comments of types, with their names.
    (file) => file.endsWith(".md") && !/reference.(?:library|documents)\.md$/.test(file),
  );
}

/** The prose of a page: without code, links and comments. */
function proseOf(markdown: string): string {
  return markdown
    .replaceAll(/^(`{3,})[^]*?^\1\s*$/gm, " ")
    .replaceAll(/<!--[^]*?-->|<[^>\n]*>/g, " ")
    .replaceAll(/`[^`\n]*`/g, " ")
    .replaceAll(/\]\([^)]*\)/g, "] ")
    .replaceAll(/https?:\/\/\S+/g, " ")
    .replaceAll(/[\w.-]+@[\w.-]+/g, " ");
}

function misspelt(text: string): string[] {
  const { status, stdout, stderr } = spawnSync(
    "hunspell",
    ["-l", "-d", "en_US,en_GB", "-i", "utf-8"],
    {
      input: text,
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stderr);
  return [...new Set(stdout.split("\n").filter((word) => word !== ""))];
}

const known = readFileSync(WORDS, "utf8").trim().split("\n");

test("the checker finds a misspelt word", () => {
  assert.deepEqual(misspelt("The lists are recieved and published."), ["recieved"]);
});

test("no page has a misspelt word", () => {
  const terms = new Set(known);
  const found = pages().flatMap((page) =>
    misspelt(proseOf(readFileSync(join(ROOT, page), "utf8")))
      .filter((word) => !terms.has(word))
      .map((word) => `${page}: ${word}`),
  );
  assert.deepEqual(found, []);
});

test("the list of terms is sorted, and has no term that no page uses", () => {
  assert.deepEqual(known, known.toSorted());
  const used = new Set(
    misspelt(
      pages()
        .map((page) => proseOf(readFileSync(join(ROOT, page), "utf8")))
        .join("\n"),
    ),
  );
  assert.deepEqual(
    known.filter((word) => !used.has(word)),
    [],
  );
});
