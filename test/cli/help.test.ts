import assert from "node:assert/strict";
import { test } from "node:test";
import { commands } from "../../src/cli/commands/registry.ts";
import { SHOWN_FLAGS, takersOf } from "../../src/cli/flags/flags.ts";
import { COMPLETIONS } from "../../src/cli/commands/help.ts";
import { run } from "../../src/cli/main.ts";
import { textWidth } from "../../src/cli/output/reporter.ts";
import { CODES, EXIT_MEANINGS, Exit, codeEntry } from "../../src/diagnostics/codes.ts";
import { FATE_ENTRIES } from "../../src/explain/glossary.ts";
import { memoryHost } from "../support/internals.ts";
import { assertScreen } from "../support/screen.ts";

async function cli(words: string): Promise<{ exit: Exit; stdout: string; stderr: string }> {
  const host = memoryHost({ files: {} });
  const exit = await run(words.split(" "), host, new AbortController().signal);
  return { exit, ...host.output };
}

const NAMES = commands.map(({ name }) => name);

test("-h is one screen with every command, --help is everything", async () => {
  const brief = await cli("-h");
  assert.equal(brief.exit, Exit.Done);
  assertScreen("help-brief", brief.stdout);
  // A terminal of 24 rows shows the next prompt too.
  assert.ok(brief.stdout.trimEnd().split("\n").length <= 23, brief.stdout);
  for (const name of NAMES) assert.match(brief.stdout, new RegExp(`\\b${name}\\b`));
  assert.equal((await cli("help")).stdout, brief.stdout);
  const long = await cli("--help");
  assertScreen("help", long.stdout);
  for (const { name } of SHOWN_FLAGS)
    if (takersOf(SHOWN_FLAGS.find((flag) => flag.name === name)!)?.includes("compile") ?? true)
      assert.ok(long.stdout.includes(`--${name}`), name);
});

test("every command has a usage line, and shows only its own options", async () => {
  for (const { name, operands } of commands) {
    const { exit, stdout } = await cli(`help ${name}`);
    assert.equal(exit, Exit.Done);
    assert.equal((await cli(`${name} --help`)).stdout, stdout);
    const usage = /^Usage: rules-compiler \[?([a-z]+)\]? \[OPTIONS\](?: (.+))?$/m.exec(stdout);
    assert.deepEqual([usage?.[1], usage?.[2]], [name, operands], stdout);
    for (const line of stdout.split("\n")) assert.ok(textWidth(line) <= 80, line);
    const shown = [...stdout.matchAll(/^ {2}(?:-\w, | {4})--([a-z-]+)/gm)].map(([, flag]) => flag);
    const own = SHOWN_FLAGS.filter((flag) => takersOf(flag)?.includes(name) ?? true).map(
      (flag) => flag.name,
    );
    assert.deepEqual(new Set(shown), new Set(own), name);
  }
  assertScreen("help-plan", (await cli("help plan")).stdout);
});

test("COMMAND -h fits a screen of 24 rows and 80 columns, and names every option", async () => {
  for (const { name } of commands) {
    const { exit, stdout } = await cli(`${name} -h`);
    assert.equal(exit, Exit.Done);
    const lines = stdout.trimEnd().split("\n");
    assert.ok(lines.length <= 23, stdout);
    for (const line of lines) assert.ok(textWidth(line) <= 80, line);
    assert.match(stdout, new RegExp(`^Usage: rules-compiler \\[?${name}\\b`, "m"));
    assert.match(stdout, new RegExp(`help ${name}$`, "m"));
    const rows = [...stdout.matchAll(/^ {2}(-.*?)(?: {2}|$)/gm)].map(([, left]) => left);
    const named = `${rows.join(" ")} ${stdout.split("\n  also:")[1] ?? ""}`.split(/[\s,]+/);
    for (const flag of SHOWN_FLAGS) {
      const isNamed = named.includes(`--${flag.name}`) || named.includes(`-${flag.short}`);
      assert.equal(isNamed, takersOf(flag)?.includes(name) ?? true, `${name}: ${flag.name}`);
    }
  }
  assertScreen("help-plan-brief", (await cli("plan -h")).stdout);
});

test("a command refuses what it does not take, and names the commands that take it", async () => {
  for (const command of NAMES)
    for (const flag of SHOWN_FLAGS) {
      const takers = takersOf(flag);
      if (takers === undefined || takers.includes(command)) continue;
      const words = `${command} --${flag.name}${flag.value === undefined ? "" : "=1"}`;
      const { exit, stderr } = await cli(words);
      assert.equal(exit, Exit.Usage, words);
      assert.ok(stderr.includes(`${command} does not take --${flag.name}\n`), stderr);
      // It names its file without an option.
      const isOwnFile = command === "init" && flag.name === "output";
      const hint = isOwnFile ? "rules-compiler init 1" : `It is an option of ${takers.join(", ")}`;
      assert.ok(stderr.includes(`${hint}\n`), stderr);
    }
});

