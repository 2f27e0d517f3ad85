import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import { type Host, memoryHost } from "../support/internals.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { assertScreen } from "../support/screen.ts";
import { lastScreen, terminalProject } from "../support/terminal-project.ts";

/** Screens as a person sees them in a terminal of 80 columns. */

const LONG = "A list of a maintainer whose names are rather longer than they need to be";
const SOURCES = [
  { name: LONG, source: "long.txt", type: "hosts" },
  { name: "Own", source: "own.txt", type: "adblock" },
];

function hosts(count: number, start: string): string {
  return Array.from({ length: count }, (_, at) => `0.0.0.0 ${start}${at}.example.com\n`).join("");
}

const BAD = `||bad host^
/(/
x
||com^
||example.org^$removeparam=x
||1.2.3.4^
`;

const FILES: Readonly<Record<string, string>> = {
  "compiler-config.json": JSON.stringify({
    name: "My list",
    sources: SOURCES,
    transformations: ["RemoveComments", "Compress", "Validate", "TrimLines"],
    exclusions: ["excluded.example"],
  }),
  "long.txt": `# comment\n\n127.0.0.1 localhost\n0.0.0.0 ads.example.com\n0.0.0.0 excluded.example\n${hosts(1200, "x.ads")}${hosts(30, "a.b.ads")}0.0.0.0 metrics.ads.example.com\n`,
  "own.txt": `! own\n\n||ads.example.com^\n||tracker.example.net^$important\n${BAD}`,
};

const terminal = (files: Readonly<Record<string, string>> = FILES): MemoryProject =>
  terminalProject(files);

test("the summary shows as many reasons as fit, alarms first and with their lines, and --verbose all of them", async () => {
  const brief = await terminal().run("--color", "never");
  assert.equal(brief.exit, Exit.Done, brief.stderr);
  const shown = lastScreen(brief.stderr);
  assertScreen("summary", shown);
  assert.match(shown, /^ +Own .* public-suffix 1,/m, "whatever else the source has");
  const whole = await terminal().run("--color", "never", "--verbose");
  const all = lastScreen(whole.stderr).replaceAll(/^debug: .*\n(?: {4}.*\n)*/gm, "");
  assertScreen("summary-verbose", all.replaceAll(/\d\.\d s/g, "0.0 s"));
  for (const reason of ["bad-modifier 1", "bad-syntax 1", "ip-address 1"]) {
    assert.ok(!shown.includes(reason), reason);
    assert.ok(all.includes(reason), reason);
  }
});

test("the summary counts the exceptions that allow adds to the list", async () => {
  const config = {
    name: "My list",
    sources: [{ source: "own.txt", name: "Own" }],
    allow: ["free.ads.example.com", "unneeded.example"],
    allow_sources: ["allowed.txt"],
  };
  const { stderr } = await terminal({
    "compiler-config.json": JSON.stringify(config),
    "own.txt": "||ads.example.com^\n||x.example^\n",
    "allowed.txt": "a.x.example\nb.x.example\n",
  }).run("--color", "never");
  const shown = lastScreen(stderr);
  assert.match(shown, /^ +allow +3 +exceptions of allow$/m);
  assert.match(shown, /^ +total +2 +5 +0$/m);
  assert.match(shown, /written .*: 5 rules/);
});

test("one bad line among thousands is shown, whatever else the source has", async () => {
  const names = Array.from({ length: 2000 }, (_, at) => `||n${at}.example^\n`).join("");
  const rest = "! a\n! b\nexample.org##.ad\nexample.org###ad\n||n7.example^\n||com^\n";
  const words = ["-i", "up.txt", "-o", "list.txt", "--color", "never"];
  const { stderr } = await terminal({ "up.txt": names + rest }).run(...words);
  const shown = lastScreen(stderr);
  assertScreen("summary-bad-line", shown);
  assert.match(shown, /^ {2}up\.txt .* public-suffix 1/m);
  assert.match(shown, /^ {2}up\.txt:2006 {2}\|\|com\^ {2}dropped: public-suffix$/m);
});

test("a run does not repeat warnings, except with --strict", async () => {
  const project = terminal({
    "compiler-config.json": JSON.stringify({
      name: "L",
      sources: [{ name: "A", source: "a.txt", type: "adblock" }],
      transformations: ["Validate"],
    }),
    "a.txt": "||com^\n||a.example^\n",
  });
  const words = ["--cache-dir", "cache", "--color", "never"];
  const first = await project.run(...words);
  assert.match(first.stderr, /own-lines\]: a\.txt:1 is not in the list: public-suffix/);
  assert.doesNotMatch(first.stderr, /dropped: public-suffix/, "said once");
  project.now = "2026-11-11T00:00:00Z";
  const second = await project.run(...words);
  assert.match(second.stderr, /^unchanged rules\/l\.txt/m);
  assert.doesNotMatch(second.stderr, /warning\[|dropped: /);
  assert.match((await project.run(...words, "--strict")).stderr, /warning\[own-lines\]/);
  project.write("a.txt", "||com^\n||b.example^\n");
  const third = await project.run(...words);
  assert.match(third.stderr, /^written rules\/l\.txt/m);
  assert.doesNotMatch(third.stderr, /warning\[/);
});

test("what is asked about a build fits the screen", async () => {
  const project = terminal();
  await project.run();
  for (const [screen, ...words] of [
    ["why", "why", "metrics.ads.example.com"],
    ["stats", "stats"],
    ["validate", "validate"],
    ["lines", "stats", "--fate"],
    ["lines-of-a-fate", "stats", "--fate", "bad-syntax", "--fate", "covered"],
  ]) {
    const { exit, stdout, stderr } = await project.run(...words, "--color", "never");
    assert.equal(exit, Exit.Done, stderr);
    assertScreen(screen!, stdout + stderr);
  }
  project.write("own.txt", `! own\n||ads.example.com^\n${BAD}||new.example^\n`);
  const plan = await project.run("plan", "--color", "never");
  assertScreen("plan", plan.stdout);
});

test("an error fits the screen, and its words stay whole", async () => {
  const project = terminal({
    "compiler-config.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "a", source: "gone.txt", type: "hosts" }],
      transformations: ["compress"],
    }),
  });
  const { exit, stderr } = await project.run("--color", "never");
  assert.equal(exit, Exit.Usage);
  assertScreen("error", lastScreen(stderr));
});

test("without a configuration the screen shows how to begin", async () => {
  const host: Host = memoryHost({ files: {}, isTerminal: true });
  const { output } = host as ReturnType<typeof memoryHost>;
  assert.equal(await run(["--color", "never"], host, new AbortController().signal), Exit.Usage);
  assertScreen("begin", output.stderr);
});

test("elsewhere than on a terminal nothing is cut or wrapped", async () => {
  const project = new MemoryProject(FILES);
  const { stderr } = await project.run();
  assert.ok(stderr.includes(LONG));
  const why = await project.run("why", "metrics.ads.example.com");
  assert.match(why.stdout, /covered, another line blocks a parent domain: .*:\d+$/m);
});
