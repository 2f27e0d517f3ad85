import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import type { Host } from "../support/internals.ts";
import { assertScreen, withoutCodes } from "../support/screen.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { Exit } from "../../src/diagnostics/exit.ts";
import { memoryHost } from "../support/internals.ts";

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

/** A project whose screens are terminals. */
function terminal(files: Readonly<Record<string, string>> = FILES): MemoryProject {
  const host = memoryHost({ isTerminal: true });
  // As memory has it, but for what is written to.
  const project: MemoryProject = new MemoryProject(files, {
    stdout: {
      ...host.stdout,
      write: (text) => void (project.memory.output.stdout += text),
      send: async (data) => {
        const text = typeof data === "string" ? data : new TextDecoder().decode(data);
        project.memory.output.stdout += text;
      },
    },
    stderr: {
      ...host.stderr,
      write: (text) => void (project.memory.output.stderr += text),
    },
  });
  return project;
}

/** What is left when everything that was drawn over is gone. */
function lastScreen(text: string): string {
  return withoutCodes(text.replaceAll(/^[^]*\u001b\[J/g, ""));
}

test("the summary shows three reasons for each source, alarms first, and --verbose all of them", async () => {
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
