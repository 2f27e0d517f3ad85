import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { commands } from "../../src/cli/commands/registry.ts";
import { takes } from "../../src/cli/flags/options.ts";
import { Exit } from "../../src/diagnostics/codes.ts";
import { type Host, memoryHost } from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const URL_A = "https://lists.example/a.txt";

function projectOf(sources: readonly object[], outputs: readonly object[] = []): string {
  return JSON.stringify({ name: "My list", sources, outputs });
}

/** Runs commands in one world, long after its files were written. */
async function say(words: string, host: Host): Promise<{ exit: Exit; lines: string[] }> {
  let stderr = "";
  const sink = { ...host.stderr, write: (text: string) => void (stderr += text) };
  const argv = words.split(" ").filter((word) => word !== "");
  const exit = await run(argv, { ...host, stderr: sink }, new AbortController().signal);
  return { exit, lines: stderr.split("\n").filter((line) => line.startsWith("debug: ")) };
}

function assertRounded(lines: readonly string[]): void {
  for (const line of lines) assert.doesNotMatch(line, /\d\.\d\d/, "times are rounded");
}

test("--debug reports every step of a build, and of one that is not needed", async () => {
  const web = new ScriptedWeb({
    "compiler-config.json": projectOf(
      [
        { name: "Web", source: URL_A, type: "hosts" },
        { name: "Own", source: "own.txt", type: "adblock" },
      ],
      [{ format: "hosts" }],
    ),
    "own.txt": "||own.example^\n",
  });
  web.time = new Date(Date.now() + 3_600_000);
  const text = "0.0.0.0 ads.example.com\n";
  web.answers[URL_A] = [{ status: 503 }, { body: text, headers: { etag: '"1"' } }, { status: 304 }];
  const first = await say("-d --cache-dir cache", web.host);
  assert.equal(first.exit, Exit.Done, first.lines.join("\n"));
  assertRounded(first.lines);
  const all = first.lines.join("\n");
  for (const step of [
    /^debug: configuration: .*compiler-config\.json$/m,
    /^debug: cache: \/project\/cache$/m,
    /^debug: fetch Web: retry 1 in .* s: .*status 503$/m,
    /^debug: fetch Web: fetched, 24 B, .*s$/m,
    /^debug: Own: \w+, .*s$/m,
    /^debug: compile: 2 rules, .*s$/m,
    /^debug: guards: passed, .*s$/m,
    /^debug: output rules\/my-list\.txt: written$/m,
    /^debug: output rules\/my-list\.hosts: written$/m,
    /^debug: publish: 2 files, .*s$/m,
    /^debug: record: kept, .*s$/m,
  ])
    assert.match(all, step);
  const again = await say("-d --cache-dir cache", web.host);
  assert.equal(again.exit, Exit.Done);
  assertRounded(again.lines);
  const lines = again.lines.join("\n");
  assert.match(lines, /^debug: configuration: .*compiler-config\.json$/m);
  assert.match(lines, /^debug: fetch Web: unchanged, cached copy used, .*s$/m);
  assert.match(lines, /^debug: compile: skipped, nothing changed since the last build$/m);
});

test("--debug says why nothing is compiled when all files are as they were", async () => {
  const host = memoryHost({
    files: {
      "compiler-config.json": projectOf([{ name: "Own", source: "own.txt", type: "adblock" }]),
      "own.txt": "||own.example^\n",
    },
    now: new Date(Date.now() + 3_600_000),
  });
  await say("-d --cache-dir cache", host);
  const { exit, lines } = await say("-d --cache-dir cache", host);
  assert.equal(exit, Exit.Done);
  const all = lines.join("\n");
  assert.match(all, /^debug: configuration: /m);
  assert.match(all, /^debug: compile: skipped, nothing changed since the last build$/m);
});

test("--debug names the guard that refuses, and a source that a cached copy replaces", async () => {
  const web = new ScriptedWeb({
    "compiler-config.json": projectOf([{ name: "Web", source: URL_A, type: "hosts" }]),
  });
  web.answers[URL_A] = "0.0.0.0 ads.example.com\n";
  await say("-d --cache-dir cache", web.host);
  delete web.answers[URL_A];
  const stale = await say("-d --cache-dir cache", web.host);
  assert.match(stale.lines.join("\n"), /^debug: fetch Web: failed, cached copy used, .*s$/m);
  web.answers[URL_A] = "||com^\n";
  const refused = await say("-d --cache-dir none", web.host);
  assert.equal(refused.exit, Exit.Guard);
  assert.match(refused.lines.join("\n"), /^debug: guards: refused by too-few-rules, .*s$/m);
});

