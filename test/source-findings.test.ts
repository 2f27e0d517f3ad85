import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "./support/memory-project.ts";
import { webOf } from "./support/web-of.ts";

interface Found {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly at?: { readonly file: string; readonly line: number };
}

const CODES = new Set(["own-lines", "browser-list", "source-without-rules"]);
const USUAL = ["RemoveComments", "Compress", "Validate", "Deduplicate"];

async function findingsOf(
  texts: Readonly<Record<string, string>>,
  source: object = {},
  ...words: string[]
): Promise<Found[]> {
  const project = new MemoryProject(
    {
      "c.json": JSON.stringify({
        name: "L",
        sources: Object.keys(texts).map((name) => ({ source: name, type: "adblock", ...source })),
        transformations: USUAL,
      }),
      ...texts,
    },
    webOf(texts),
  );
  const flags = ["-c", "c.json", "--json", "--no-cache", "--accept", "too-few-rules", ...words];
  const { exit, stdout, stderr } = await project.run(...flags);
  assert.equal(exit, 0, stderr);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Found[] };
  return diagnostics.filter(({ code }) => CODES.has(code));
}

const HARMLESS = "! note\n\n||ok.example^\n||ok.example^\n||sub.ok.example^\n0.0.0.0 localhost\n";

test("a line of an own file that is not in the list is a warning with its place, its cause and the right line", async () => {
  for (const [line, advice] of [
    ["https://ads.example/path", "bad-syntax; write ||ads.example^"],
    ["@@||ads.example/path", "bad-syntax; write @@||ads.example^"],
    ["a.example, b.example", "bad-syntax; write one name per line"],
    ["a.example b.example", "bad-syntax; write one name per line"],
    ["example.com##.ad", "bad-syntax; it changes a page, and a resolver sees only names"],
    ["||bad host^", "bad-syntax: not a valid rule"],
    ["||com^", "public-suffix; write the names below it, or use ValidateAllowPublicSuffix"],
    ["192.0.2.7", "ip-address; use ValidateAllowIp"],
    [
      "||x.example^$script",
      "bad-modifier; a resolver does not know one of its modifiers; write ||x.example^",
    ],
  ] as const) {
    const [found, ...others] = await findingsOf({ "own.txt": `${HARMLESS}${line}\n` });
    assert.deepEqual(others, []);
    assert.equal(found?.message, `own.txt: 1 line is not in the list: line 7: ${line} (${advice})`);
    assert.deepEqual([found.code, found.at], ["own-lines", { file: "own.txt", line: 7 }]);
  }
});

test("a harmless line is not a warning, and one of another author is not, either", async () => {
  assert.deepEqual(await findingsOf({ "own.txt": HARMLESS }), []);
  const bad = `${HARMLESS}https://ads.example/path\n`;
  assert.deepEqual(await findingsOf({ "own.txt": bad }, {}, "--compat"), []);
  assert.deepEqual(await findingsOf({ "https://lists.example/a.txt": bad }), []);
});

test("a file has one warning: five lines, and where the others are", async () => {
  const lines = Array.from({ length: 7 }, (_, index) => `a${index}.example, b.example\n`).join("");
  const found = await findingsOf({
    "one.txt": `||ok.example^\n${lines}`,
    "two.txt": `||ok2.example^\n||com^\nhttps://a\u001b[2J.example/\n`,
  });
  assert.equal(found.length, 2);
  assert.equal(found[0]!.message.match(/write one name per line/g)?.length, 5);
  assert.match(
    found[0]!.message,
    /^one\.txt: 7 lines are not in the list: line 2: .*; and 2 more$/,
  );
  assert.equal(found[0]!.hint, "See all with rules-compiler stats --fate bad-syntax");
  assert.match(found[1]!.message, /^two\.txt: 2 lines/);
  assert.doesNotMatch(found[1]!.message, /\u001b/);
});

test("a large local file, or one with many faults, gets a count only", async () => {
  const good = Array.from({ length: 1001 }, (_, index) => `||n${index}.example^\n`).join("");
  const bad = Array.from({ length: 101 }, (_, index) => `a${index}.example, b.example\n`).join("");
  for (const text of [`${good}a.example, b.example\n`, `||ok.example^\n${bad}`]) {
    const [found, ...others] = await findingsOf({ "big.txt": text });
    assert.deepEqual(others, []);
    assert.match(found!.message, /^big\.txt: (?:1 line is|101 lines are) not in the list$/);
    assert.match(found!.hint!, /stats --fate bad-syntax$/);
  }
});

const BROWSER = Array.from(
  { length: 40 },
  (_, index) =>
    `site${index}.example##.ad\n||ads${index}.example/banner.js$script\n||n${index}.example^\n`,
).join("");

test("a list for browsers is named as such, once", async () => {
  const [found, ...others] = await findingsOf({ "easy.txt": `[Adblock Plus 2.0]\n${BROWSER}` });
  assert.deepEqual(others, []);
  assert.equal(
    found?.message,
    "easy.txt looks like a list for browsers: 81 of 121 lines say nothing about names",
  );
  assert.match(found.hint!, /DNS version/);
  const [remote] = await findingsOf({ "https://lists.example/easy.txt": BROWSER });
  assert.match(
    remote!.message,
    /^https:\/\/lists\.example\/easy\.txt looks like a list for browsers: 80 /,
  );
  const names = Array.from({ length: 200 }, (_, index) => `||m${index}.example^\n`).join("");
  const mixed = await findingsOf({ "mixed.txt": `${BROWSER}${names}` });
  assert.deepEqual(
    mixed.map(({ code }) => code),
    ["own-lines"],
  );
});

test("a source with lines and no rule is a warning, one without lines or with redundant ones is not", async () => {
  const zone = "@ SOA a. b. 1 2 3 4 5\na.example CNAME rpz-tcp-only.\n";
  const rpz = { type: "rpz" };
  const [found, ...others] = await findingsOf({ "a.rpz": zone }, rpz);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [found?.code, found?.message],
    ["source-without-rules", "a.rpz gives no rule: none of its 2 lines is one"],
  );
  assert.deepEqual(await findingsOf({ "a.rpz": "; nothing yet\n" }, rpz), []);
  const same = { "a.txt": "||a.example^\n", "b.txt": "||a.example^\n", "c.txt": "! none\n" };
  assert.deepEqual(await findingsOf(same), []);
});
