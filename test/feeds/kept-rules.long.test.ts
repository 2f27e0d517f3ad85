import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject } from "../support/memory-project.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const URL_A = "https://feed.example/newest.txt";
const CACHE = ["--cache-dir", "/cache"];
const FEED = { name: "feed", source: URL_A, type: "domains", remember: "30d" };

function rulesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !/^[!#]/.test(line));
}

/** A project whose feed has one name each day. */
class FeedProject extends MemoryProject {
  readonly web: ScriptedWeb;

  constructor(more: object = {}, source: object = {}) {
    const web = new ScriptedWeb();
    const guards = { min_rules: 0, max_shrink: 100 };
    const config = { name: "L", sources: [{ ...FEED, ...source }], guards, ...more };
    super(
      { "compiler-config.json": JSON.stringify(config) },
      { fetch: (request) => web.host.fetch(request) },
    );
    this.web = web;
  }

  async day(day: string, text: string, ...args: string[]): Promise<string> {
    this.now = `2026-11-${day}T12:00:00Z`;
    this.web.answers[URL_A] = text;
    const { exit, stderr } = await this.run("compile", ...CACHE, ...args);
    assert.equal(exit, 0, stderr);
    return stderr;
  }
}

test("why says when a line was first seen, and which lines are kept", async () => {
  const project = new FeedProject();
  await project.day("01", "a.example.com\n");
  await project.day("02", "a.example.com\nb.example.com\n");
  await project.day("03", "c.example.com\n");
  assert.deepEqual(rulesIn(project.text("rules/l.txt")).toSorted(), [
    "a.example.com",
    "b.example.com",
    "c.example.com",
  ]);
  const names = ["a.example.com", "b.example.com", "c.example.com"];
  const { stdout } = await project.run("why", ...CACHE, ...names);
  assert.match(
    stdout,
    /feed \(kept\):\d {2}a\.example\.com {2}kept, first seen 2026-11-01 12:00 UTC/,
  );
  assert.match(
    stdout,
    /feed \(kept\):\d {2}b\.example\.com {2}kept, first seen 2026-11-02 12:00 UTC/,
  );
  assert.match(stdout, /feed:1 {2}c\.example\.com {2}kept, first seen 2026-11-03 12:00 UTC/);
  const json = await project.run("why", ...CACHE, "--json", "a.example.com");
  assert.match(json.stdout, /"firstSeen": ?"2026-11-01T12:00:00\.000Z"/);
});

test("a frozen build repeats what was kept and what was too old", async () => {
  const project = new FeedProject({}, { max_age: "2d" });
  await project.day("01", "old.example.com\na.example.com\n");
  await project.day("04", "old.example.com\nb.example.com\n", "--update");
  const before = project.text("rules/l.txt");
  assert.deepEqual(rulesIn(before), ["b.example.com"]);
  // Later builds change the ledger, but not the lock.
  const lock = project.text("rules.lock");
  const copies = [...project.memory.files].filter(([path]) => path.startsWith("/cache/objects/"));
  await project.day("05", "c.example.com\n");
  assert.notEqual(project.text("rules.lock"), lock);
  project.write("rules.lock", lock);
  for (const [path, bytes] of copies) project.memory.files.set(path, bytes);
  await project.day("09", "d.example.com\n", "--frozen");
  assert.equal(project.text("rules/l.txt"), before);
  const { stdout } = await project.run("why", ...CACHE, "old.example.com");
  assert.match(stdout, /too-old, first seen longer ago than `max_age` permits/);
});

test("a frozen build without the kept rules fails", async () => {
  const project = new FeedProject();
  await project.day("01", "a.example.com\n");
  await project.day("02", "b.example.com\n", "--update");
  const { exit, stderr } = await project.run("compile", "--cache-dir", "/other", "--frozen");
  assert.notEqual(exit, 0);
  assert.match(stderr, /lock-mismatch/);
});

test("a damaged ledger is reported, and the source starts again", async () => {
  const project = new FeedProject();
  await project.day("01", "a.example.com\n");
  await project.day("02", "b.example.com\n");
  for (const [path, bytes] of project.memory.files)
    if (path.startsWith("/cache/objects/") && new TextDecoder().decode(bytes).includes("ledger"))
      project.memory.files.set(
        path,
        bytes.map((byte) => byte ^ 1),
      );
  const said = await project.day("03", "c.example.com\n");
  assert.match(said, /ledger-damaged\]: feed has lost what it kept/);
  assert.deepEqual(rulesIn(project.text("rules/l.txt")), ["c.example.com"]);
  await project.day("04", "d.example.com\n");
  assert.deepEqual(rulesIn(project.text("rules/l.txt")).toSorted(), [
    "c.example.com",
    "d.example.com",
  ]);
});

