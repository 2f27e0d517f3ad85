import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { PROGRAM, runProgram } from "../support/command.ts";
import { corpusFolder, missingCorpus } from "../support/corpus.ts";
import { serveLists } from "../support/list-server.ts";

const LISTS = 60;
const TIERS = ["Mini", "Light", "Normal", "Pro", "Ultimate"] as const;
const FORMATS = "hosts domains wildcard dnsmasq unbound rpz dnscrypt pihole mihomo json".split(" ");
const MOST_LINES = 60;

/** Sixty real block-lists of different sizes, and as many names that none of them has to have. */
function chosenLists(): { name: string; type: "hosts" | "adblock"; text: string }[] {
  const folder = corpusFolder("power");
  const files = readdirSync(folder)
    .toSorted()
    .filter((file) => !/whitelist|allow|RPZ|ipv4|Stretcher|README/i.test(file))
    .filter((file) => {
      const { size } = statSync(join(folder, file));
      return size > 20_000 && size < 1_500_000;
    });
  const step = Math.floor(files.length / LISTS);
  return files
    .filter((_, index) => index % step === 0)
    .slice(0, LISTS)
    .map((file, index) => {
      const text = readFileSync(join(folder, file), "utf8");
      const isAdblock = /^(?:\|\||@@|! )/m.test(text);
      return { name: `S${index + 1}`, type: isAdblock ? "adblock" : "hosts", text };
    });
}

/** The names of a list, as its lines have them. */
function namesOf(text: string): string[] {
  return [
    ...text.matchAll(/^(?:\|\||0\.0\.0\.0\s+|127\.0\.0\.1\s+)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)\b/gm),
  ]
    .map(([, name]) => name!)
    .filter((name) => /[a-z]$/.test(name));
}

/** Popular names: some that everybody knows, and some that the lists block. */
function ranksOf(lists: readonly { text: string }[]): string {
  const known = ["google.com", "youtube.com", "everyday.example", "amazon.com", "github.com"];
  const blocked = lists.flatMap(({ text }) => namesOf(text).filter((_, index) => index % 50 === 0));
  return [...new Set([...known, ...blocked])]
    .map((name, index) => `${index + 1},${name}\n`)
    .join("");
}

function configFor(lists: readonly { name: string; type: string }[], base: string): string {
  const sources = lists.map(
    ({ name, type }) =>
      `{ name: ${name}, source: "${base}/${name}.txt", type: ${type}, trust: block-only, allow_private: true }`,
  );
  const names = (count: number): string =>
    `[${lists
      .slice(0, count)
      .map(({ name }) => name)
      .join(", ")}]`;
  const rows = Array.from({ length: LISTS / 3 }, (_, row) => sources.slice(row * 3, row * 3 + 3));
  return `name: Example lists
homepage: https://lists.example.org
license: MIT
version: "{date}.{time}"
expires: 1d
header: ["Number of entries: {count}"]
sources: [
${rows.map((row) => `  ${row.join(", ")}`).join(",\n")} ]
ranks: [top.csv]
transformations: [RemoveComments, Compress, Validate, Deduplicate, InsertFinalNewLine]
allow: [status.example.org]
guards: { max_shrink: 10, newly_blocks: 1000 }
outputs:
${FORMATS.map((format) => `  - { format: ${format}, file: "{format}/{slug}.txt" }`).join("\n")}
lists:
  - { name: Mini, sources: ${names(40)}, fit: { top: 2000 } }
  - { name: Light, sources: ${names(40)}, fit: { top: 10000 }, covers: [Mini] }
  - { name: Normal, sources: ${names(40)}, covers: [Light] }
  - { name: Pro, sources: ${names(50)}, covers: [Normal] }
  - { name: Ultimate, covers: [Pro] }
`;
}

interface Day {
  readonly stderr: string;
  readonly seconds: number;
  readonly megabytes: number;
}

async function compile(folder: string): Promise<Day> {
  const timed = `/usr/bin/time -f %e,%M -o time.txt ${process.execPath}`;
  const { exit, stderr } = await runProgram(["-c", "c.yaml"], { cwd: folder }, timed);
  assert.equal(exit, 0, stderr);
  const [seconds = 0, kilobytes = 0] = readFileSync(join(folder, "time.txt"), "utf8")
    .trim()
    .split(",")
    .map(Number);
  return { stderr, seconds, megabytes: Math.round(kilobytes / 1024) };
}

