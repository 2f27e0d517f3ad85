import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { anchorOf } from "../../scripts/anchor.ts";
import { menu } from "../../site/.vitepress/menu.ts";

const root = join(import.meta.dirname, "../..");
const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CODE_OF_CONDUCT.md",
  "RELEASING.md",
  "CHANGELOG.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];

/** Anchors of a page, as GitHub makes them of its headings: the second of the same text ends in `-1`. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading] of text.matchAll(/^#+ (.+)$/gm)) {
    const base = anchorOf(heading!);
    let anchor = base;
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${base}-${copy}`;
    anchors.add(anchor);
  }
  return anchors;
}

test("every link between pages has a target", () => {
  let checked = 0;
  for (const page of pages) {
    const text = readFileSync(join(root, page), "utf8").replaceAll(/```[^]*?```|`[^`\n]*`/g, "");
    for (const { groups } of text.matchAll(/(?:\]\(|<a href=")(?<target>[^)\s"]+)[")]/g)) {
      const target = groups!["target"]!;
      if (/^[a-z]+:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? join(root, page) : join(root, dirname(page), path);
      assert.ok(existsSync(file), `${page}: ${target}`);
      if (anchor !== undefined)
        assert.ok(anchorsOf(readFileSync(file, "utf8")).has(anchor), `${page}: ${target}`);
      checked++;
    }
  }
  assert.ok(checked > 50, String(checked));
});

test("the menu has at most 25 pages, and every other page is linked from one of them", () => {
  const linked = menu.flatMap(({ items }) => items.map(({ link }) => link));
  assert.ok(linked.length <= 25, `${linked.length} pages`);
  const shown = linked.map((link) => `docs${link.replace(/\/$/, "/index")}.md`);
  for (const page of shown) assert.ok(existsSync(join(root, page)), page);
  const first = ["docs/index.md", ...shown];
  const reached = new Set(first);
  for (const page of first)
    for (const [, target] of readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)#\s]+\.md)/g))
      reached.add(join(dirname(page), target!));
  const lost = pages.filter((page) => /^docs.(?!decisions)/.test(page) && !reached.has(page));
  assert.deepEqual(lost, []);
});
