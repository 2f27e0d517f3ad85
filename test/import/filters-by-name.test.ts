import assert from "node:assert/strict";
import { test } from "node:test";
import { type Config, compile, memoryHost } from "../support/internals.ts";
import { withReferenceKernel } from "../support/reference/reference-kernel.ts";

/** Rules for a name, in every syntax. */
const FORMS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `${name}.`,
  (name) => name.toUpperCase(),
  (name) => `${name}   # note`,
  (name) => `${name} #note`,
  (name) => `  ${name}`,
  (name) => `${name}\t`,
  (name) => `0.0.0.0 ${name}`,
  (name) => ` 0.0.0.0 ${name}`,
  (name) => `127.0.0.1\t${name} # note`,
  (name) => `:: ${name}`,
  (name) => `||${name}^`,
  (name) => ` ||${name}^ `,
  (name) => `||${name.toUpperCase()}^`,
  (name) => `||${name}^|`,
  (name) => `||${name}^$important`,
  (name) => `||${name}^$dnstype=A,client=x`,
  (name) => `|${name}^`,
  (name) => `|${name}|`,
  (name) => `||${name}`,
  (name) => `://${name}^`,
  (name) => `@@||${name}^`,
  (name) => `@@|${name}^$important`,
  (name) => `/^${name.replaceAll(".", "\\.")}$/`,
];

/** Rules for other names, or for more than one. */
const OTHERS: readonly string[] = [
  "b.com",
  "xa.com",
  "a.com.au",
  "a.community",
  "0.0.0.0 a.community",
  "0.0.0.0 a.com.au",
  "0.0.0.0 sub.a.com",
  "||sub.a.com^",
  "||*.a.com^",
  "*.a.com",
  ".a.com^",
  "||a.com.evil.org^",
  "a-a.com",
  "0.0.0.0 b.com # not a.com",
  "! a.com",
  "# 0.0.0.0 a.com",
  "/a\\.com/",
  "||b.com^$denyallow=a.com",
];

const ENTRIES = ["||a.com^", "@@||a.com^", "||A.com^", "||a.com.^", "0.0.0.0 a.com", "::1  a.com"];

async function linesOf(files: Record<string, string>, config: Partial<Config>): Promise<string[]> {
  const { bytes } = await compile(
    { name: "n", sources: [{ source: "s.txt" }], ...config },
    { host: memoryHost({ files }), compat: true },
  );
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines.slice(lines.indexOf("! Source: s.txt") + 2);
}

const LIST = [...FORMS.map((form) => form("a.com")), ...OTHERS];

async function checkEntries(): Promise<void> {
  for (const entry of ENTRIES) {
    const files = { "s.txt": `||first.org^\n${LIST.join("\n")}\n||last.org^` };
    const left = await linesOf(files, { exclusions: [entry] });
    assert.deepEqual(left, ["||first.org^", ...OTHERS, "||last.org^"], entry);
    const kept = await linesOf(files, { inclusions: [entry] });
    assert.deepEqual(kept, LIST.slice(0, FORMS.length), entry);
    const own = [{ source: "s.txt", exclusions_sources: ["e.txt"] }];
    const of = await linesOf({ ...files, "e.txt": ` ${entry} # note\n` }, { sources: own });
    assert.deepEqual(of, left, entry);
  }
}

test("an entry that is a rule for a name matches every rule for it, in any syntax", checkEntries);

test("the same with the reference implementation of the kernel", async () => {
  await withReferenceKernel(checkEntries);
});

test("entries remove or keep only the matching names of a hosts line", async () => {
  const lines = ["0.0.0.0 a.com b.com  c.com # note", "  0.0.0.0 b.com a.com", "::1 A.com. b.com"];
  const files = { "s.txt": `||x.org^\n${lines.join("\n")}` };
  assert.deepEqual(await linesOf(files, { exclusions: ["||a.com^"] }), [
    "||x.org^",
    "0.0.0.0 b.com  c.com # note",
    "  0.0.0.0 b.com",
    "::1 b.com",
  ]);
  assert.deepEqual(await linesOf(files, { inclusions: ["0.0.0.0 a.com b.com"] }), [
    "0.0.0.0 a.com b.com # note",
    "  0.0.0.0 b.com a.com",
    "::1 A.com. b.com",
  ]);
  assert.deepEqual(await linesOf(files, { inclusions: ["||c.com^"] }), ["0.0.0.0  c.com # note"]);
  assert.deepEqual(
    await linesOf(files, { exclusions: ["||a.com^"], transformations: ["TrimLines", "Compress"] }),
    ["||x.org^", "||b.com^", "||c.com^"],
  );
});

test("a name in another script equals its ASCII form", async () => {
  const forms = ["пример.рф", "xn--e1afmkfd.xn--p1ai"].flatMap((name) => [
    name,
    `||${name}^`,
    `0.0.0.0 ${name}`,
    ` ${name} # note`,
  ]);
  const lines = [...forms, "ПРИМЕР.рф", "||другой.рф^", "||ok.com^"];
  const files = { "s.txt": lines.join("\n") };
  for (const entry of ["||пример.рф^", "||XN--e1afmkfd.xn--p1ai^", "0.0.0.0 Пример.рф"])
    assert.deepEqual(
      await linesOf(files, { exclusions: [entry] }),
      ["||другой.рф^", "||ok.com^"],
      entry,
    );
});

test("an exclusion removes lines with blanks and notes", async () => {
  const text = "lolz.guru    #Forum\n  indented.com\n 0.0.0.0 tabbed.com\n|exact.com^\nplain.com";
  const exclusions = ["lolz.guru", "indented.com", "tabbed.com", "exact.com"].map((n) => `||${n}^`);
  const transformations = ["TrimLines", "Compress", "Validate", "Deduplicate"];
  assert.deepEqual(await linesOf({ "s.txt": text }, { exclusions, transformations }), [
    "||plain.com^",
  ]);
});

test("a parent that a filter of the list removes covers nothing in a source", async () => {
  const files = { "s.txt": "0.0.0.0 a.com\n||sub.a.com^" };
  const sources = [{ source: "s.txt", transformations: ["Compress"] }];
  assert.deepEqual(await linesOf(files, { sources, exclusions: ["0.0.0.0 a.com"] }), [
    "||sub.a.com^",
  ]);
  assert.deepEqual(await linesOf(files, { sources, inclusions: ["0.0.0.0 sub.a.com"] }), [
    "||sub.a.com^",
  ]);
  assert.deepEqual(await linesOf(files, { sources, inclusions: ["0.0.0.0 a.com"] }), ["||a.com^"]);
});
