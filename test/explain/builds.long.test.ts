import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryProject, type Said } from "../support/memory-project.ts";
import { listIn, nameIn } from "../support/documents.ts";

const CONFIG = JSON.stringify({
  name: "My list",
  sources: [
    { name: "Ads", source: "ads.txt" },
    { name: "Own", source: "own.txt" },
  ],
  transformations: ["RemoveComments", "Deduplicate", "InsertFinalNewLine"],
});
const PLACE = ["-c", "c.json", "-o", "l.txt"] as const;
const WORDS = [...PLACE, "--no-cache"] as const;

/** Three mornings, and a list that grows and shrinks a little. */
async function threeMornings(): Promise<MemoryProject> {
  const project = new MemoryProject({
    "c.json": CONFIG,
    "ads.txt": "||a.example^\n||b.example^\n",
    "own.txt": "||own.example^\n",
  });
  for (const [day, ads] of [
    ["13", "||a.example^\n||b.example^\n"],
    ["14", "||a.example^\n||c.example^\n"],
    ["15", "||a.example^\n||c.example^\n||d.example^\n"],
  ] as const) {
    project.now = `2026-11-${day}T06:00:00Z`;
    project.write("ads.txt", ads);
    const { exit, stderr } = await project.run("compile", "-q", ...WORDS);
    assert.equal(exit, 0, stderr);
  }
  return project;
}

async function json(said: Promise<Said>): Promise<Record<string, unknown>> {
  return listIn((await said).stdout) as Record<string, unknown>;
}

async function why(project: MemoryProject, name: string): Promise<Record<string, unknown>> {
  const { stdout } = await project.run("why", name, "--json", ...WORDS);
  return nameIn(stdout) as Record<string, unknown>;
}

test("why shows how long a rule has been in the list", async () => {
  const project = await threeMornings();
  const since = async (name: string): Promise<unknown> => (await why(project, name))["since"];
  assert.deepEqual(await since("d.example"), { at: "2026-11-15T06:00:00.000Z", isOldest: false });
  assert.deepEqual(await since("c.example"), { at: "2026-11-14T06:00:00.000Z", isOldest: false });
  assert.deepEqual(await since("a.example"), { at: "2026-11-13T06:00:00.000Z", isOldest: true });
  assert.equal(await since("nowhere.example"), undefined);
  const { stdout } = await project.run("why", "c.example", "a.example", ...WORDS);
  assert.match(stdout, /^ {2}since 2026-11-14 06:00 UTC$/m);
  assert.match(stdout, /^ {2}since 2026-11-13 06:00 UTC or earlier: no older build is stored$/m);
});

test("the age of a rule that was removed and added again counts from its return", async () => {
  const project = await threeMornings();
  project.now = "2026-11-16T06:00:00Z";
  project.write("ads.txt", "||b.example^\n||c.example^\n||d.example^\n");
  await project.run("compile", "-q", ...WORDS);
  const { since } = await why(project, "b.example");
  assert.deepEqual(since, { at: "2026-11-16T06:00:00.000Z", isOldest: false });
});

test("builds are compared by number and by day", async () => {
  const project = await threeMornings();
  for (const operands of [
    ["@2", "@0"],
    ["@2026-11-13", "@2026-11-15T06"],
  ]) {
    const { exit, stdout } = await project.run("diff", "--json", ...PLACE, ...operands);
    assert.equal(exit, 0);
    const change = listIn(stdout) as Record<string, unknown>;
    assert.deepEqual(change["added"], ["||c.example^", "||d.example^"]);
    assert.deepEqual(change["removed"], ["||b.example^"]);
    assert.deepEqual(change["bySource"], [{ label: "Ads", added: 2, removed: 1 }]);
  }
  const same = await project.run("diff", ...PLACE, "@0", "@0");
  assert.equal(same.exit, 0);
  const gone = await project.run("diff", ...PLACE, "@7", "@0");
  assert.equal(gone.exit, 2);
  assert.match(gone.stderr, /error\[build-missing\].*@7/);
  assert.match(gone.stderr, /3 builds stored, since 2026-11-13T06/);
});

