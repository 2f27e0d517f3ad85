import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { blocksOf } from "../support/markdown.ts";

const ROOT = join(import.meta.dirname, "../..");
const BIN = join(ROOT, "dist/cli/bin.js");

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}
const { runs, inputs } = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as {
  runs: { steps: Step[] };
  inputs: { config: { default: string } };
};
const compileStep = runs.steps.find(({ id }) => id === "compile")!.run!;
const commitStep = runs.steps.find(({ run }) => run?.includes("commit-lists.sh"))!.run!;
const fixedStep = runs.steps.find(({ run }) => run?.includes("tell-fixed.sh"))!.run!;
const [restoreStep, saveStep] = ["restore", "save"].map(
  (what) => runs.steps.find(({ run = "" }) => run.endsWith(`records.sh" ${what}`))!.run!,
) as [string, string];
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
          CONFIG: inputs.config.default,
          OUTPUT: "",
          VERSION: "0.0.0",
          STRICT: "false",
          MODE: "compile",
          GITHUB_STEP_SUMMARY: join(this.folder, "summary"),
          ...env,
        },
      },
    );
    return { status: status ?? -1, said: stdout + stderr };
  }

  /** What the job says of itself. */
  get summary(): string {
    return readFileSync(join(this.folder, "summary"), "utf8");
  }

  /** A repository on a server, which this one is pushed to. */
  addRemote(): void {
    this.git("init", "-q", "-b", "main");
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", join(this.folder, "remote")]);
    this.git("remote", "add", "origin", join(this.folder, "remote"));
    this.git("config", "push.autoSetupRemote", "true");
  }

  /** Compiles and commits, as a scheduled workflow does. */
  publish(env: Readonly<Record<string, string>> = {}): string[] {
    const { status, said } = this.step(compileStep, env);
    assert.equal(status, 0, said);
    const { files = "" } = this.outputs;
    const committed = this.step(commitStep, { FILES: files });
    assert.equal(committed.status, 0, committed.said);
    return files.split("\n");
  }

  /** The files on the server. */
  pushed(): string[] {
    return this.git("ls-tree", "-r", "--name-only", "-z", "origin/main").split("\0").slice(0, -1);
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

  /** `gh` with the issues of a folder, each a file with its comments; it is closed by its name. */
  addIssues(...numbers: readonly string[]): void {
    const issues = join(this.folder, "issues");
    mkdirSync(issues);
    for (const number of numbers) writeFileSync(join(issues, number), "");
    const gh = join(this.folder, "bin", "gh");
    writeFileSync(
      gh,
      `#!/bin/sh
cd '${issues}' || exit 1
case "$2" in
  view) if [ -e "$3.closed" ] || grep -q '^Fixed in build ' "$3"; then echo true; else echo false; fi ;;
  comment) cat "$5" >> "$3" ;;
  close) touch "$3.closed" ;;
esac
`,
    );
    chmodSync(gh, 0o755);
  }

  /** What an issue was told. */
  told(number: string): string {
    return readFileSync(join(this.folder, "issues", number), "utf8");
  }

  git(...words: string[]): string {
    return execFileSync("git", words, { cwd: join(this.folder, "work"), encoding: "utf8" });
  }
}