test("--debug reports settings, steps and the end of every command", async () => {
  const host = memoryHost({
    files: {
      "compiler-config.json": projectOf([{ name: "Own", source: "own.txt", type: "adblock" }]),
      "own.txt": "||own.example^\n",
    },
  });
  await say("", host);
  const operands: Readonly<Record<string, string>> = {
    apply: "none.plan",
    diff: "own.txt own.txt",
    why: "own.example",
    audit: "own.txt",
    lint: "own.txt",
    verify: "none.json",
    completions: "bash",
  };
  // They end with a signal, or have no network here.
  const others = new Set(["watch", "serve", "help"]);
  for (const { name } of commands.filter((one) => !others.has(one.name))) {
    const { lines } = await say(`${name} -d ${operands[name] ?? ""}`.trim(), host);
    assert.match(lines.at(-1)!, new RegExp(`^debug: ${name}: (?:exit \\d+|failed), .*s$`));
    assertRounded(lines);
    if (!takes(name, "config")) continue;
    assert.match(
      lines.join("\n"),
      /^debug: configuration: \/project\/compiler-config\.json$/m,
      name,
    );
    assert.ok(lines.length >= 3, `${name}: ${lines.join("\n")}`);
  }
  const { lines } = await say("--validate --verbose", host);
  assert.match(lines.join("\n"), /^debug: read \/project\/compiler-config\.json: .* bytes, .*s$/m);
  assert.match(lines.at(-1)!, /^debug: validate: exit 0, /);
});

test("with --json, debug output is JSON lines", async () => {
  const files = {
    "compiler-config.json": projectOf([{ source: "own.txt" }]),
    "own.txt": "a.example",
  };
  const host = memoryHost({ files });
  await run(["compile", "-d", "--json"], host, new AbortController().signal);
  const lines = host.output.stderr.trim().split("\n");
  const told = lines.map((line) => JSON.parse(line) as { severity: string; message: string });
  const steps = told.filter(({ severity }) => severity === "debug");
  assert.ok(
    steps.some(({ message }) => message.startsWith("compile: 1 rule, ")),
    lines.join("\n"),
  );
});

test("a variable with an unknown value is reported, and its default is used", async () => {
  const files = {
    "compiler-config.json": projectOf([{ name: "Own", source: "own.txt", type: "adblock" }]),
    "own.txt": "||own.example^\n",
  };
  const LEVEL = "RULESCOMPILER_Logging__LogLevel__Default";
  const said = async (env: Record<string, string>, words = ""): Promise<string> => {
    const host = memoryHost({ files, env });
    const argv = words.split(" ").filter((word) => word !== "");
    assert.equal(await run(argv, host, new AbortController().signal), Exit.Done);
    return host.output.stderr;
  };
  for (const value of ["1", "yes", "*", "express:*", "on"]) {
    const stderr = await said({ DEBUG: value });
    assert.match(stderr, /^warning\[environment-ignored\]: DEBUG must be true or false, not /);
    assert.doesNotMatch(stderr, /^debug: /m);
  }
  for (const value of ["Bogus", "warn", "5"])
    assert.match(
      await said({ [LEVEL]: value }),
      /^warning\[environment-ignored\]: RULESCOMPILER_Logging__LogLevel__Default must be Trace, Debug, Information, Warning, Error, Critical or None, not /,
    );
  for (const env of [
    { DEBUG: "true" },
    { DEBUG: "True" },
    { DEBUG: "false" },
    { DEBUG: "" },
    { [LEVEL]: "Information" },
    { [LEVEL]: "" },
    { DEBUG: "false", [LEVEL]: "Debug" },
  ])
    assert.doesNotMatch(await said(env), /environment-ignored/);
  assert.match(await said({ DEBUG: "false", [LEVEL]: "Debug" }), /^debug: /m);
  assert.equal(await said({ DEBUG: "1" }, "-q"), "");
  assert.doesNotMatch(await said({ DEBUG: "\u001b[31m" }), /\u001b/);
});
