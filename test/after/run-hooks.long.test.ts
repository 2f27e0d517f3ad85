import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { readArgs, wordsFor } from "../../src/cli/flags/options.ts";
import { BAD, GOOD, HookProject, script } from "../support/hook-project.ts";

/** Appends its input to a file. */
const APPEND = ["tee", "-a", "said"];
/** Appends its variables, too. */
const KEEP = script(
  `const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^RULES_|PLANTED/.test(name)));
   const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
   require("fs").appendFileSync("said", JSON.stringify({ ...input, env, cwd: process.cwd() }) + "\\n");`,
);
const ALL = ["published", "refused", "degraded", "recovered", "failed"];

test("a program receives the event as JSON and as variables, and nothing else of the environment", async (t) => {
  const project = new HookProject(t, [{ run: KEEP }], { outputs: [{ format: "hosts" }] });
  await project.run("-c", "c.json", "--no-cache");
  project.lines([...GOOD, "||four.example^"]);
  const { exit, stderr } = await project.run("-c", "c.json", "--no-cache", "--permit", "hooks");
  assert.equal(exit, 0, stderr);
  const [said, ...more] = project.said("said");
  assert.deepEqual(more, []);
  const output = join(project.folder, "rules/my-list.txt");
  assert.deepEqual(
    said!["files"],
    ["rules/my-list.txt", "rules/my-list.hosts"].map((file) => project.published(file)),
  );
  assert.equal(said!["added"], 1);
  assert.equal(said!["cwd"], project.folder);
  const {
    RULES_COMPILER_AT: at,
    RULES_COMPILER_BUILD: build,
    ...env
  } = said!["env"] as Record<string, string>;
  assert.deepEqual(env, {
    RULES_COMPILER_EVENT: "published",
    RULES_COMPILER_LIST: "My list",
    RULES_COMPILER_OUTPUT: output,
    RULES_COMPILER_FILES: "2",
    RULES_COMPILER_RULES: "4",
    RULES_COMPILER_ADDED: "1",
    RULES_COMPILER_REMOVED: "0",
    RULES_COMPILER_DEGRADED: "0",
    RULES_COMPILER_TIMEOUT: "60",
    RULES_COMPILER_UNPROVED: "0",
    RULES_COMPILER_MESSAGE: "My list: published; 4 rules; 1 added; 0 removed",
  });
  assert.equal(at, said!["at"]);
  assert.match(build!, /^[0-9a-f]{16}$/);
  assert.equal(build, said!["build"]);
});