test("the action sets its outputs for one list", { skip }, (context) => {
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

test("triage changes nothing in the checkout", { skip }, (context) => {
  const sources = [{ name: "a", type: "adblock", source: "a.txt" }];
  const config = {
    name: "One",
    sources,
    outputs: [{ format: "hosts" }],
    manifest: {},
    patches: "7d",
  };
  const repository = new Repository(context, config, { "a.txt": "||a.example^\n||b.example^\n" });
  repository.addRemote();
  const locked = repository.step(`npx --yes x compile -c "$CONFIG" --update`);
  assert.equal(locked.status, 0, locked.said);
  repository.git("add", "--all", "--force");
  repository.git("-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "all");
  repository.write("a.txt", "||a.example^\n||c.example^\n");
  const RUNNER_TEMP = repository.folder;
  const { status, said } = repository.step(compileStep, {
    MODE: "triage",
    ISSUE: "c.example is blocked",
    RUNNER_TEMP,
  });
  assert.equal(status, 0, said);
  const answer = readFileSync(join(RUNNER_TEMP, "rules-compiler-answer.md"), "utf8");
  assert.match(answer, /c\.example {2}BLOCKED/);
  assert.equal(repository.git("status", "--porcelain", "--ignored").trim(), "M a.txt");
});

test(
  "a maintainer decides in an issue, which is told when that is published and proved",
  { skip },
  (context) => {
    const config = { name: "One", sources: [{ source: "a.txt" }] };
    const repository = new Repository(context, config, {
      "a.txt": "||a.example^\n||b.example^\n",
    });
    repository.addRemote();
    repository.addIssues("7", "8");
    repository.git("add", "compiler-config.json", "a.txt");
    repository.git("-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "-qm", "Begin");
    repository.publish();
    const RUNNER_TEMP = repository.folder;
    const decide = (NUMBER: string, COMMENT: string): string => {
      const env = { MODE: "triage", NUMBER, COMMENT, RUNNER_TEMP };
      const { status, said } = repository.step(compileStep, env);
      assert.equal(status, 0, said);
      return readFileSync(join(RUNNER_TEMP, "rules-compiler-answer.md"), "utf8");
    };
    const tell = (): void => {
      const { status, said } = repository.step(fixedStep);
      assert.equal(status, 0, said);
    };
    tell();
    assert.equal(decide("7", "allow me to say: block nothing, see a.example"), "");
    assert.match(
      decide("7", "Sure.\nallow https://A.example/shop\n"),
      /Decided:[^]*allow a\.example {2}decisions\.txt:3, since \S+, #7[^]*next publish/,
    );
    assert.match(decide("8", "/block c.example --exact --until 2099-12-31"), /block c\.example/);
    assert.equal(
      repository.git("log", "-1", "--format=%s", "origin/main").trim(),
      "Decide: block c.example",
    );
    const many = [1, 2, 3, 4, 5, 6, 7].map((number) => `block n${number}.example`);
    assert.match(decide("9", many.join("\n")), /at most 5: write the other 2 again\.$/m);
    assert.equal(
      repository.git("log", "-1", "--format=%s", "origin/main").trim(),
      `Decide: ${many.slice(0, 5).join(", ")}`,
    );
    const decisions = repository.git("show", "origin/main:decisions.txt");
    assert.match(decisions, /^allow a\.example since \S+ ref #7$/m);
    assert.match(decisions, /^block c\.example exact since \S+ until 2099-12-31 ref #8$/m);
    tell();
    assert.equal(repository.told("7") + repository.told("8"), "", "nothing is published yet");
    // A resolver that does not answer from the list: published, and not proved.
    repository.write(
      "compiler-config.json",
      JSON.stringify({ ...config, resolvers: ["127.0.0.1:1"] }),
    );
    repository.publish();
    tell();
    assert.equal(repository.told("7") + repository.told("8"), "", "nothing is proved yet");
    repository.write("compiler-config.json", JSON.stringify(config));
    repository.publish();
    tell();
    const build = /^Fixed in build \d{4}-\d\d-\d\d \d\d:\d\d UTC \([0-9a-f]{12}\) of `One`: /;
    assert.match(repository.told("7"), build);
    assert.match(repository.told("7"), /`a\.example` is allowed\.\n$/);
    assert.match(repository.told("8"), /`c\.example` is blocked\.\n$/);
    const before = repository.told("7");
    tell();
    assert.equal(repository.told("7"), before, "once");
    rmSync(join(repository.folder, "issues", "7.closed"));
    tell();
    assert.ok(!existsSync(join(repository.folder, "issues", "7.closed")), "opened again");
  },
);

test("only people who may write to the repository decide", { skip }, (context) => {
  const { env } = runs.steps.find(({ id }) => id === "compile")!;
  assert.equal(
    env!["COMMENT"],
    "${{ steps.writer.outputs.writes == 'true' && github.event.comment.body || '' }}",
  );
  const writer = runs.steps.find(({ id }) => id === "writer")!;
  assert.match(writer.if!, /^inputs\.mode == 'triage' && contains\(/);
  const repository = new Repository(context, { name: "One", sources: [] }, {});
  const gh = join(repository.folder, "bin", "gh");
  for (const [permission, writes] of [
    ["admin", "true"],
    ["write", "true"],
    ["read", undefined],
    ["none", undefined],
    ["", undefined],
  ] as const) {
    const asked = `test "$2" = repos/o/r/collaborators/someone/permission`;
    writeFileSync(gh, `#!/bin/sh\n${asked} && test -n '${permission}' && echo '${permission}'\n`);
    chmodSync(gh, 0o755);
    rmSync(join(repository.folder, "output"), { force: true });
    const event = { GITHUB_REPOSITORY: "o/r", LOGIN: "someone" };
    const { status, said } = repository.step(writer.run!, event);
    assert.equal(status, 0, said);
    const { writes: found } = existsSync(join(repository.folder, "output"))
      ? repository.outputs
      : {};
    assert.equal(found, writes, permission);
  }
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
  "the action compiles a configuration with several lists and commits all files",
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
    repository.addRemote();
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

test("the action reads a report that is larger than a command line may be", { skip }, (context) => {
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
  const report = repository.step(`npx --yes x compile --json -c "$CONFIG"`);
  assert.ok(report.said.length > 128 * 1024, `${report.said.length} bytes`);
  const { status, said } = repository.step(compileStep);
  assert.equal(status, 0, said);
  assert.equal(repository.outputs["rules"], String(count));
});

test("the action fails if the list cannot be compiled", { skip }, (context) => {
  const config = { name: "One", sources: [{ name: "a", type: "adblock", source: "gone.txt" }] };
  const repository = new Repository(context, config, {});
  const { status, said } = repository.step(compileStep);
  assert.equal(status, 4, said);
  assert.match(said, /^::error title=source-not-found::File not found: gone\.txt/m);
  assert.match(repository.summary, /not published.*source-not-found.*gone/);
});

test("problems are annotations, and every outcome has a summary", { skip }, (context) => {
  const config = { name: "One", sources: [{ source: "a.txt" }] };
  const repository = new Repository(context, config, { "a.txt": "||a.example^\n" });
  repository.write("compiler-config.json", '{\n"name": "One",\n"sources": [{ "source": 1 }]\n}');
  const invalid = repository.step(compileStep);
  assert.equal(invalid.status, 2, invalid.said);
  assert.match(invalid.said, /^::error file=compiler-config\.json,line=3,col=\d+,title=config-/m);
  assert.match(
    repository.summary,
    /### Nothing was compiled\n\n- `config-.*compiler-config.json:3/,
  );
  repository.write("a.txt", "||a.example^\n!::error::x\n::error::not ours\n||b.example^$foo\n");
  repository.write("compiler-config.json", JSON.stringify({ ...config, guards: { min_rules: 9 } }));
  const refused = repository.step(compileStep);
  assert.equal(refused.status, 5, refused.said);
  assert.match(refused.said, /^::error title=too-few-rules::.*%0Ahint: /m);
  assert.doesNotMatch(refused.said, /^::error::/m);
  assert.match(repository.summary, /not published.*too-few-rules/);
});

test("a runner reads no command in a line that is not a problem", { skip }, (context) => {
  const repository = new Repository(context, { name: "One", sources: [] }, {});
  const lines = ["::warning::one", "  ::warning::two", "three ##[warning]three"];
  repository.write("problems", `${lines.join("\n")}\n`);
  const script = `node "$GITHUB_ACTION_PATH/packaging/action-outputs.mjs" < /dev/null > /dev/null`;
  const { said } = repository.step(script, { PROBLEMS: "problems", MODE: "compile" });
  for (const word of ["one", "two", "three"]) assert.match(said, new RegExp(word));
  assert.doesNotMatch(said, /^\s*::|##\[/m);
});

test("log, why and rollback work in a clone of what the action committed", { skip }, (context) => {
  const config = { name: "One", sources: [{ source: "a.txt" }] };
  const repository = new Repository(context, config, { "a.txt": "||a.example^\n" });
  repository.addRemote();
  repository.git("add", "compiler-config.json", "a.txt");
  repository.git("-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "-qm", "Begin");
  const work = join(repository.folder, "work");
  for (const list of ["||a.example^\n", "||a.example^\n||b.example^\n"]) {
    // A runner begins with a fresh checkout.
    if (existsSync(join(work, "rules"))) {
      repository.git("clean", "-qfdx");
      assert.deepEqual(repository.pushed().includes("rules/one.txt"), true);
    }
    repository.write("a.txt", list);
    assert.equal(repository.step(restoreStep).status, 0);
    repository.publish();
    const saved = repository.step(saveStep);
    assert.equal(saved.status, 0, saved.said);
  }
  const clone = join(repository.folder, "clone");
  execFileSync("git", ["clone", "-q", join(repository.folder, "remote"), clone]);
  const inClone = (...words: string[]): { status: number | null; said: string } => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...words], {
      cwd: clone,
      encoding: "utf8",
    });
    return { status, said: stdout + stderr };
  };
  const missing = inClone("why", "b.example");
  assert.equal(missing.status, 2, missing.said);
  const command = /git restore \S+ \S+ \S+/.exec(missing.said)?.[0] ?? "";
  const page = readFileSync(join(ROOT, "docs/guide/github-action.md"), "utf8");
  assert.ok(page.includes(command) && command !== "", missing.said);
  execFileSync("git", command.split(" ").slice(1), { cwd: clone });
  assert.match(inClone("why", "b.example").said, /BLOCKED|blocked/);
  const log = inClone("log");
  assert.equal(log.status, 0, log.said);
  assert.match(log.said, /@1/);
  const back = inClone("rollback");
  assert.equal(back.status, 0, back.said);
  assert.doesNotMatch(readFileSync(join(clone, "rules/one.txt"), "utf8"), /b\.example/);
});

/** The configurations of the cookbook, with files in place of what is on the web. */
function cookbook(): { title: string; text: string; sources: Record<string, string> }[] {
  const page = readFileSync(join(ROOT, "docs/guide/cookbook.md"), "utf8");
  return blocksOf(page)
    .filter(({ language, title }) => language === "yaml" && title !== undefined)
    .map(({ title, text }) => {
      const sources: Record<string, string> = {};
      const local = text
        .replace(/^ *mirrors:.*\n/gm, "")
        .replace("min_rules: 100000", "min_rules: 1")
        .replace(/(?<=source: )https:\S+/g, () => `web-${Object.keys(sources).length}.txt`);
      const files = [...local.matchAll(/[\w-]+\.txt/g)].map(([file]) => file);
      const names = Array.from({ length: 30 }, (_, index) => `name${index}.example.de`);
      for (const [index, file] of files.entries())
        sources[file] = /positives|sites|never/.test(file)
          ? "kept.example.org\n"
          : names.map((name) => `0.0.0.0 s${index}.${name}\n`).join("");
      return { title: title!, text: local, sources };
    });
}

for (const { title, text, sources } of cookbook())
  test(`the action publishes all files of ${title} from the cookbook`, { skip }, (context) => {
    const repository = new Repository(context, {}, sources);
    repository.write("compiler-config.json", JSON.stringify(parse(text)));
    repository.addRemote();
    const first = repository.publish();
    assert.match(repository.summary, /^\| list \| rules \| outcome \|/m);
    assert.match(repository.summary, /\| published \|/);
    for (const [name, lines] of Object.entries(sources))
      if (lines.startsWith("0")) repository.write(name, `${lines}0.0.0.0 new.example.de\n`);
    // The second of an edition is in the names of its patches.
    const later = { SOURCE_DATE_EPOCH: String(Math.floor(Date.now() / 1000) + 60) };
    const files = repository.publish(later);
    assert.ok(files.length >= first.length);
    const pushed = repository.pushed();
    for (const file of files)
      assert.ok(
        pushed.some((one) => one === file || one.startsWith(`${file}/`)),
        file,
      );
    const left = repository.git("status", "--porcelain", "-uall", "--", "rules").split("\n");
    assert.deepEqual(
      left.filter((line) => line !== "" && !line.includes(".rules-compiler/")),
      [],
    );
    assert.equal(repository.git("rev-list", "--count", "origin/main").trim(), "2");
  });

test("the action commits the good lists and fails because of the bad one", { skip }, (context) => {
  const lists = [...SEVERAL.lists, { name: "Strict", guards: { min_rules: 50 } }];
  const sources = { "a.txt": "||a.example^\n", "b.txt": "||b.example^\n||c.example^\n" };
  const repository = new Repository(context, { ...SEVERAL, lists }, sources);
  repository.addRemote();
  const { status } = repository.step(compileStep);
  assert.equal(status, 5);
  const { files = "", publish } = repository.outputs;
  assert.equal(publish, "true");
  assert.equal(repository.step(commitStep, { FILES: files }).status, 0);
  assert.ok(repository.pushed().includes("rules/large.txt"));
  assert.ok(!repository.pushed().includes("rules/strict.txt"));
  assert.match(repository.summary, /\| Strict \| – \| \*\*not published\*\*: `too-few-rules`/);
});

test("the action removes files that only an earlier version had", { skip }, (context) => {
  const config = {
    name: "One",
    sources: [{ name: "a", type: "adblock", source: "a.txt" }],
    outputs: [{ format: "domains", split: { max_rules: 2 } }],
    guards: { max_shrink: 100 },
  };
  const lines = Array.from({ length: 6 }, (_, index) => `||n${index}.example^`);
  const repository = new Repository(context, config, { "a.txt": `${lines.join("\n")}\n` });
  repository.addRemote();
  repository.publish();
  assert.ok(repository.pushed().includes("rules/one-3.domains"));
  repository.write("a.txt", `${lines.slice(0, 3).join("\n")}\n`);
  repository.publish();
  assert.ok(repository.pushed().includes("rules/one-2.domains"));
  assert.ok(!repository.pushed().includes("rules/one-3.domains"));
});

test(
  "mode plan publishes nothing, shows changes, and fails if a list would be refused",
  { skip },
  (context) => {
    const sources = { "a.txt": "||a.example^\n", "b.txt": "||b.example^\n||c.example^\n" };
    const repository = new Repository(context, SEVERAL, sources);
    const { status, said } = repository.step(compileStep, { MODE: "plan" });
    assert.equal(status, 0, said);
    assert.deepEqual(
      [repository.outputs["changes"], repository.outputs["refused"]],
      ["true", "false"],
    );
    assert.match(
      repository.outputs["plan"]!,
      /\| Large \| 3 \| \+3 −0 \| 3 \| 0 \| would be published \|/,
    );
    assert.match(repository.summary, /^### Plan$/m);
    assert.ok(!existsSync(join(repository.folder, "work", "rules", "large.txt")));
    repository.write(
      "compiler-config.json",
      JSON.stringify({ ...SEVERAL, guards: { min_rules: 3 } }),
    );
    const refused = repository.step(compileStep, { MODE: "plan" });
    assert.equal(refused.status, 5, refused.said);
    assert.match(repository.summary, /\| Small \|.*would be refused\*\*: `too-few-rules`/);
    const wrong = repository.step(compileStep, { MODE: "plan", CONFIG: "none.json" });
    assert.equal(wrong.status, 2, wrong.said);
    assert.equal(repository.step(compileStep, { MODE: "other" }).status, 2);
  },
);
