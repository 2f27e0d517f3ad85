import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { isNightly } from "../support/nightly.ts";

/**
 * The action's pull-request mode over thirty changes of an upstream, on a bare remote: every change is a branch of its own with a body, small
 * ones are merged, and bad ones are not. UPDATE_SCREENS=1 writes the bodies again.
 */
const ROOT = join(import.meta.dirname, "../..");
const BODIES = join(ROOT, "test/fixtures/pull-requests.md");
const DAYS = isNightly ? 30 : 10;
const folder = mkdtempSync(join(tmpdir(), "pull-requests-"));
const work = join(folder, "work");
const upstream = { names: new Set<string>(), header: "" };
let server: Server;

const { runs } = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as {
  runs: { steps: { id?: string; run?: string }[] };
};
const script = runs.steps.find(({ id }) => id === "compile")!.run!;

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: work, encoding: "utf8" }).trim();
}

function write(name: string, text: string): void {
  writeFileSync(join(work, name), text);
}

function environment(mode: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`,
    XDG_CACHE_HOME: join(folder, "cache"),
    GITHUB_OUTPUT: join(folder, "output"),
    GITHUB_ACTION_PATH: ROOT,
    RUNNER_TEMP: folder,
    CONFIG: "compiler-config.json",
    VERSION: "0.0.0",
    MODE: mode,
    MERGE_UP_TO: "10",
  };
}

/** Runs the step of the action, and returns its exit code and outputs. */
function run(
  mode: string,
  more: NodeJS.ProcessEnv = {},
): Promise<{ code: number; said: string; outputs: Record<string, string> }> {
  writeFileSync(join(folder, "output"), "");
  return new Promise((done) => {
    const words = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
    execFile(
      "bash",
      words,
      { cwd: work, env: { ...environment(mode), ...more } },
      (error, stdout, stderr) => {
        const lines = readFileSync(join(folder, "output"), "utf8").trim().split("\n");
        const outputs = Object.fromEntries(
          lines.map((line) => [line.split("=", 1)[0]!, line.slice(line.indexOf("=") + 1)]),
        );
        done({ code: Number(error?.code ?? 0), said: stdout + stderr, outputs });
      },
    );
  });
}

before(async () => {
  for (let index = 0; index < 400; index++) upstream.names.add(`tracker${index}.example.com`);
  server = createServer((_, response) => {
    const lines = [...upstream.names].map((name) => `||${name}^`);
    response.end(`${[upstream.header, ...lines].filter((line) => line !== "").join("\n")}\n`);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  mkdirSync(join(folder, "bin"));
  mkdirSync(work);
  const npx = join(folder, "bin/npx");
  // Without what npx would fetch: `npx --yes rules-compiler@VERSION …`
  writeFileSync(
    npx,
    `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${join(ROOT, "dist/cli/bin.js")}' "$@"\n`,
  );
  chmodSync(npx, 0o755);
  write("ranks.csv", "1,google.com\n2,everyday.example\n");
  const { port } = server.address() as AddressInfo;
  const config = {
    name: "List",
    sources: [
      {
        name: "upstream",
        source: `http://127.0.0.1:${port}/list.txt`,
        type: "adblock",
        allow_private: true,
      },
    ],
    ranks: [{ source: "ranks.csv", type: "tranco" }],
    guards: { newly_blocks: 1000 },
    transformations: ["Compress", "Validate"],
  };
  write("compiler-config.json", JSON.stringify(config));
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", join(folder, "remote")]);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Test");
  git("config", "user.email", "test@example.com");
  git("remote", "add", "origin", join(folder, "remote"));
  git("add", "-A");
  git("commit", "-q", "-m", "Configure");
  git("push", "-q", "-u", "origin", "main");
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What the upstream does on a day; the rest of the days it adds or removes a few names. */
const BAD_DAYS: Record<number, { change: () => void; expected: RegExp }> = {
  9: { change: () => upstream.names.add("everyday.example"), expected: /popular-kept/ },
  15: {
    change: () => {
      for (const name of [...upstream.names].slice(10)) upstream.names.delete(name);
    },
    expected: /risk: (?:refused|high)/,
  },
  21: {
    change: () => {
      upstream.header = "! Number of entries: 400";
      for (const name of [...upstream.names].slice(0, 80)) upstream.names.delete(name);
    },
    expected: /risk: (?:refused|high)/,
  },
};

