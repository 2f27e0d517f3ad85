import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withFigures, withHeadline, withInlineFigures } from "../../scripts/figures.ts";

const root = join(import.meta.dirname, "../..");

/** Pages that a reader sees, and what stands in them. */
function pages(): (readonly [file: string, text: string])[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file));
  return ["README.md", ...docs].map((file) => [file, readFileSync(join(root, file), "utf8")]);
}

test("no page shows more digits than a measurement has", () => {
  const wrong = pages().flatMap(([file, text]) =>
    [...text.matchAll(/\b\d+\.\d{5,}\b/g)].map(([figure]) => `${file}: ${figure}`),
  );
  assert.deepEqual(wrong, []);
});

test("pages show the figures of the benchmark results, with their date", () => {
  for (const [file, text] of pages()) {
    const made = [withHeadline, withFigures, withInlineFigures].reduce(
      (page, change) => change(page),
      text,
    );
    assert.equal(text, made, file);
  }
  const changed = "takes <!-- figure limits:large.lines lines -->5 lines<!-- /figure -->";
  assert.notEqual(withInlineFigures(changed), changed);
  for (const file of ["README.md", "docs/index.md", "docs/guide/evidence.md"])
    assert.match(
      readFileSync(join(root, file), "utf8"),
      / s of CPU time; .* \(20\d\d-\d\d-\d\d\)/,
      file,
    );
});

/** What a sentence about a measurement says, and a figure with a unit of time or size. */
const MEASUREMENT = /\b(?:takes?|took|faster|slower|measured|needs?|memory|CPU|peak)\b/;
const FIGURE = /(?<![\w.`])\d[\d.,]* ?(?:s|ms|seconds|minutes|kB|MB|GB)\b/;
/** Sentences with both that are about a limit, a setting or an example. */
const NO_MEASUREMENTS: readonly RegExp[] = [
  /mirrors|A connection may take|`--wait`|`--memory` (?:below|up to)/,
  // A limit, which the suite of the report checks.
  /less than 5 MB for a million rules/,
];

test("no page has a figure of its own: each comes from a results file", () => {
  const wrong = pages().flatMap(([file, text]) => {
    // Decisions are dated; references are made from the code.
    // Scale says beside each figure how it was measured.
    if (/^docs\/(?:decisions|reference)\/|^docs\/guide\/scale\.md$/.test(file)) return [];
    const prose = text
      .replace(/```[^]*?```/g, "")
      .replace(/<svg[^]*?<\/svg>/g, "")
      .replace(
        /<!-- (headline|figures|figure|comparison|reliability|switches)\b[^]*?<!-- \/\1 -->/g,
        "",
      )
      .replace(/details: .* # headline$/m, "");
    return prose
      .split(/(?<=[.;|])\s+|\n\n/)
      .filter((sentence) => MEASUREMENT.test(sentence) && FIGURE.test(sentence))
      .map((sentence) => `${file}: ${sentence.replaceAll(/\s+/g, " ").trim()}`)
      .filter((found) => !NO_MEASUREMENTS.some((pattern) => pattern.test(found)));
  });
  assert.deepEqual(wrong, []);
});

test("package.json has the address of the project", () => {
  const { repository, homepage, bugs } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as { repository: { url: string }; homepage: string; bugs: string };
  for (const address of [repository.url, homepage, bugs])
    assert.match(address, /https:\/\/github\.com\/rules-compiler\/rules-compiler/);
});
