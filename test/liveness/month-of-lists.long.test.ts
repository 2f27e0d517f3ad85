import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { subjectOf } from "../../src/liveness/verdict.ts";
import { namesIn } from "../../src/meaning/line.ts";
import { askAlive } from "../../src/resolvers/alive.ts";
import { FILTERED } from "../../src/resolvers/ask-names.ts";
import { assertAccessible, browserFor, pictureOf } from "../support/browser.ts";
import { corpusFile, missingCorpus } from "../support/corpus.ts";
import { World, deathOf, worldOf } from "../support/liveness/world.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { isNightly } from "../support/nightly.ts";

const LISTS = [
  ["anudeepND", "anudeepND__blacklist__adservers.txt", "hosts"],
  ["KADhosts", "FiltersHeroes__KADhosts__KADhosts.txt", "hosts"],
  ["OISD small", "sjhgvr__oisd__abp_small.txt", "adblock"],
] as const;
/** The gate asks about every n-th line. */
const EVERY = isNightly ? 1 : 60;
const START = Date.parse("2026-10-01T06:00:00Z");
const DAYS = 30;
const DAY_MS = 86_400_000;

test(
  "a month of three real lists: the report that their maintainer gets",
  { skip: missingCorpus, timeout: 3 * 3_600_000 },
  async (context) => {
    const texts = LISTS.map(([, file]) =>
      corpusFile("typical", file)
        .split("\n")
        .filter((line, index) => index % EVERY === 0 && !/^\s*(?:[!#[]|$)/.test(line))
        .join("\n"),
    );
    const domains = new Set(
      texts.flatMap((text) => text.split("\n").flatMap((line) => namesIn(line).map(subjectOf))),
    );
    const world = new World(
      worldOf(
        [...domains].filter(
          (name) => /^[a-z\d.-]+\.[a-z]+$/.test(name) && !FILTERED.includes(name),
        ),
      ),
    );
    const project = new MemoryProject({
      "c.json": JSON.stringify({
        name: "Three lists",
        sources: LISTS.map(([name, , type], index) => ({
          name,
          source: `${index}.txt`,
          type,
          ...(index === 0 && { dead: "drop" }),
        })),
        transformations: ["Validate", "Deduplicate", "Compress"],
      }),
      "parked.txt": "parking.example\n",
    });
    for (const [index, text] of texts.entries()) project.write(`${index}.txt`, text);
    const words = ["-c", "c.json", "--cache-dir", "/cache"];
    const options = {
      configPath: "/project/c.json",
      inputs: [],
      inputType: undefined,
      filter: [],
      permit: [],
      output: undefined,
      copyToRules: false,
      rulesDir: "/project/rules",
    };
    project.now = new Date(START).toISOString();
    await project.run(...words);
    let questions = 0;
    for (let day = 0; day < DAYS; day++) {
      world.day = day;
      project.now = new Date(START + day * DAY_MS).toISOString();
      const request = { resolvers: ["192.0.2.53"], rate: 100_000, parked: "/project/parked.txt" };
      const limits = { datagramMs: [1], streamMs: 1 };
      const { asked, refusal } = await askAlive(
        { ...request, limits },
        options,
        world.on(project.host),
      );
      assert.equal(refusal, undefined, `day ${day}`);
      questions += asked.questions;
    }
    await project.run(...words, "--accept", "source-shrunk");
    const { stdout } = await project.run("stats", "--fate", "dead", ...words);
    const dropped = stdout.trim().split("\n");
    assert.ok(dropped.length > 10);
    for (const line of dropped)
      assert.match(
        line,
        /^0\.txt:\d+: \S.*  dead since 2026-1\d-\d\d: NXDOMAIN on [56] days, last on 2026-10-\d\d$/,
      );
    const dead = world.names.filter((one) => (deathOf(one) ?? Infinity) + 22 < DAYS).length;
    const page = await project.run("stats", "--html", "page.html", ...words);
    assert.equal(page.exit, 0, page.stderr);
    const folder = mkdtempSync(join(tmpdir(), "alive-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "page.html");
    writeFileSync(path, project.text("page.html"));
    const browser = await browserFor(context);
    const opened = await browser.newPage({ viewport: { width: 1100, height: 900 } });
    await opened.goto(pathToFileURL(path).href);
    const said = String(await opened.evaluate('document.querySelector("main").innerText'));
    const section = said.slice(said.indexOf("Names that do not exist"));
    for (const [name] of LISTS) assert.ok(section.includes(name), name);
    const shown = Number(
      /([\d,]+) do not exist, and have not for weeks/.exec(section)?.[1]?.replaceAll(",", ""),
    );
    assert.ok(shown >= dropped.length, `${shown} dead lines, ${dropped.length} dropped`);
    assert.match(section, /[1-9]\d* have the name servers of parked names/);
    await assertAccessible(opened, "dead names", context);
    await opened.screenshot(pictureOf("dead-names"));
    context.diagnostic(
      `${world.names.length} domains of three lists, ${questions} questions in ${DAYS} days; ${dead} domains died in time, ${shown} lines are dead, ${dropped.length} lines of the first list were dropped`,
    );
  },
);