test("options name commands that exist", () => {
  for (const flag of SHOWN_FLAGS)
    for (const name of takersOf(flag) ?? [])
      assert.ok(NAMES.includes(name), `${flag.name} ${name}`);
});

test("help for a command that does not exist suggests one", async () => {
  const { exit, stderr } = await cli("help paln");
  assert.equal(exit, Exit.Usage);
  assert.match(stderr, /Unknown command: paln[^]*Did you mean "plan"\?/);
  assert.equal((await cli("help plan diff")).exit, Exit.Usage);
});

test("help explains every fate, and suggests one for a wrong word", async () => {
  const all = (await cli("help fates")).stdout;
  assertScreen("help-fates", all);
  for (const { name, rank, meaning, advice } of FATE_ENTRIES.values()) {
    const { exit, stdout } = await cli(`help ${name}`);
    assert.equal(exit, Exit.Done);
    const text = stdout.replaceAll(/\s+/g, " ");
    for (const part of [`${name}: ${meaning}`, `Rank: ${rank}.`, advice])
      assert.ok(text.includes(part.replaceAll("`", "")), stdout);
    assert.match(all, new RegExp(`^ {2}${name}\\s`, "m"));
    for (const line of stdout.split("\n")) assert.ok(textWidth(line) <= 80, line);
  }
  const { exit, stderr } = await cli("help publicsuffix");
  assert.equal(exit, Exit.Usage);
  assert.match(stderr, /Did you mean "public-suffix"\?/);
  for (const shell of ["bash", "zsh", "fish"])
    assert.match(COMPLETIONS[shell]!(), /help[^]*plan[^\n]* fates [^\n]*public-suffix/, shell);
});

test("help explains the code of every problem, also where a fate has the same name", async () => {
  for (const code of Object.keys(CODES) as (keyof typeof CODES)[]) {
    const { exit, stdout } = await cli(`help ${code}`);
    assert.equal(exit, Exit.Done);
    const entry = codeEntry(code);
    const text = stdout.replaceAll(/\s+/g, " ");
    const kind = entry.exit === undefined ? "A warning or a note." : `exit code ${entry.exit}.`;
    for (const part of [`${code}: ${entry.meaning}`, kind, entry.hint])
      assert.ok(text.includes(part.replaceAll("`", "")), stdout);
    for (const line of stdout.split("\n")) assert.ok(textWidth(line) <= 80, line);
  }
  assert.match((await cli("help cut-line")).stdout, /Rank: [^]*\ncut-line: [^]*What to do/);
  assert.match((await cli("help samefile")).stderr, /Did you mean "same-file"\?/);
  assert.doesNotMatch((await cli("help xyzzyxyzzy")).stderr, /\.\/xyzzyxyzzy/);
});

async function helpOf(command: string): Promise<string> {
  return (await cli(`${command} -h`)).stdout + (await cli(`help ${command}`)).stdout;
}

test("an option has the text of the command that it is shown for", async () => {
  const alive = await helpOf("alive");
  assert.match(alive, /--resolver NAME +Address of a recursive resolver without a list/);
  assert.match(alive, /--from FILE +What another tool saw/);
  assert.doesNotMatch(alive, /alias|audit/);
  assert.doesNotMatch(await helpOf("why"), /for alive/);
  assert.match(await helpOf("validate"), /--strict +Unknown keys are errors/);
  assert.match(await helpOf("lint"), /--format FORMAT +Form of the report/);
});

test("completions offer the options of the command that is typed", () => {
  const bash = COMPLETIONS["bash"]!();
  const offered = /^ {4}completions\) flags="(.*)" ;;$/m.exec(bash)![1]!.split(" ");
  assert.ok(!offered.includes("--memory"));
  assert.ok(offered.includes("--help"));
  const fish = COMPLETIONS["fish"]!();
  const memory = fish.split("\n").find((line) => line.includes("-l memory "))!;
  assert.match(memory, /__fish_seen_subcommand_from compile watch plan serve; or not /);
});

test("every exit code has one meaning, and no error has that of a change", () => {
  const codes = Object.values(Exit);
  assert.equal(new Set(codes).size, codes.length);
  assert.deepEqual(Object.keys(EXIT_MEANINGS), Object.keys(Exit));
  for (const code of Object.keys(CODES) as (keyof typeof CODES)[]) {
    const { exit } = codeEntry(code);
    assert.ok(exit !== Exit.Changes && exit !== Exit.Bug, code);
    // The decision is written: what was asked for is done.
    assert.equal(exit === Exit.Done, code === "published-text-lost", code);
  }
});