function say(folder: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

function tier(folder: string, name: string, format: string): string {
  return readFileSync(join(folder, "rules", format, `${name.toLowerCase()}.txt`), "utf8");
}

/** Whether a tier blocks a name, by its file of `*.name` lines. */
function matcherOf(folder: string, name: string): (asked: string) => boolean {
  const names = new Set(tier(folder, name, "wildcard").match(/(?<=^\*\.).+$/gm));
  return (asked) => {
    for (let rest = asked; rest !== ""; rest = rest.slice(rest.indexOf(".") + 1)) {
      if (names.has(rest)) return true;
      if (!rest.includes(".")) return false;
    }
    return false;
  };
}

function assertTiers(folder: string, context: TestContext): void {
  const counts: number[] = [];
  for (const [index, name] of TIERS.entries()) {
    for (const format of FORMATS)
      assert.ok(tier(folder, name, format).length > 100, `${name} ${format}`);
    const blocked = tier(folder, name, "wildcard").match(/(?<=^\*\.).+$/gm)!;
    counts.push(blocked.length);
    const next = TIERS[index + 1];
    if (next === undefined) continue;
    const isBlocked = matcherOf(folder, next);
    assert.deepEqual(
      blocked.filter((one) => !isBlocked(one)).slice(0, 5),
      [],
      `${next} covers ${name}`,
    );
  }
  context.diagnostic(`names in ${TIERS.join(", ")}: ${counts.join(", ")}`);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  assert.ok(counts[0]! > 500 && counts[4]! > 50_000);
}

test(
  "a maintainer's build: sixty real lists, ranks, five tiers and ten formats from sixty lines, on two days",
  { timeout: 1_200_000, skip: missingCorpus },
  async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "maintainer-"));
    const web = mkdtempSync(join(tmpdir(), "maintainer-web-"));
    context.after(() => {
      for (const one of [folder, web]) rmSync(one, { recursive: true });
    });
    const lists = chosenLists();
    assert.equal(lists.length, LISTS);
    const server = await serveLists([web]);
    context.after(() => server.close());
    for (const { name, text } of lists) writeFileSync(join(web, `${name}.txt`), text);
    const ranks = ranksOf(lists);
    writeFileSync(join(folder, "top.csv"), ranks);
    const config = configFor(lists, server.base);
    assert.ok(config.trimEnd().split("\n").length <= MOST_LINES, config);
    writeFileSync(join(folder, "c.yaml"), config);

    const first = await compile(folder);
    assertTiers(folder, context);

    // The next day every list loses some lines and has some of another, and one has two mistakes.
    for (const [index, { name, text }] of lists.entries()) {
      const others = lists[(index + 1) % LISTS]!.text.split("\n").slice(20, 40);
      const lines = text.split("\n").filter((_, line) => line < 20 || line % 97 !== 0);
      const mistakes = index === 7 ? ["||wikipedia.org^", "||everyday.example^"] : [];
      writeFileSync(join(web, `${name}.txt`), [...lines, ...others, ...mistakes, ""].join("\n"));
    }
    const second = await compile(folder);
    assertTiers(folder, context);
    assert.match(second.stderr, /S8 would block 1 name that people need.*: wikipedia\.org/);
    assert.match(second.stderr, /everyday\.example \(rank 3\)/);
    for (const name of TIERS)
      for (const needed of ["wikipedia.org", "everyday.example"])
        assert.ok(!matcherOf(folder, name)(needed), `${name}: ${needed}`);

    const readme = `# Lists\n\n${say(folder, "stats", "-c", "c.yaml", "--filter", "Ultimate", "--markdown")}`;
    writeFileSync(join(folder, "README.md"), readme);
    for (const { name } of lists) assert.match(readme, new RegExp(`^\\| ${name} `, "m"));
    const changes = say(folder, "log", "--markdown", "-c", "c.yaml", "--filter", "Ultimate");
    assert.match(changes, /^## /m);
    const again = await compile(folder);
    for (const [name, { seconds, megabytes }] of Object.entries({
      first,
      second,
      unchanged: again,
    }))
      context.diagnostic(`${name} day: ${seconds} s, ${megabytes} MB`);
  },
);
