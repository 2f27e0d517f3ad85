import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { LOOKS, assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { isNightly } from "../support/nightly.ts";
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

/** Real lists, compiled and reported: five in the gate, twenty every night. */
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
  const config = corpusConfigInPlace();
  const sources = config.sources.slice(0, isNightly ? 20 : 5);
  writeFileSync(join(folder, "c.json"), JSON.stringify({ ...config, sources }));
  const words = ["-c", join(folder, "c.json"), "-o", list, "-q"];
  run(["compile", ...words, "--no-cache", "--accept", "blocks-protected"]);
  run(["stats", ...words, "--html", page]);
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
    // The page without rules has its size, too.
    if (isNightly) assert.ok(size <= MOST_BYTES_A_RULE * rules, "5 MB for a million rules");
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

/** A list of six rules, with as many builds as texts. */
function smallReport(context: TestContext, texts: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "report-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const long = "https://lists.example/a/very/long/path/that/does/not/fit/on/a/phone/list.txt";
  const config = {
    name: "My list",
    sources: [
      { name: long, source: "a.txt", type: "adblock" },
      { name: "b", source: "b.txt", type: "adblock" },
    ],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  writeFileSync(join(folder, "b.txt"), "||a0.example^\n||b.example^\n");
  const words = ["-c", join(folder, "c.json"), "-o", join(folder, "l.txt"), "-q"];
  for (const text of texts) {
    writeFileSync(join(folder, "a.txt"), text);
    run(["compile", ...words, "--no-cache"]);
  }
  run(["stats", ...words, "--html", join(folder, "report.html")]);
  return pathToFileURL(join(folder, "report.html")).href;
}

test(
  "the report of a first build and of a change is accessible on all screens and on paper",
  { timeout: 900_000 },
  async (context) => {
    const lines = Array.from({ length: 40 }, (_, index) => `||a${index}.example^\n`);
    const long = `||${"a-name-without-a-place-to-break".repeat(2)}.example^\n`;
    const first = smallReport(context, [lines.join("")]);
    const changed = smallReport(context, [lines.join(""), lines.slice(5).join("") + long]);
    const browser = await browserFor(context);
    for (const [state, url] of [["first", first] as const, ["changed", changed] as const]) {
      const looks = [...LOOKS, ["print", { viewport: { width: 720, height: 1000 } }] as const];
      for (const [look, options] of looks) {
        const page = await browser.newPage(options);
        if (look === "print") await page.emulateMedia({ media: "print" });
        await page.goto(url);
        const text = (await page.textContent("main")) ?? "";
        assert.match(
          text,
          state === "first" ? /Changes appear here/ : /No longer blocked: 4 names/,
        );
        await page.screenshot(pictureOf(`report-${state}-${look}`));
        await assertAccessible(page, `${state}, ${look}`, context);
        if (look !== "print") continue;
        const shown = await page.evaluate<string>(
          "getComputedStyle(document.querySelector('form')).display",
        );
        assert.equal(shown, "none", "nobody types on paper");
      }
    }
  },
);
