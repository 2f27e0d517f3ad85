import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "src/cli/bin.ts");

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
}
const { runs } = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as {
  runs: { steps: Step[] };
};
const compileStep = runs.steps.find(({ id }) => id === "compile")!.run!;
const commitStep = runs.steps.find((step) => step.if?.includes("inputs.commit"))!.run!;
const skip = process.platform === "win32" && "the action's steps are for bash";

/** A repository with a configuration, in which the steps of the action are run as a runner does it. */
class Repository {
  readonly folder: string;

  constructor(context: TestContext, config: object, sources: Readonly<Record<string, string>>) {
    this.folder = mkdtempSync(join(tmpdir(), "action-"));
    context.after(() => rmSync(this.folder, { recursive: true, force: true }));
    mkdirSync(join(this.folder, "bin"));
    mkdirSync(join(this.folder, "work"));
    const npx = join(this.folder, "bin", "npx");
    // Without what npx would fetch: `npx --yes rules-compiler@VERSION …`
    writeFileSync(npx, `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${BIN}' "$@"\n`);
    chmodSync(npx, 0o755);
    this.write("compiler-config.json", JSON.stringify(config));
    for (const [name, text] of Object.entries(sources)) this.write(name, text);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, "work", name), text);
  }

  step(
    script: string,
    env: Readonly<Record<string, string>> = {},
  ): { status: number; said: string } {
    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["--noprofile", "--norc", "-eo", "pipefail", "-c", script],
      {
        cwd: join(this.folder, "work"),
        encoding: "utf8",
        env: {
          ...process.env,
          PATH: `${join(this.folder, "bin")}${delimiter}${process.env["PATH"]}`,
          XDG_CACHE_HOME: join(this.folder, "cache"),
          GITHUB_OUTPUT: join(this.folder, "output"),
          GITHUB_ACTION_PATH: ROOT,
          CONFIG: "compiler-config.json",
          OUTPUT: "",
          VERSION: "0.0.0",
          STRICT: "false",
          ...env,
        },
      },
    );
    return { status: status ?? -1, said: stdout + stderr };
  }

  /** What the step put out, as a runner reads it. */
  get outputs(): Record<string, string> {
    const text = readFileSync(join(this.folder, "output"), "utf8");
    const found: Record<string, string> = {};
    const lines = text.split("\n");
    for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
      const [, name = "", end = ""] = /^(\w+)<<(.+)$/.exec(line) ?? [];
      if (name !== "") found[name] = lines.splice(0, lines.indexOf(end)).join("\n");
      const [, key = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (key !== "") found[key] = value;
    }
    return found;
  }

  git(...words: string[]): string {
    return execFileSync("git", words, { cwd: join(this.folder, "work"), encoding: "utf8" });
  }
}

test("the action puts out what a list is", { skip }, (context) => {
  const config = { name: "One", sources: [{ name: "a", type: "adblock", source: "a.txt" }] };
  const repository = new Repository(context, config, { "a.txt": "||a.example^\n||b.example^\n" });
  const { status, said } = repository.step(compileStep);
  assert.equal(status, 0, said);
  const { rules, degraded, file, files } = repository.outputs;
  assert.deepEqual(
    [rules, degraded, file, files],
    ["2", "false", "rules/one.txt", "rules/one.txt"],
  );
});

const SEVERAL = {
  name: "All",
  sources: [
    { name: "a", type: "adblock", source: "a.txt" },
    { name: "b", type: "adblock", source: "b.txt" },
  ],
  outputs: [{ format: "hosts" }],
  lists: [
    { name: "Small", sources: ["a"] },
    { name: "Large", sources: ["a", "b"] },
    { name: "Other", sources: ["b"] },
  ],
};

test(
  "the action takes a configuration with several lists, and commits all files",
  { skip },
  (context) => {
    const sources = { "a.txt": "||a.example^\n", "b.txt": "||b.example^\n||c.example^\n" };
    const repository = new Repository(context, SEVERAL, sources);
    const { status, said } = repository.step(compileStep);
    assert.equal(status, 0, said);
    const { rules, file, files = "" } = repository.outputs;
    assert.equal(rules, "6");
    assert.equal(file, "rules/large.txt");
    assert.equal(files.split("\n").length, 6, files);
    repository.git("init", "-q", "-b", "main");
    execFileSync("git", ["init", "-q", "--bare", join(repository.folder, "remote")]);
    repository.git("remote", "add", "origin", join(repository.folder, "remote"));
    repository.git("config", "push.autoSetupRemote", "true");
    const committed = repository.step(commitStep, { FILES: files });
    assert.equal(committed.status, 0, committed.said);
    const names = repository.git("ls-tree", "-r", "--name-only", "origin/main").trim().split("\n");
    for (const name of files.split("\n")) assert.ok(names.includes(name), name);
    assert.ok(names.includes("rules/.rules-compiler/large.txt.json"));
    const again = repository.step(commitStep, { FILES: files });
    assert.equal(again.status, 0, again.said);
    assert.equal(repository.git("rev-list", "--count", "HEAD").trim(), "1");
  },
);

test("the action takes a report that is larger than a command line", { skip }, (context) => {
  const count = 700;
  const names = Array.from({ length: count }, (_, index) => `source-${index}-${"x".repeat(60)}`);
  const config = {
    name: "Many",
    sources: names.map((name) => ({ name, type: "adblock", source: `${name}.txt` })),
  };
  const sources = Object.fromEntries(
    names.map((name, index) => [`${name}.txt`, `||n${index}.example^\n`]),
  );
  const repository = new Repository(context, config, sources);
  const report = repository.step(`npx --yes x compile --json -c "$CONFIG" --no-record`);
  assert.ok(report.said.length > 128 * 1024, `${report.said.length} bytes`);
  const { status, said } = repository.step(compileStep);
  assert.equal(status, 0, said);
  assert.equal(repository.outputs["rules"], String(count));
});

test("the action fails when the list could not be made", { skip }, (context) => {
  const config = { name: "One", sources: [{ name: "a", type: "adblock", source: "gone.txt" }] };
  const repository = new Repository(context, config, {});
  const { status, said } = repository.step(compileStep);
  assert.equal(status, 4, said);
  assert.match(said, /gone\.txt/);
});