test("log --markdown shows what each build changed", async () => {
  const project = await threeMornings();
  const { stdout } = await project.run("log", "--markdown", ...PLACE);
  assert.equal(
    stdout,
    `# My list

## 2026-11-15 06:00 UTC

4 rules: 1 added, 0 removed.

- Newly blocked: 1 name, \`d.example\`
- By source: Ads +1 −0

## 2026-11-14 06:00 UTC

3 rules: 1 added, 1 removed.

- Newly blocked: 1 name, \`c.example\`
- No longer blocked: 1 name, \`b.example\`
- By source: Ads +1 −1
`,
  );
  const document = await json(project.run("log", "--markdown", "--json", ...PLACE));
  assert.equal(document["markdown"], stdout);
  assert.deepEqual(
    (document["changes"] as { at: string }[]).map(({ at }) => at.slice(0, 10)),
    ["2026-11-15", "2026-11-14"],
  );
});

test("builds with the same list share its text as long as one is kept", async () => {
  const project = await threeMornings();
  project.write("c.json", CONFIG.replace("{", '{"keep_builds":8,'));
  for (let day = 16; day < 25; day++) {
    project.now = `2026-11-${day}T06:00:00Z`;
    // A comment is dropped: another build, the same list.
    project.write("own.txt", `! day ${day}\n||own.example^\n`);
    const { exit, stderr } = await project.run("compile", "-q", ...WORDS);
    assert.equal(exit, 0, stderr);
  }
  const copies = [...project.memory.files.keys()].filter((path) => path.includes(".list-"));
  assert.equal(copies.length, 1, copies.join());
  const { exit, stdout } = await project.run("diff", "--json", ...PLACE, "@7", "@0");
  assert.equal(exit, 0, stdout);
  const { since } = await why(project, "d.example");
  assert.deepEqual(since, { at: "2026-11-17T06:00:00.000Z", isOldest: true });
});

test("the next run copies a list that was published without a record", async () => {
  const project = await threeMornings();
  project.now = "2026-11-16T06:00:00Z";
  project.write("ads.txt", "||a.example^\n||new.example^\n||d.example^\n");
  await project.run("compile", "-q", ...WORDS, "--no-record");
  project.now = "2026-11-17T06:00:00Z";
  await project.run("compile", "-q", ...WORDS);
  const { stdout } = await project.run("diff", "--json", ...PLACE, "@1", "@0");
  assert.deepEqual((listIn(stdout) as { added: string[] }).added, ["||new.example^"]);
});

test("a single build cannot be compared, and the message says so", async () => {
  const files = { "c.json": CONFIG, "ads.txt": "||a.example^\n", "own.txt": "||b.example^\n" };
  const project = new MemoryProject(files);
  await project.run("compile", "-q", ...WORDS);
  const { exit, stdout, stderr } = await project.run("log", "--markdown", ...PLACE);
  assert.deepEqual([exit, stdout], [0, "# My list\n"]);
  assert.match(stderr, /one build is stored/);
});

test("at most as many builds are kept as the configuration says, with text and record", async () => {
  const project = await threeMornings();
  project.write("c.json", CONFIG.replace("{", '{"keep_builds":8,'));
  for (let day = 16; day < 27; day++) {
    project.now = `2026-11-${day}T06:00:00Z`;
    project.write("own.txt", `||own${day}.example^\n`);
    await project.run("compile", "-q", ...WORDS);
  }
  const kept = [...project.memory.files.keys()].filter((path) =>
    path.includes("/.rules-compiler/"),
  );
  assert.equal(kept.filter((path) => path.endsWith(".record.gz")).length, 8);
  assert.equal(kept.filter((path) => path.includes(".list-")).length, 8);
});

