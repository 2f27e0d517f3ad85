import assert from "node:assert/strict";
import { test } from "node:test";
import { FORMAT_NAMES } from "../../src/config/outputs.ts";
import { MemoryProject } from "../support/memory-project.ts";
import { listIn } from "../support/documents.ts";

const ABOUT = {
  description: "Ads",
  version: "{date}.{time}-{count}",
  homepage: "https://example.org",
  license: "MIT",
  expires: "1d",
  header: ["Issues: https://example.org/issues", "# Built {date}", ""],
};

function project(about: object, outputs: readonly object[] = []): MemoryProject {
  return new MemoryProject({
    "c.json": JSON.stringify({
      name: "My list",
      sources: [{ name: "First", source: "a.txt", type: "adblock" }],
      transformations: ["Compress", "InsertFinalNewLine"],
      outputs,
      ...about,
    }),
    "a.txt": "||a.example^\n||b.example^\n@@||c.a.example^\n",
  });
}

const COMPILE = ["compile", "-c", "c.json", "--no-cache", "--json"];

async function outcomes(of: MemoryProject, ...words: string[]): Promise<string[]> {
  const { stdout, stderr, exit } = await of.run(...COMPILE, ...words);
  assert.equal(exit, 0, stderr);
  const { outputs } = listIn(stdout) as { outputs: { outcome: string }[] };
  return outputs.map(({ outcome }) => outcome);
}

test("the header has the fields that subscribers read, with placeholders replaced", async () => {
  const made = project(ABOUT);
  made.now = "2026-01-31T09:30:59Z";
  await outcomes(made);
  const head = made.text("rules/my-list.txt").split("\n").slice(0, 14);
  // The last text, not an empty line, has the blanks that keep the size of the header.
  assert.match(head[12]!, /^! Compiled by \S.* $/);
  assert.equal(head[13], "!");
  assert.deepEqual(
    head.map((line) => line.trimEnd()),
    [
      "!",
      "! Title: My list",
      "! Expires: 1 day",
      "! Description: Ads",
      "! Version: 20260131.0930-3",
      "! Homepage: https://example.org",
      "! License: MIT",
      "! Issues: https://example.org/issues",
      "! Built 20260131",
      "!",
      "! Last modified: 2026-01-31T09:30:59.000Z",
      "!",
      head[12]!.trimEnd(),
      "!",
    ],
  );
});

test("every format with comments has the same header, with the number of its entries", async () => {
  const made = project(
    ABOUT,
    FORMAT_NAMES.map((format) => ({ format, file: `${format}.out` })),
  );
  await outcomes(made);
  // The files of dnsdist and sing-box have no comments.
  assert.equal(made.text("rules/dnsdist.out"), "a.example\nb.example\n");
  for (const format of FORMAT_NAMES) {
    if (format === "dnsdist" || format === "sing-box") continue;
    const text = made.text(`rules/${format}.out`);
    const entries =
      format === "json"
        ? (JSON.parse(text) as { rules: unknown[] }).rules.length
        : Number(/Number of entries: (?<count>\d+)/.exec(text)?.groups?.["count"]);
    for (const line of [
      "Title: My list",
      "Expires: 1 day",
      `Version: 20261110.0000-${entries}`,
      "License: MIT",
      "Issues: https://example.org/issues",
      "Built 20261110",
      `Number of entries: ${entries}`,
    ])
      assert.ok(text.includes(line), `${format}: ${line}\n${text}`);
  }
  const hosts = made.text("rules/hosts.out").match(/^0\.0\.0\.0 /gm)!.length;
  assert.match(made.text("rules/hosts.out"), new RegExp(`^# Number of entries: ${hosts}$`, "m"));
  assert.match(made.text("rules/dnscrypt.allow.out"), /Number of entries: 1$/m);
});

