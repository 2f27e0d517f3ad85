import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "tldts";
import { AhoCorasick, EXACT } from "../../src/bytes/aho-corasick.ts";
import { encodeUtf8, skipBlanks, skipBlanksBack } from "../../src/bytes/text.ts";
import { LineTemplate } from "../../src/formats/header.ts";
import { KernelMemory } from "../../src/kernel/kernel.ts";
import { NameExpander } from "../../src/kernel/names.ts";
import { LineScanner } from "../../src/kernel/rows.ts";
import { icannRules, privateRules } from "../../src/syntax/public-suffix-list.ts";
import {
  Suffix,
  type SuffixFilters,
  fillFilters,
  publicSuffixKind,
} from "../../src/syntax/public-suffix.ts";
import { Random } from "../support/random.ts";

test("blanks are the characters that JavaScript trims", () => {
  for (let code = 0; code < 0x11_000; code++) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCodePoint(code);
    const bytes = encodeUtf8(`${character}x${character}`);
    const start = skipBlanks(bytes, 0, bytes.length);
    const end = skipBlanksBack(bytes, start, bytes.length);
    const trimmed = encodeUtf8(`${character}x${character}`.trim());
    assert.deepEqual(bytes.subarray(start, end), trimmed, `U+${code.toString(16)}`);
  }
});

test("Aho-Corasick finds a word if and only if one occurs", () => {
  const random = new Random(7);
  let hits = 0;
  for (let round = 0; round < 3000; round++) {
    const text = (length: number): string =>
      random.times(length, () => random.pick(["a", "b", "."])).join("");
    const words = random.times(1 + random.below(8), () => text(1 + random.below(4)));
    const line = text(random.below(12));
    const found = new AhoCorasick(words.map(encodeUtf8)).search(
      encodeUtf8(line),
      0,
      line.length,
      EXACT,
    );
    const expected = words.some((word) => line.includes(word));
    assert.equal(found !== -1, expected, `${words.join()} in ${line}`);
    if (found !== -1) assert.ok(line.includes(words[found]!));
    if (expected) hits++;
  }
  assert.ok(hits > 500);
});

test("public suffixes agree with tldts for every rule of the list and similar names", () => {
  const rules = [...icannRules().split(" "), ...privateRules().split(" ")].map((rule) =>
    rule.replace(/^(?:\*\.|!)/, ""),
  );
  let suffixes = 0;
  for (const rule of rules) {
    for (const name of [
      rule,
      `a.${rule}`,
      `b.a.${rule}`,
      rule.split(".").slice(1).join("."),
      rule.toUpperCase(),
    ]) {
      if (name === "" || !name.includes(".")) continue;
      const bytes = encodeUtf8(name);
      const lower = name.toLowerCase();
      const kind = publicSuffixKind(bytes, 0, bytes.length);
      const icann = parse(lower);
      const all = parse(lower, { allowPrivateDomains: true });
      assert.equal(
        kind === Suffix.Icann,
        icann.publicSuffix === lower && icann.isIcann === true,
        name,
      );
      // One way only: where a wildcard and a longer rule meet, tldts follows the longer one and misses the wildcard.
      if (all.publicSuffix === lower && all.isPrivate === true && kind !== Suffix.Icann)
        assert.equal(kind, Suffix.Private, name);
      if (kind !== Suffix.No) suffixes++;
    }
  }
  assert.ok(suffixes > 15_000);
});

test("the kernel fills the filters of suffixes as TypeScript does", () => {
  const rules = encodeUtf8(`${icannRules()} ${privateRules()} `);
  const [own, expected] = [0, 0].map(() => ({
    filter: new Uint8Array(2 ** 16),
    wildcards: new Uint8Array(2 ** 13),
  })) as [SuffixFilters, SuffixFilters];
  fillFilters(rules, expected);
  const scanner = new LineScanner(new KernelMemory(), (fill) => {
    fill(rules, own);
    return own;
  });
  assert.ok(scanner.unknown.length === 0);
  assert.deepEqual(own, expected);
  assert.ok(expected.wildcards.some((byte) => byte !== 0));
});

test("the kernel expands names as their template says", () => {
  const random = new Random(17);
  const expander = new NameExpander();
  for (let round = 0; round < 500; round++) {
    const count = random.below(40);
    const names = Array.from({ length: count }, () => "n".repeat(1 + random.below(140)));
    const block = new TextEncoder().encode(names.map((name) => `${name}\n`).join(""));
    const piece = (): string => "=".repeat(random.below(35));
    const lines = Array.from({ length: 1 + random.below(3) }, () => `${piece()}%${piece()}`);
    const template = new LineTemplate(lines);
    const taken = random.below(count + 1);
    const expected = names
      .slice(0, taken)
      .map((name) => lines.map((line) => `${line.replace("%", name)}\n`).join(""))
      .join("");
    assert.equal(
      new TextDecoder().decode(expander.expand(template.parts, block, taken).slice()),
      expected,
    );
  }
});
