import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { RelatedNames } from "../../src/formats/list-model.ts";
import { NameReader, nameFilter } from "../../src/kernel/names.ts";
import { Random, seedFrom } from "../support/random.ts";

const LONGEST = 40;

/** The name of a line `||name^`, as the kernel should find it. */
function plainName(line: string): string | undefined {
  const name = /^\|\|(?<name>[a-z0-9.-]+)\^$/.exec(line)?.groups?.["name"];
  if (name === undefined || name.length > LONGEST || name === "localhost.localdomain")
    return undefined;
  const labels = name.split(".");
  const last = labels.at(-1)!;
  if (labels.length < 2 || labels.some((label) => !/^[^-](?:.{0,61}[^-])?$/.test(label)))
    return undefined;
  // The kernel leaves some more to its caller, by their first letters and lengths.
  if (/^\d/.test(last) && /\d$/.test(last)) return undefined;
  if (/^r..-/.test(last) || (last.startsWith("l") && last.length === 9)) return undefined;
  if (name.startsWith("l") && name.length === 21) return undefined;
  return name;
}

function randomLabel(random: Random): string {
  const length = random.chance(0.02) ? 60 + random.below(6) : 1 + random.below(9);
  return random.times(length, () => random.pick([..."abclrz019-"])).join("");
}

function randomName(random: Random): string {
  const ends = ["com", "co.uk", "localhost", "rpz-ip", "net", "1", "a1"];
  const labels = random.times(random.below(4), () => randomLabel(random));
  return [...labels, random.pick(ends)].join(".");
}

function randomLine(random: Random): string {
  const name = random.chance(0.05) ? "localhost.localdomain" : randomName(random);
  if (random.chance(0.7)) return `||${name}^`;
  const lines = ["", "!", `|${name}^`, `||${name}`, `||${name}^$important`, `@@||${name}^`];
  return random.pick([...lines, `||${name.toUpperCase()}^`, `||${name}^ `, `|||${name}^`, "||^"]);
}

test("the kernel finds the names of plain lines, and stops at every other line", () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]));
  const reader = new NameReader();
  for (let round = 0; round < 500; round++) {
    const lines = random.times(random.below(30), () => randomLine(random));
    const text = new TextEncoder().encode(lines.map((line) => `\n${line}`).join(""));
    reader.setText(text);
    const found: string[] = [];
    const others: string[] = [];
    for (let at = 0; at < text.length;) {
      const { names, count, read } = reader.takeFrom(at, LONGEST);
      const taken = new TextDecoder().decode(names).split("\n").slice(0, -1);
      assert.equal(taken.length, count);
      found.push(...taken);
      if (read >= text.length) break;
      const end = text.indexOf(10, read + 1);
      at = end === -1 ? text.length : end;
      others.push(new TextDecoder().decode(text.subarray(read + 1, at)));
    }
    const names = lines.map(plainName);
    assert.deepEqual(
      found,
      names.filter((name) => name !== undefined),
    );
    assert.deepEqual(
      others,
      lines.filter((_, index) => names[index] === undefined),
    );
  }
});

test("no related name escapes the filter", () => {
  const random = new Random(seedFrom(process.env["FUZZ_SEED"]));
  const reader = new NameReader();
  let candidates = 0;
  let all = 0;
  for (let round = 0; round < 150; round++) {
    const filter = nameFilter();
    const related = new RelatedNames(filter);
    const rules = random.times(random.below(5), () => randomName(random));
    const families = random.times(random.below(3), () => randomName(random));
    for (const rule of rules) related.addName(rule, random.chance(0.5));
    for (const family of families) related.addFamily(family, random.chance(0.5));
    const near = [...rules, ...families].flatMap((name) => [
      name,
      `x.${name}`,
      name.slice(name.indexOf(".") + 1),
      `x${name}`,
      name.slice(1),
    ]);
    const names = [...near, ...random.times(40, () => randomName(random))].filter((name) =>
      name.includes("."),
    );
    const bytes = new TextEncoder().encode(names.map((name) => `${name}\n`).join(""));
    const starts = new Set(reader.findEnds(bytes, filter));
    let start = 0;
    for (const name of names) {
      if (related.has(name)) assert.ok(starts.has(start), name);
      start += name.length + 1;
    }
    for (const rule of rules)
      if (rule.includes(".")) assert.ok(related.has(rule) && related.has(`x.${rule}`), rule);
    candidates += starts.size;
    all += names.length;
  }
  assert.ok(candidates < all / 2, "the filter excludes most names");
});

test("names are related to their parents and to what is below them, and to nothing else", () => {
  const related = new RelatedNames();
  related.addName("b.example.com", true);
  const names = ["example.com", "b.example.com", "a.b.example.com", "c.example.com", "com"];
  assert.deepEqual(
    names.filter((name) => related.has(name)),
    ["example.com", "b.example.com", "a.b.example.com", "com"],
  );
  const family = new RelatedNames();
  family.addFamily("b.example.com", true);
  assert.deepEqual(
    names.filter((name) => family.has(name)),
    ["example.com", "b.example.com", "a.b.example.com", "c.example.com"],
  );
});
