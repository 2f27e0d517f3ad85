import assert from "node:assert/strict";
import { test } from "node:test";
import { ListRules } from "../../src/explain/list-rules.ts";
import { MappedNames } from "../../src/explain/why.ts";
import { hashesOf, pageAnswer, pageHash, searchIndex } from "../../src/report/page-search.ts";
import { changeSection } from "../../src/report/report-page.ts";
import { namePattern, patternExpression } from "../../src/syntax/name-pattern.ts";
import { assertInOrder } from "../support/assert-in-order.ts";
import { memoryHost } from "../support/internals.ts";
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
  assert.equal((await project.run("stats", "--html", ...words)).exit, 2, "no build, no report");
  await project.run("compile", "-q", ...words);
  const { exit, stdout, stderr } = await project.run("stats", "--html", ...words);
  assert.deepEqual([exit, stdout], [0, ""]);
  assert.match(stderr, /written l\.report\.html/);
  const page = project.text("l.report.html");
  assert.match(page, /<title>My &lt;list&gt;: report<\/title>/);
  assert.equal(page.match(/<\/script>/g)?.length, 2);
  assert.doesNotMatch(page, /<img|(?:src|href)="http/);
  assert.equal((await project.run("stats", ...words, "--html", "public/index.html")).exit, 0);
  assert.equal(project.text("public/index.html"), page);
});

/** The text of a page, without its style and scripts. */
function textOf(page: string): string {
  const body = page.split("</style>")[1]!.split("<script")[0]!;
  return body.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
}

const WORDS = ["-c", "c.json", "-o", "l.txt"];

/** A project with one source, which is built with each of its texts, an hour apart. */
const CONFIG = { name: "My list", sources: [{ name: "Ads <b>", source: "a.txt" }] };

async function builtWith(...texts: string[]): Promise<MemoryProject> {
  const project = new MemoryProject({ "c.json": JSON.stringify(CONFIG) });
  for (const [hour, text] of texts.entries()) {
    project.now = `2026-11-10T0${hour}:00:00Z`;
    project.write("a.txt", text);
    await project.run("compile", "-q", ...WORDS);
  }
  return project;
}

async function reportOf(project: MemoryProject): Promise<string> {
  assert.equal((await project.run("stats", "--html", ...WORDS)).exit, 0);
  return project.text("l.report.html");
}

const MANY = Array.from({ length: 200 }, (_, index) => `||n${index}.example^`).join("\n");

test("the report says first what changed, then what needs attention, then the sources", async () => {
  const more = `${MANY}\n||<i>.evil.example^\n||fresh.test^\n`;
  const page = await reportOf(await builtWith(`${MANY}\n||old.test^\n`, more));
  assertInOrder(textOf(page), [
    "Nothing needs attention. 2 rules were added and 1 removed since 2026-11-10 00:00 UTC.",
    "What changed",
    "Newly blocked: 2 names",
    "fresh.test and below",
    // Patterns come after names.
    "&lt;i&gt;.evil.example",
    "No longer blocked: 1 name",
    "old.test and below",
    "Needs attention Nothing.",
    "Is it blocked?",
    "Sources",
    "What became of the lines",
    "Builds",
  ]);
  assert.doesNotMatch(page.split("<script")[0]!, /<i>|Ads <b>/);
});

test("the report of a first build says what will appear", async () => {
  assertInOrder(textOf(await reportOf(await builtWith("||a.example^\n"))), [
    "Nothing needs attention. This is the first build, with 1 rule.",
    "Changes appear here after the second build.",
    "Charts appear here after the second build.",
  ]);
});

test("the report says that no rule changed", async () => {
  const page = await reportOf(
    await builtWith(`${MANY}\n`, `${MANY}\n! a comment\n||n1.example^\n`),
  );
  assertInOrder(textOf(page), [
    "No rule changed since 2026-11-10 00:00 UTC.",
    "What changed No rule",
  ]);
});

test("the report names a refused list, a held list and a source that lost most of its lines", async () => {
  const project = await builtWith(`${MANY}\n`, `${MANY}\n||x.example^\n`);
  project.now = "2026-11-10T02:00:00Z";
  project.write("c.json", JSON.stringify({ ...CONFIG, guards: { min_rules: 100 } }));
  project.write("a.txt", "||a.example^\n");
  await project.run("compile", "-q", ...WORDS);
  assertInOrder(textOf(await reportOf(project)), [
    "1 thing needs attention",
    "A newer list was refused, and this one is still published",
    "2026-11-10 02:00 UTC made a list with 1 rule. The guard too-few-rules refused it.",
  ]);
  project.now = "2026-11-10T03:00:00Z";
  await project.run("compile", "-q", ...WORDS, "--accept", "too-few-rules");
  assertInOrder(textOf(await reportOf(project)), [
    "lost more than half of its lines",
    "It had 201 lines in the build before and now has 1.",
  ]);
  project.now = "2026-11-10T04:00:00Z";
  assert.equal((await project.run("hold", "@1", ...WORDS)).exit, 0);
  assertInOrder(textOf(await reportOf(project)), [
    "My list is held at the build of",
    "rules-compiler hold --end",
  ]);
});

test("the report of a large list names the command that compares it", async () => {
  const host = memoryHost({ files: { "a.txt": "||a.example^\n" } });
  const config = { name: "x", sources: [{ source: "a.txt" }] };
  const { record } = await compileRecorded(config, { host });
  const since = "2026-11-10T00:00:00.000Z";
  const { text } = changeSection({ since, before: record.header, rules: "too-large" });
  assert.match(textOf(`</style>${text}`), /had 1 rule\. .*rules-compiler diff @1 @0/);
});
