import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { webOf } from "../support/web-of.ts";
import { listIn } from "../support/documents.ts";

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
  const { diagnostics } = listIn(stdout) as { diagnostics: Found[] };
  return diagnostics.filter(({ code }) => CODES.has(code));
}

const HARMLESS = "! note\n\n||ok.example^\n||ok.example^\n||sub.ok.example^\n0.0.0.0 localhost\n";

test("a line of an own file that is not in the list is a warning with its place, its cause and the right line", async () => {
  for (const [line, advice] of [
    ["https://ads.example/path", "Write ||ads.example^"],
    ["@@||ads.example/path", "Write @@||ads.example^"],
    ["a.example, b.example", "Write one name per line"],
    ["a.example b.example", "Write one name per line"],
    ["example.com##.ad", "Remove the line: it changes a page, and a resolver sees only names"],
    ["||bad host^", "Correct the line, or remove it"],
    ["||com^", "Write the names below it, or use ValidateAllowPublicSuffix"],
    ["192.0.2.7", "Use ValidateAllowIp"],
    [
      "||x.example^$script",
      "Write ||x.example^ without the modifiers that a resolver does not know",
    ],
  ] as const) {
    const [found, ...others] = await findingsOf({ "own.txt": `${HARMLESS}${line}\n` });
    assert.deepEqual(others, []);
    assert.match(found!.message, /^own\.txt:7 is not in the list: [a-z-]+, /);
    assert.deepEqual(
      [found!.code, found!.hint, found!.at],
      ["own-lines", advice, { file: "own.txt", line: 7, frame: line }],
    );
  }
});

test("a harmless line is not a warning, and one of another author is not, either", async () => {
  assert.deepEqual(await findingsOf({ "own.txt": HARMLESS }), []);
  const bad = `${HARMLESS}https://ads.example/path\n`;
  assert.deepEqual(await findingsOf({ "own.txt": bad }, {}, "--compat"), []);
  assert.deepEqual(await findingsOf({ "https://lists.example/a.txt": bad }), []);
});

test("a file has five warnings, and one that says where the others are", async () => {
  const lines = Array.from({ length: 7 }, (_, index) => `a${index}.example, b.example\n`).join("");
  const found = await findingsOf({
    "one.txt": `||ok.example^\n${lines}`,
    "two.txt": `||ok2.example^\n||com^\nhttps://a\u001b[2J.example/\n`,
  });
  const [one, two] = ["one", "two"].map((file) =>
    found.filter(({ message }) => message.startsWith(`${file}.txt`)),
  );
  assert.equal(one!.filter(({ hint }) => hint === "Write one name per line").length, 5);
  assert.equal(one!.at(-1)!.message, "one.txt: 2 more lines are not in the list");
  assert.equal(one!.at(-1)!.hint, "See all with rules-compiler stats --fate bad-syntax");
  assert.equal(one!.length, 6);
  assert.equal(two!.length, 2);
  assert.doesNotMatch(JSON.stringify(found.map(({ message, hint }) => [message, hint])), /u001b/);
});

test("a local file with many faults gets a count only, and a large one of another author nothing", async () => {
  const good = Array.from({ length: 1001 }, (_, index) => `||n${index}.example^\n`).join("");
  const bad = Array.from({ length: 101 }, (_, index) => `a${index}.example, b.example\n`).join("");
  assert.deepEqual(await findingsOf({ "big.txt": `${good}a.example, b.example\n` }), []);
  const [found, ...others] = await findingsOf({ "big.txt": `||ok.example^\n${bad}` });
  assert.deepEqual(others, []);
  assert.equal(found!.message, "big.txt: 101 lines are not in the list");
  assert.match(found!.hint!, /stats --fate bad-syntax$/);
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
  assert.ok(mixed.length > 0 && mixed.every(({ code }) => code === "own-lines"));
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
