import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { LOOKS, assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { corpusConfigInPlace, missingCorpus } from "../support/corpus.ts";

const BIN = join(import.meta.dirname, "../../dist/cli/bin.js");
const ASKED = 3000;
const MOST_BYTES_A_RULE = 5;

function run(args: readonly string[], input = ""): string {
  return execFileSync(process.execPath, [BIN, ...args], {
    input,
    encoding: "utf8",
    maxBuffer: 1e9,
  });
}

/** The twenty lists, compiled and reported. */
function reported(context: TestContext): {
  page: string;
  names: string[];
  answers: string[];
  rules: number;
} {
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const list = join(folder, "l.txt");
  const page = join(folder, "report.html");
  writeFileSync(join(folder, "c.json"), JSON.stringify(corpusConfigInPlace()));
  const words = ["-c", join(folder, "c.json"), "-o", list, "-q"];
  run(["compile", ...words, "--no-cache", "--accept", "blocks-protected"]);
  run(["report", ...words, page]);
  const lines = readFileSync(list, "latin1").split("\n");
  const rules = lines.flatMap((line) => /^\|\|([a-z0-9.-]+)\^$/.exec(line)?.[1] ?? []);
  const names = Array.from({ length: ASKED }, (_, index) => {
    const rule = rules[Math.floor((index / ASKED) * rules.length)]!;
    return [rule, `x9z.${rule}`, `zz9${rule}`, `nowhere-${index}.test`][index % 4]!;
  });
  const answers = run(["why", ...words, "-"], names.join("\n"))
    .trim()
    .split("\n");
  return { page, names, answers, rules: rules.length };
}

test(
  "the report works offline in a browser, and its search agrees with why",
  { timeout: 900_000, skip: missingCorpus },
  async (context) => {
    const { page: file, names, answers, rules } = reported(context);
    const { size } = statSync(file);
    context.diagnostic(`${rules} rules, ${size} bytes, ${(size / rules).toFixed(2)} a rule`);
    assert.ok(size <= MOST_BYTES_A_RULE * rules, "5 MB for a million rules");
    const browser = await browserFor(context);
    for (const [name, options] of LOOKS) {
      const page = await browser.newPage({ ...options, offline: true });
      const said: string[] = [];
      page.on("console", (message) => said.push(message.text?.() ?? ""));
      page.on("pageerror", (error) => said.push(error.message ?? ""));
      page.on("request", (request) => said.push(request.url?.() ?? ""));
      await page.goto(pathToFileURL(file).href);
      await page.fill("#name", `https://${names[0]!}/path?x`);
      assert.match((await page.textContent("#answer")) ?? "", /: blocked by .*, from /);
      assert.deepEqual(said, [pathToFileURL(file).href], "nothing else is asked for, or said");
      await page.screenshot(pictureOf(`report-${name}`));
      await assertAccessible(page, name, context);
      if (name !== "light") continue;
      const found = await page.evaluate<string[]>(
        `(() => { const index = JSON.parse(document.querySelector("#index").textContent); const hashes = index.groups.map(hashesOf); return ${JSON.stringify(names)}.map((name) => pageAnswer(name, index, hashes).verdict); })()`,
      );
      const expected = answers.map((line) => line.split("\t")[1]!);
      const differences = names.filter((_, index) => found[index] !== expected[index]);
      context.diagnostic(`${names.length} names asked, ${differences.length} answered otherwise`);
      assert.deepEqual(differences, []);
    }
  },
);
