import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { commands } from "../../src/cli/commands/registry.ts";
import { PROGRAM } from "../support/command.ts";

/** Completions in the real shells, and the manual page in a real formatter. */
const folder = mkdtempSync(join(tmpdir(), "shells-"));
after(() => rmSync(folder, { recursive: true }));

function scriptFor(shell: string): string {
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, "completions", shell], {
    encoding: "utf8",
  });
  assert.equal(status, 0);
  const path = join(folder, `_rules-compiler.${shell}`);
  writeFileSync(path, stdout);
  return path;
}

function run(program: string, ...words: string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    encoding: "utf8",
    env: { ...process.env, HOME: folder, TERM: "dumb" },
  });
  assert.equal(status, 0, error?.message ?? stderr);
  assert.equal(stderr, "");
  return stdout.split("\n").filter((line) => line !== "");
}

const NAMES = commands.map(({ name }) => name).toSorted();

test("bash", () => {
  const script = scriptFor("bash");
  const complete = (...words: string[]): string[] => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const text = `source '${script}'; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _rules_compiler; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return run("bash", "--norc", "-c", text).toSorted();
  };
  assert.deepEqual(complete("rules-compiler", ""), NAMES);
  assert.deepEqual(complete("rules-compiler", "pl"), ["plan"]);
  assert.deepEqual(complete("rules-compiler", "stats", "--f"), ["--fate", "--filter"]);
  assert.deepEqual(complete("rules-compiler", "lint", "--fi"), ["--fix"]);
  assert.deepEqual(complete("rules-compiler", "plan", "--fi"), ["--filter"]);
  assert.deepEqual(complete("rules-compiler", "-t", "unb"), ["unbound"]);
  assert.deepEqual(complete("rules-compiler", "--accept", "blocks-"), [
    "blocks-protected",
    "blocks-suffix",
  ]);
});

test("fish", () => {
  const script = scriptFor("fish");
  const complete = (line: string): string[] =>
    run("fish", "--no-config", "-c", `source '${script}'; complete -C '${line}'`).map(
      (one) => one.split("\t")[0]!,
    );
  const found = complete("rules-compiler ").filter((one) => NAMES.includes(one));
  assert.deepEqual(found.toSorted(), NAMES);
  assert.deepEqual(complete("rules-compiler stats --f").toSorted(), ["--fate", "--filter"]);
  assert.deepEqual(complete("rules-compiler lint --fi"), ["--fix"]);
  assert.deepEqual(complete("rules-compiler --color a").toSorted(), ["always", "auto"]);
});

test("zsh", () => {
  const script = scriptFor("zsh");
  run("zsh", "-f", "-n", script);
  // A shell in a terminal of its own, because completion is part of its line editor.
  const text = `
    zmodload zsh/zpty
    zpty z zsh -f -i
    zpty -w z "PS1= ; autoload -U compinit; compinit -D -u; source '${script}'; print rea''dy"
    zpty -r z out '*ready*'
    zpty -n -w z $'rules-compiler stats --f\\t'
    out=
    for try in {1..100}; do
      while zpty -r -t z more; do out+=$more; done
      [[ $out == *--fate*--filter* ]] && break
      sleep 0.05
    done
    print -r -- "$out"
    zpty -d z`;
  const said = run("zsh", "-f", "-c", text).join("\n");
  assert.match(said, /--fate/);
  assert.match(said, /--filter/);
});

test("the manual page is well-formed and lists every command", () => {
  const page = join(import.meta.dirname, "../../docs/rules-compiler.1");
  const lint = spawnSync("mandoc", ["-T", "lint", "-W", "warning", page], { encoding: "utf8" });
  assert.equal(lint.stdout.replaceAll(/^.*missing date.*\n/gm, ""), "");
  const text = run("mandoc", "-T", "ascii", page)
    .join("\n")
    .replaceAll(/.\u0008/g, "");
  for (const name of NAMES) assert.match(text, new RegExp(`^\\s+${name}\\b`, "m"));
  assert.match(text, /--accept NAME/);
});
