import assert from "node:assert/strict";
import { test } from "node:test";
import { ListRules } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/mapped-names.ts";
import { memoryHost } from "../support/internals.ts";
import { hashesOf, pageAnswer, pageHash } from "../../src/report/page-search.ts";
import { searchIndex } from "../../src/report/search-index.ts";
import { namePattern, patternExpression } from "../../src/syntax/name-pattern.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Random } from "../support/random.ts";
import { compileRecorded } from "../support/recorded.ts";

const LABELS = ["a", "b", "ads", "x1", "example", "test", "cdn"];

function randomName(random: Random): string {
  const labels = Array.from({ length: 1 + random.below(3) }, () => random.pick(LABELS));
  return [...labels, random.pick(["com", "net"])].join(".");
}

function randomRule(random: Random): string {
  const name = randomName(random);
  return random.pick([
    `||${name}^`,
    `||${name}^`,
    name,
    `0.0.0.0 ${name}`,
    `0.0.0.0 ${name} ${randomName(random)}`,
    `@@||${name}^`,
    `||${name}^$important`,
    `@@||${name}^$important`,
    `||${name}^$badfilter`,
    `|${name}^`,
    `||${name.replace("a", "*")}^`,
    `||${name}^$denyallow=${randomName(random)}`,
    `||${name}^$client=10.0.0.1`,
    `||${name}^$dnsrewrite=1.2.3.4`,
    `/^${random.pick(LABELS)}[0-9a-z]*\\./`,
  ]);
}

test("random lists and names: the page gives the same answers as why", async () => {
  const random = new Random(20_261_115);
  let blocked = 0;
  for (let round = 0; round < 300; round++) {
    const lines = Array.from({ length: 1 + random.below(25) }, () => randomRule(random));
    const host = memoryHost({ files: { "a.txt": `${lines.join("\n")}\n` } });
    const config = { name: "x", sources: [{ source: "a.txt" }] };
    const { result, record } = await compileRecorded(config, { host });
    const rules = await ListRules.of(record, new MappedNames(result.bytes, record));
    const index = searchIndex(result.bytes, record, rules);
    const hashes = index.groups.map(hashesOf);
    for (let probe = 0; probe < 40; probe++) {
      const name = randomName(random);
      const expected = rules.answer(name);
      const answer = pageAnswer(name, index, hashes);
      assert.equal(answer.verdict, expected.verdict, `${name} in\n${lines.join("\n")}`);
      assert.deepEqual(
        answer.partial.toSorted(),
        expected.partial.map(({ text }) => text).toSorted(),
      );
      if (expected.verdict === "blocked") blocked++;
    }
  }
  assert.ok(blocked > 1000);
});

test("a pattern and its regular expression match the same names", () => {
  const random = new Random(7);
  for (let round = 0; round < 20_000; round++) {
    const length = 1 + random.below(8);
    const body = Array.from({ length }, () => random.pick(["a", "b", ".", "*", "-", "com"])).join(
      "",
    );
    const pattern = `${random.pick(["||", "|", ""])}${body}${random.pick(["^", "|", "", "^|"])}`;
    const matches = namePattern(pattern);
    const expression = patternExpression(pattern);
    assert.equal(matches === undefined, expression === undefined, pattern);
    if (matches === undefined || expression === undefined) continue;
    const name = Array.from({ length: 1 + random.below(6) }, () =>
      random.pick(["a", "b", ".", "-", "com"]),
    ).join("");
    assert.equal(new RegExp(expression, "i").test(name), matches(name), `${pattern} ${name}`);
  }
});

test("hashes use all their bits, and survive encoding and decoding", () => {
  for (const bits of [33, 40, 48]) {
    const hashes = Array.from({ length: 5000 }, (_, index) => pageHash(`n${index}.example`, bits));
    assert.equal(new Set(hashes).size, hashes.length);
    assert.ok(Math.max(...hashes) > 2 ** bits * 0.99 && Math.max(...hashes) < 2 ** bits);
    assert.ok(Math.min(...hashes) < 2 ** bits * 0.01);
    assert.ok(hashes.every(Number.isInteger));
  }
});

test("report writes one page without external references", async () => {
  const sources = [{ name: "</script><img src=x>", source: "a.txt" }];
  const project = new MemoryProject({
    "c.json": JSON.stringify({ name: "My <list>", sources }),
    "a.txt": "||a.example^\n||b.a.example^\n/</script>/\n",
  });
  const words = ["-c", "c.json", "-o", "l.txt"];
  assert.equal((await project.run("report", ...words)).exit, 2, "no build, no report");
  await project.run("compile", "-q", ...words);
  const { exit, stdout, stderr } = await project.run("report", ...words);
  assert.deepEqual([exit, stdout], [0, ""]);
  assert.match(stderr, /written l\.report\.html/);
  const page = project.text("l.report.html");
  assert.match(page, /<title>My &lt;list&gt;: report<\/title>/);
  assert.equal(page.match(/<\/script>/g)?.length, 2);
  assert.doesNotMatch(page, /<img|(?:src|href)="http/);
  assert.equal((await project.run("report", ...words, "public/index.html")).exit, 0);
  assert.equal(project.text("public/index.html"), page);
});