test("new rules make a new version, a new date in the header does not", async () => {
  const made = project(ABOUT, [{ format: "hosts" }, { format: "rpz" }, { format: "json" }]);
  assert.deepEqual(await outcomes(made), ["written", "written", "written", "written"]);
  const before = made.text("rules/my-list.txt");
  made.now = "2026-11-12T13:14:15Z";
  assert.deepEqual(await outcomes(made), ["unchanged", "unchanged", "unchanged", "unchanged"]);
  assert.equal(made.text("rules/my-list.txt"), before);
  made.write("a.txt", "||a.example^\n||d.example^\n@@||c.a.example^\n");
  assert.deepEqual(await outcomes(made), ["written", "written", "written", "written"]);
  assert.match(made.text("rules/my-list.txt"), /Version: 20261112\.1314-3/);
});

test("another `version` of the same length makes a new version", async () => {
  const made = project({ version: "a{date}" });
  await outcomes(made);
  made.write(
    "c.json",
    new TextDecoder().decode(project({ version: "b{date}" }).memory.files.get("/project/c.json")),
  );
  assert.deepEqual(await outcomes(made), ["written"]);
});

test("a plan that is applied the next day does not rewrite a list with the same rules", async () => {
  const made = project(ABOUT);
  await outcomes(made);
  const before = made.text("rules/my-list.txt");
  made.now = "2026-11-12T13:14:15Z";
  await made.run("plan", "-c", "c.json", "--no-cache", "--save", "my.plan");
  const { stdout, exit, stderr } = await made.run("apply", "my.plan", "--json");
  assert.equal(exit, 0, stderr);
  assert.match(stdout, /"outcome":"unchanged"/);
  assert.equal(made.text("rules/my-list.txt"), before);
});

test("the positions in the record are right, however many digits the count has", async () => {
  const made = project({ header: ["Rules: {count}"] });
  const lines = Array.from({ length: 1200 }, (_, index) => `||n${index}.example^`);
  made.write("a.txt", `${lines.join("\n")}\n`);
  await outcomes(made);
  assert.match(made.text("rules/my-list.txt"), /^! Rules: 1200$/m);
  const { stdout, exit, stderr } = await made.run("why", "n77.example", "-c", "c.json", "--json");
  assert.equal(exit, 0, stderr);
  assert.match(stdout, /\|\|n77\.example\^/);
});

test("a header line stays one comment, whatever it contains", async () => {
  const made = project({ header: ["a\n||evil.example^", "b\u001b[2J\u202ec", "! d", "{what}"] }, [
    { format: "hosts" },
  ]);
  await outcomes(made);
  const list = made.text("rules/my-list.txt");
  assert.match(list, /^! a \|\|evil\.example\^$/m);
  assert.match(list, /^! b \[2J c$/m);
  assert.match(list, /^! d$/m);
  assert.match(list, /^! \{what\}$/m);
  assert.match(made.text("rules/my-list.hosts"), /^# a \|\|evil\.example\^$/m);
});

test("the expiry in the header is in whole hours or days", async () => {
  for (const [expires, text] of [
    ["12h", "12 hours"],
    ["4d", "4 days"],
    ["48h", "2 days"],
    ["36h", "36 hours"],
    ["90s", "1 hour"],
    ["12 hours", "12 hours"],
    ["1 day", "1 day"],
  ]) {
    const made = project({ expires });
    await outcomes(made);
    assert.match(made.text("rules/my-list.txt"), new RegExp(`^! Expires: ${text}$`, "m"));
  }
});

test("dates and serials make no new version, even in a very long header", async () => {
  const header = Array.from(
    { length: 300 },
    (_, index) => `Line ${index} of many, at {time}, ${"x".repeat(40)}`,
  );
  const made = project({ header }, [{ format: "rpz" }]);
  assert.deepEqual(await outcomes(made), ["written", "written"]);
  made.now = "2026-11-12T13:14:15Z";
  assert.deepEqual(await outcomes(made), ["unchanged", "unchanged"]);
});
