import assert from "node:assert/strict";
import { test } from "node:test";
import { conflict, licenceIn, termsOf } from "../../src/features/licences.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";

const HEADERS: readonly (readonly [lines: string, licence: string | undefined, id?: string])[] = [
  ["! Title: A\n! License: MIT", "MIT", "MIT"],
  [
    "# Licence : Creative Commons by-nc (http://creativecommons.org/licenses/by-nc/3.0/)",
    "Creative Commons by-nc (http://creativecommons.org/licenses/by-nc/3.0/)",
    "CC-BY-NC-3.0",
  ],
  [
    "# License:\n# CC Attribution 3.0 (http://creativecommons.org/licenses/by/3.0/)",
    "CC Attribution 3.0 (http://creativecommons.org/licenses/by/3.0/)",
    "CC-BY-3.0",
  ],
  [
    "# License: CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/)",
    "CC BY-SA 4.0 (https://creativecommons.org/licenses/by-sa/4.0/)",
    "CC-BY-SA-4.0",
  ],
  [
    "# This work is licensed under the Creative Commons         #\n# Attribution-NonCommercial-ShareAlike License.            #",
    "Creative Commons Attribution-NonCommercial-ShareAlike License.",
    "CC-BY-NC-SA",
  ],
  [
    '# Licensed under the Apache License, Version 2.0 (the "License");',
    'Apache License, Version 2.0 (the "License")',
    "Apache-2.0",
  ],
  ["! Lisens / Licence: https://example.org/LICENSE.md", "https://example.org/LICENSE.md"],
  [
    "#  |Licence: Dandelicence,\n#  | https://example.org/D.md",
    "Dandelicence https://example.org/D.md",
  ],
  ["# License: not specified", undefined],
  ["! License: GNU General Public License v3.0", "GNU General Public License v3.0", "GPL-3.0"],
  ["! Licence: CC0 1.0 Universal", "CC0 1.0 Universal", "CC0-1.0"],
  ["! License: CC BY-ND 4.0", "CC BY-ND 4.0", "CC-BY-ND-4.0"],
  ["! Copyright 2026 A", undefined],
  ["||licence.example^", undefined],
];

test("the licence of a header is found in the forms of real lists", () => {
  for (const [text, licence, id] of HEADERS) {
    const comments = text.split("\n").filter((line) => /^[!#;]/.test(line));
    assert.equal(licenceIn(comments), licence, text);
    assert.equal(termsOf(licence ?? "")?.id, id, text);
  }
});

test("what a licence forbids and the licence of the list grants is a conflict", () => {
  const rows: readonly (readonly [source: string, list: string, conflict: string | undefined])[] = [
    ["MIT", "GPL-3.0", undefined],
    ["CC BY 4.0", "MIT", undefined],
    ["CC BY-NC 4.0", "MIT", "commercial use"],
    ["CC BY-NC 4.0", "CC BY-NC-SA 4.0", undefined],
    ["CC BY-ND 4.0", "CC BY 4.0", "changed versions"],
    ["CC BY-SA 4.0", "MIT", "another licence for a changed version"],
    ["CC BY-SA 4.0", "CC BY-SA 4.0", undefined],
    ["CC BY-SA 4.0", "GPL-3.0", undefined],
    ["CC BY-NC-SA 4.0", "CC BY-SA 4.0", "commercial use"],
    ["GPL-3.0", "MIT", "another licence for a changed version"],
    ["GPL-3.0", "AGPL-3.0", undefined],
    ["LGPL-3.0", "GPL-3.0", undefined],
    ["AGPL-3.0", "GPL-3.0", "another licence for a changed version"],
    ["Unlicense", "MIT", undefined],
  ];
  for (const [source, list, expected] of rows)
    assert.equal(conflict(termsOf(source)!, termsOf(list)!), expected, `${source} in ${list}`);
});

const URL = "https://lists.example/a.txt";

function project(more: object = {}): MemoryProject {
  const sources = [{ source: URL, name: "Far" }, { source: "own/secret.txt" }];
  const config = { name: "N", license: "MIT", sources, notice: "{slug}.notice.txt", ...more };
  const files = { "c.json": JSON.stringify(config), "own/secret.txt": "||own.example^\n" };
  const text = "! License: CC BY-NC-SA 4.0\n||ads.example^\n";
  return new MemoryProject(files, webOf({ [URL]: text }));
}

test("a conflict is reported once, and the notice names sources, URLs and licences", async () => {
  const made = project({ manifest: {} });
  const first = await made.run("-c", "c.json");
  assert.equal(first.exit, 0, first.stderr);
  assert.match(
    first.stderr,
    /licence-conflict\]: CC-BY-NC-SA-4\.0, the licence of Far, forbids commercial use; MIT, the licence of the list, allows it/,
  );
  const notice = made.text("rules/n.notice.txt");
  assert.equal(
    notice,
    `N is compiled from these sources. Each keeps its own licence.\n\nFar\n  ${URL}\n  Licence: CC BY-NC-SA 4.0\n\nown/secret.txt\n  Licence: not stated\n`,
  );
  assert.match(made.text("rules/manifest.json"), /"n\.notice\.txt"/);
  const again = await made.run("-c", "c.json", "-q");
  assert.equal(again.stderr, "");
  assert.equal(made.text("rules/n.notice.txt"), notice);
});

test("a list that grants no more than its sources, or nothing, has no conflict", async () => {
  for (const license of ["CC BY-NC-SA 4.0", "my own words", undefined]) {
    const { stderr } = await project({ license }).run("-c", "c.json");
    assert.doesNotMatch(stderr, /licence-conflict/, license);
  }
});

test("apply writes the notice, too", async () => {
  const made = project();
  const plan = await made.run("plan", "-c", "c.json", "--cache-dir", "cache", "--save", "p.plan");
  assert.equal(plan.exit, 0, plan.stderr);
  const applied = await made.run("apply", "-c", "c.json", "p.plan");
  assert.equal(applied.exit, 0, applied.stderr);
  assert.match(made.text("rules/n.notice.txt"), /Licence: CC BY-NC-SA 4\.0/);
});