test("apply publishes what plan showed, whatever happened to the sources", async () => {
  const project = await threeMornings();
  project.write("ads.txt", "||a.example^\n||c.example^\n||d.example^\n||e.example^\n");
  const planned = await project.run("plan", "--save", "my.plan", ...WORDS);
  assert.equal(planned.exit, 0);
  project.write("ads.txt", "||evil.example^\n");
  const before = project.text("l.txt");
  project.now = "2026-11-16T06:00:00Z";
  const applied = await project.run("apply", "my.plan", "--permit", "paths", "--json");
  assert.equal(applied.exit, 0, applied.stderr);
  const report = listIn(applied.stdout) as { outputs: unknown; rules: number };
  assert.deepEqual(report.outputs, [{ file: "l.txt", outcome: "written" }]);
  assert.equal(report.rules, 5);
  const now = project.text("l.txt");
  assert.match(now, /^\|\|e\.example\^$/m);
  assert.doesNotMatch(now, /evil/);
  assert.notEqual(now, before);
  const { rule } = await why(project, "e.example");
  assert.equal((rule as { source: string }).source, "Ads");
  const again = await project.run("apply", "my.plan", "--permit", "paths");
  assert.equal(again.exit, 5, "what is there now is not what the plan was for");
  assert.match(again.stderr, /^error\[plan-outdated\]: l\.txt is already the list of this plan$/m);
  const { events } = await json(project.run("log", "--json", ...PLACE));
  const [{ from }] = events as [{ from: { source: string; sha256?: string }[] }];
  assert.deepEqual(
    from.map(({ source, sha256 }) => [source, sha256 !== undefined]),
    [
      ["Ads", false],
      ["Own", true],
    ],
    "the file of Ads is not what was read",
  );
  project.write("l.txt", "||other.example^\n");
  const changed = await project.run("apply", "my.plan", "--permit", "paths");
  assert.match(changed.stderr, /l\.txt has changed since the plan was saved$/m);
});

test("a plan that a guard refuses is applied only with --accept", async () => {
  const project = await threeMornings();
  project.write("ads.txt", "||com^\n");
  assert.equal((await project.run("plan", "--save", "my.plan", ...WORDS)).exit, 5);
  const refused = await project.run("apply", "my.plan", "--permit", "paths");
  assert.equal(refused.exit, 5);
  assert.match(refused.stderr, /error\[blocks-suffix\]/);
  assert.doesNotMatch(project.text("l.txt"), /\|\|com\^/);
  const accept = ["--accept", "blocks-protected", "--accept", "blocks-suffix"];
  assert.equal((await project.run("apply", "my.plan", "--permit", "paths", ...accept)).exit, 0);
  assert.match(project.text("l.txt"), /^\|\|com\^$/m);
});

test("an invalid plan is not applied", async () => {
  const project = await threeMornings();
  project.write("x.plan", "||a.example^\n");
  project.write("old.plan", '{"plan":1,"tool":"0.0.0","files":[]}\n');
  project.write(
    "half.plan",
    project.text("c.json").replace("{", '{"plan":1,"tool":"0.1.0","files":[],'),
  );
  for (const name of ["x.plan", "old.plan", "gone.plan", "half.plan"]) {
    const { exit, stderr } = await project.run("apply", name);
    assert.equal(exit, 2, name);
    assert.match(stderr, /error\[plan-unreadable\]: Cannot apply/);
  }
  await project.run("plan", "--save", "cut.plan", ...WORDS);
  project.write(
    "cut.plan",
    project
      .text("cut.plan")
      .slice(0, -400)
      .replace(/\n[^]*$/, "\n||"),
  );
  assert.equal((await project.run("apply", "cut.plan", "--permit", "paths")).exit, 2);
  assert.equal((await project.run("apply")).exit, 2);
});

test("locations are links only in terminals that support links", async () => {
  const files = { "c.json": CONFIG, "ads.txt": "||a.example^\n", "own.txt": "||own.example^\n" };
  const isTerminal = {
    write: () => {},
    send: () => Promise.resolve(),
    isTerminal: true,
    columns: 100,
  };
  for (const [env, isLinked] of [
    [{ TERM_PROGRAM: "WezTerm" }, true],
    [{ VTE_VERSION: "6003" }, true],
    [{ TERM: "xterm" }, false],
    [{ TERM_PROGRAM: "WezTerm", FORCE_HYPERLINK: "0" }, false],
  ] as const) {
    let said = "";
    const stdout = {
      ...isTerminal,
      send: (text: unknown) => Promise.resolve(void (said += String(text))),
    };
    const project = new MemoryProject(files, { env, stdout });
    await project.run("compile", "-q", ...WORDS);
    await project.run("why", "a.example", ...WORDS);
    const link = "\u001b]8;;file:///project/ads.txt#L1\u001b\\Ads:1\u001b]8;;\u001b\\";
    assert.equal(said.includes(link), isLinked, JSON.stringify(env));
  }
});