test("a message has every published file: patches, files over several lists, and a manifest at its end", async (t) => {
  const lists = ["One", "Two"].map((name) => ({ name, sources: ["A"] }));
  const more = {
    lists,
    patches: "7d",
    combined: [{ format: "unbound-tags", file: "tags.conf" }],
    outputs: [{ format: "hosts", split: { max_rules: 2 } }],
  };
  const project = new HookProject(t, [{ run: APPEND }], more);
  await project.run("-c", "c.json");
  project.lines([...GOOD, "||four.example^"]);
  await project.run("-c", "c.json");
  // The hooks catch up after a build that was not repeated.
  const { stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  const [one] = project.said("said");
  const files = one!["files"] as { path: string }[];
  const names = files.map(({ path }) => path.slice(project.folder.length + 1));
  assert.deepEqual(
    names.map((name) => name.replace(/_v.*/, "")),
    [
      "rules/one.txt",
      "rules/one.hosts",
      "rules/one-2.hosts",
      "rules/tags.conf",
      "rules/patches/one",
    ],
    stderr,
  );
  assert.deepEqual(
    files,
    names.map((name) => project.published(name)),
  );
  project.lines([...GOOD, "||four.example^", "||five.example^"]);
  project.hooks([{ run: APPEND }], { ...more, manifest: { file: "{slug}.json" } });
  await project.run("-c", "c.json", "--permit", "hooks");
  const last = project.said("said").at(-1)!["files"] as { path: string }[];
  assert.ok(last.at(-1)!.path.endsWith("two.json"));
});

test("hooks do not run without --permit hooks, and one line reports it", async (t) => {
  const project = new HookProject(t, [{ run: APPEND, on: ALL }, { run: APPEND }]);
  for (const lines of [GOOD, BAD, GOOD.slice(1)]) {
    project.lines(lines);
    const { stderr } = await project.run("-c", "c.json", "--no-cache");
    assert.equal(stderr.split("hooks-skipped").length, 2, stderr);
    assert.match(stderr, /note\[hooks-skipped\]: 2 hooks skipped/);
  }
  for (const words of [["validate"], ["plan"], ["why", "one.example"], ["stats"]])
    await project.run(...words, "-c", "c.json");
  assert.ok(!project.has("said"));
  assert.ok(!project.has("rules/.rules-compiler/my-list.txt.hooks.json"));
  await project.run("plan", "-c", "c.json", "--permit", "hooks");
  assert.ok(!project.has("said"));
});

test("a state is reported when it begins, and files when they change", async (t) => {
  const project = new HookProject(t, [{ run: APPEND, on: ALL }]);
  const steps: [readonly string[] | undefined, readonly string[]][] = [
    [GOOD, ["published"]],
    [GOOD, []],
    [BAD, ["refused"]],
    [BAD, []],
    [GOOD, ["recovered"]],
    [[...GOOD, "||four.example^"], ["published"]],
    [undefined, ["failed"]],
    [undefined, []],
    [BAD, ["refused"]],
    [GOOD.slice(1), ["published", "recovered"]],
  ];
  let seen = 0;
  for (const [index, [lines, expected]] of steps.entries()) {
    const missing = [{ name: "A", source: "missing.txt", type: "adblock" }];
    project.hooks([{ run: APPEND, on: ALL }], lines === undefined ? { sources: missing } : {});
    if (lines !== undefined) project.lines(lines);
    await project.run("-c", "c.json", "--permit", "hooks");
    const events = project.said("said").map(({ event }) => event);
    assert.deepEqual(events.slice(seen), expected, `step ${index}`);
    seen = events.length;
  }
});

test("a degraded list is reported once, and its recovery", async (t) => {
  const other = { name: "B", source: "b.txt", type: "adblock", required: false };
  const sources = [{ name: "A", source: "a.txt", type: "adblock" }, other];
  const project = new HookProject(t, [{ run: APPEND, on: ["degraded", "recovered"] }], { sources });
  // No hook runs for a first list that is not complete.
  assert.equal((await project.run("-c", "c.json", "--permit", "hooks")).exit, 3);
  assert.deepEqual(project.said("said"), []);
  await project.run("-c", "c.json", "--permit", "hooks");
  await project.run("-c", "c.json", "--permit", "hooks");
  project.write("b.txt", "||b.example^\n");
  await project.run("-c", "c.json", "--permit", "hooks");
  const said = project.said("said");
  assert.deepEqual(
    said.map(({ event, degraded }) => [event, degraded]),
    [
      ["degraded", ["B"]],
      ["recovered", []],
    ],
  );
});

test("a hook that failed runs again without a second message, and the others do not run", async (t) => {
  const fragile = ["test", "-e", "ready"];
  const project = new HookProject(t, [{ run: fragile }, { run: APPEND }]);
  const first = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(first.exit, 0);
  assert.match(first.stderr, /warning\[hook-failed\]: Hook failed: run [^]*because: exit code 1/);
  const second = await project.run("-c", "c.json", "--permit", "hooks");
  assert.doesNotMatch(second.stderr, /hook-/);
  project.write("ready", "");
  const third = await project.run("-c", "c.json", "--permit", "hooks", "-q");
  assert.match(
    third.stderr,
    /^note\[hook-failed\]: The hook run test works again, after 1 second\n$/,
  );
  const fourth = await project.run("-c", "c.json", "--permit", "hooks");
  assert.doesNotMatch(fourth.stderr, /hook-/);
  assert.equal(project.said("said").length, 1);
});

test("a reload that failed is tried again even if the next list is refused", async (t) => {
  const project = new HookProject(t, [{ run: ["test", "-e", "ready"] }, { run: APPEND, on: ALL }]);
  await project.run("-c", "c.json", "--permit", "hooks");
  project.write("ready", "");
  project.lines(BAD);
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 5);
  assert.match(stderr, /Hook ran: run test, published/);
  const said = project.said("said").map(({ event }) => event);
  assert.deepEqual(said, ["published", "refused"]);
});

test("a publish whose hooks never ran is caught up on", async (t) => {
  const project = new HookProject(t, [{ run: APPEND }]);
  await project.run("-c", "c.json", "--permit", "hooks");
  project.lines([...GOOD, "||four.example^"]);
  // As if the run was killed after publishing.
  await project.run("-c", "c.json");
  await project.run("-c", "c.json", "--permit", "hooks");
  assert.deepEqual(
    project.said("said").map(({ rules }) => rules),
    [3, 4],
  );
});

test("a reload runs once for several lists, a program once for each", async (t) => {
  const lists = [{ name: "One" }, { name: "Two" }, { name: "Three" }];
  const project = new HookProject(t, [{ run: APPEND }, { reload: "dnsmasq", pid_file: "none" }], {
    lists,
  });
  const { exit, stderr } = await project.run("-c", "c.json", "--permit", "hooks");
  assert.equal(exit, 0);
  const names = project.said("said").map(({ list }) => list);
  assert.deepEqual(names, ["One", "Two", "Three"]);
  assert.equal(stderr.split("Hook failed: reload dnsmasq").length, 2, stderr);
  const again = await project.run("-c", "c.json", "--permit", "hooks", "--verbose");
  assert.equal(again.stderr.split("Hook failed: reload dnsmasq").length, 2);
  assert.equal(project.said("said").length, 3);
});

test("a damaged state counts as missing", async (t) => {
  const project = new HookProject(t, [{ run: APPEND }]);
  await project.run("-c", "c.json", "--permit", "hooks");
  const file = "rules/.rules-compiler/my-list.txt.hooks.json";
  const whole = project.text(file);
  const damaged = [
    "",
    "null",
    "7",
    '{"version":1,"files":7,"told":{}}',
    '{"version":1}',
    '{"version":1,"told":{"a":7}}',
  ];
  for (const [index, text] of [...damaged, whole.slice(0, -9)].entries()) {
    project.write(file, text);
    const { exit } = await project.run("-c", "c.json", "--permit", "hooks");
    assert.equal(exit, 0);
    assert.equal(project.said("said").length, index + 2, text);
  }
});

test("serve passes --permit hooks on to every run", () => {
  const args = readArgs(["serve", "--permit", "hooks", "--port", "0", "-c", "c.json"]);
  assert.deepEqual(wordsFor("compile", args), ["--config=c.json", "--permit=hooks"]);
  assert.deepEqual(wordsFor("status", args), ["--port=0"]);
});