test("changes give a branch each; small ones are merged, bad ones are not", async () => {
  const branches = new Set<string>();
  const bodies: string[] = [];
  for (let day = 1; day <= DAYS; day++) {
    const bad = BAD_DAYS[day];
    const kept = new Set(upstream.names);
    if (bad !== undefined) bad.change();
    else if (day > 1) {
      upstream.names.add(`new${day}.example.org`);
      upstream.names.delete(`tracker${day}.example.com`);
    }
    const { code, said, outputs } = await run("pull-request");
    assert.equal(code, 0, `day ${day}: ${said}`);
    if (outputs["changes"] === "true") {
      assert.equal(outputs["proposed"], "true", `day ${day}`);
      branches.add(outputs["branch"]!);
      const body = readFileSync(outputs["body"]!, "utf8").replaceAll(
        /127\.0\.0\.1:\d+/g,
        "upstream.example",
      );
      bodies.push(`## Day ${day}: ${outputs["title"]} (${outputs["label"]})\n\n${body}`);
      assert.equal(git("rev-parse", `origin/${outputs["branch"]}`), git("rev-parse", "HEAD"));
      assert.match(git("show", "--stat", "--format=%s", "HEAD"), /rules\/list\.txt/);
      assert.match(git("show", "--stat", "--format=%s", "HEAD"), /rules\.lock/);
      assert.equal(outputs["merge"], String(outputs["label"] === "risk: low"));
    }
    if (bad !== undefined) {
      // The bad upstream is never merged: it is refused, or its last good copy is used and nothing changes.
      if (outputs["changes"] === "true") assert.match(outputs["label"]!, bad.expected);
      assert.notEqual(outputs["merge"], "true", `day ${day}`);
      upstream.names = kept;
      upstream.header = "";
    }
    git("switch", "-q", "main");
    if (outputs["merge"] === "true" || day === 1)
      git("merge", "-q", "--squash", outputs["branch"]!);
    if (outputs["merge"] === "true" || day === 1) {
      git("commit", "-q", "-m", outputs["title"]!);
      git("push", "-q");
    }
    git("clean", "-fdxq", "-e", ".rules-compiler");
  }
  // On the bad days, nothing changes: a line is dropped, and the published text stays.
  assert.equal(
    branches.size,
    DAYS - Object.keys(BAD_DAYS).filter((day) => Number(day) <= DAYS).length,
  );
  const published = git("show", "main:rules/list.txt").split("\n");
  assert.ok(!published.includes("||everyday.example^"));
  const expected = [...upstream.names].map((name) => `||${name}^`).toSorted();
  assert.deepEqual(published.filter((line) => line.startsWith("||")).toSorted(), expected);
  const text = `# Bodies of pull requests\n\n${bodies.join("\n")}`;
  if (process.env["UPDATE_SCREENS"] !== undefined && isNightly) writeFileSync(BODIES, text);
  const whole = readFileSync(BODIES, "utf8");
  assert.equal(text, isNightly ? whole : whole.slice(0, text.length));
});

test("the same change is proposed once", async () => {
  upstream.names.add("again.example.org");
  const first = await run("pull-request");
  assert.equal(first.outputs["proposed"], "true", first.said);
  git("switch", "-q", "main");
  const second = await run("pull-request");
  assert.deepEqual(
    [second.code, second.outputs["proposed"], second.outputs["branch"]],
    [0, "false", first.outputs["branch"]],
  );
});

test("triage answers for the names of an issue, and passes nothing else to the program", async () => {
  const answer = join(folder, "rules-compiler-answer.md");
  const issue =
    "Blocked: hxxps://tracker399[.]example.com/path $(touch hacked) `id` --accept x; see user@mail.example and nothing.example.net.";
  const { code, said } = await run("triage", { ISSUE: issue });
  assert.equal(code, 0, said);
  const text = readFileSync(answer, "utf8");
  assert.match(text, /tracker399\.example\.com {2}BLOCKED/);
  assert.match(text, /by {2}\|\|tracker399\.example\.com\^ {2}upstream:\d+/);
  assert.match(text, /nothing\.example\.net {2}neither blocked nor allowed/);
  assert.doesNotMatch(text, /mail\.example/);
  assert.equal((await run("triage", { ISSUE: "It does not work" })).code, 0);
  assert.equal(readFileSync(answer, "utf8"), "");
});