test("several lists agree, and a local source keeps rules, too", async () => {
  const sources = [
    { name: "feed", source: "feed.txt", type: "urls", remember: "10d" },
    { name: "more", source: "more.txt", type: "hosts" },
  ];
  const lists = [
    { name: "All" },
    { name: "Sure", min_sources: 2 },
    { name: "Feed", sources: ["feed"] },
  ];
  const guards = { min_rules: 0, max_shrink: 100 };
  const project = new MemoryProject({
    "compiler-config.json": JSON.stringify({ name: "L", sources, lists, guards }),
    "more.txt": "0.0.0.0 a.example.com\n0.0.0.0 x.example.com\n",
    "feed.txt": "http://a.example.com/\nhttp://b.example.com/\n",
  });
  project.now = "2026-11-01T00:00:00Z";
  assert.equal((await project.run("compile", ...CACHE)).exit, 0);
  project.now = "2026-11-05T00:00:00Z";
  project.write("feed.txt", "http://c.example.com/\nhttp://d.example.com/path\n");
  const { exit, stderr } = await project.run("compile", ...CACHE);
  assert.equal(exit, 0, stderr);
  const namesIn = (list: string): string[] =>
    rulesIn(project.text(`rules/${list}.txt`))
      .map((rule) => rule.replace(/^0\.0\.0\.0 /, ""))
      .toSorted();
  const feed = ["a.example.com", "b.example.com", "c.example.com"];
  assert.deepEqual(namesIn("feed"), feed);
  assert.deepEqual(namesIn("all"), ["a.example.com", ...feed, "x.example.com"].toSorted());
  assert.deepEqual(namesIn("sure"), ["a.example.com", "a.example.com"]);
  const why = await project.run("why", ...CACHE, "--filter", "Sure", "b.example.com");
  assert.match(why.stdout, /few-sources, fewer sources have it than `min_sources` requires/);
  const { stdout } = await project.run("stats", ...CACHE, "--filter", "Sure", "--json");
  assert.match(stdout, /"few-sources": ?2/);
  // After the time of keep, the old names are gone, without a change of any file.
  project.now = "2026-11-12T00:00:00Z";
  assert.equal((await project.run("compile", ...CACHE)).exit, 0);
  assert.deepEqual(namesIn("feed"), ["c.example.com"]);
  assert.deepEqual(namesIn("sure"), []);
});

test("without a cache, keep has no effect, and says so", async () => {
  const project = new FeedProject();
  project.web.answers[URL_A] = "a.example.com\n";
  const { exit, stderr } = await project.run("compile", "--no-cache");
  assert.equal(exit, 0, stderr);
  assert.match(stderr, /keep-needs-cache/);
});

/** So many names that no other day has. */
function namesOf(day: string, count: number): string {
  return Array.from({ length: count }, (_, n) => `n${1000 + n}.d${day}.example.com\n`).join("");
}

test("a source and what it kept stay within max_bytes, and the oldest rules go first", async () => {
  const bytes = namesOf("01", 100).length;
  const project = new FeedProject({}, { max_bytes: bytes * 2.5 });
  await project.day("01", namesOf("01", 100));
  assert.doesNotMatch(await project.day("02", namesOf("02", 100)), /keep-limited/);
  const said = await project.day("03", namesOf("03", 100));
  assert.match(said, /keep-limited\]: feed may not keep so much: 50 rules .*\n.*max_bytes/);
  const count = (): Record<string, number> =>
    Object.fromEntries(
      ["01", "02", "03", "04"].map((day) => [
        day,
        rulesIn(project.text("rules/l.txt")).filter((rule) => rule.includes(`.d${day}.`)).length,
      ]),
    );
  assert.deepEqual(count(), { "01": 50, "02": 100, "03": 100, "04": 0 });
  // It lasts, and so it is not reported again. What was forgotten does not come back.
  assert.doesNotMatch(await project.day("04", namesOf("04", 50)), /keep-limited/);
  assert.deepEqual(count(), { "01": 0, "02": 100, "03": 100, "04": 50 });
});

test("many runs in a day do not make a source keep more than it may grow", async () => {
  const project = new FeedProject();
  await project.day("01", namesOf("01", 1000));
  for (let run = 0; run < 8; run++) {
    // Half of the names are those of the day before, so that the source itself is within its limits.
    const answer = namesOf("01", 500) + namesOf(`02-${run}`, 500);
    project.web.answers[URL_A] = answer;
    project.now = `2026-11-02T${String(12 + run).padStart(2, "0")}:00:00Z`;
    const { exit, stderr } = await project.run("compile", ...CACHE);
    assert.equal(exit, 0, stderr);
    assert.equal(/keep-limited.*\n.*max_growth/.test(stderr), run === 5, stderr);
  }
  // Its own rules, those of the day before, and twice as many of this day.
  const rules = rulesIn(project.text("rules/l.txt"));
  const of = (run: string): number => rules.filter((rule) => rule.includes(`.d${run}.`)).length;
  assert.deepEqual(["01", "02-7", "02-6", "02-3", "02-2"].map(of), [1000, 500, 500, 500, 0]);
  assert.equal(rules.length, 1000 + 500 + 4 * 500);
});

test("two configurations do not share what they saw", async () => {
  const project = new FeedProject();
  await project.day("01", "a.example.com\n");
  project.memory.files.set(
    "/project/other/compiler-config.json",
    project.memory.files.get("/project/compiler-config.json")!,
  );
  await project.day("02", "b.example.com\n", "-c", "other/compiler-config.json");
  assert.deepEqual(rulesIn(project.text("rules/l.txt")), ["b.example.com"]);
});

test("settings of keep are checked", async () => {
  const bad: readonly (readonly [object, object, RegExp])[] = [
    [{}, { max_age: "1d", remember: undefined }, /max_age needs remember/],
    [{}, { type: "rpz" }, /remember is not for type rpz/],
    [{ min_sources: 2 }, {}, /min_sources is 2, but L has 1 source/],
    [{ lists: [{ name: "A", min_sources: 3 }] }, {}, /min_sources is 3, but A has 1 source/],
  ];
  for (const [more, source, expected] of bad) {
    const { exit, stderr } = await new FeedProject(more, source).run("compile", ...CACHE);
    assert.notEqual(exit, 0);
    assert.match(stderr, expected);
  }
});
