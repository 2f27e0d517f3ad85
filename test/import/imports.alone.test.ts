import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { DiskProject } from "../support/disk-project.ts";
import { PROGRAM } from "../support/command.ts";

/** Settings of other software that somebody else made: `init` and `audit` read them. */
function databaseOf(context: TestContext, ...statements: string[]): DiskProject {
  const project = new DiskProject(context);
  const database = new DatabaseSync(join(project.folder, "gravity.db"));
  for (const statement of statements) database.exec(statement);
  database.close();
  return project;
}

interface End {
  readonly exit: number | string;
  /** Since Ctrl-C. */
  readonly ms: number;
  readonly stderr: string;
}

/** Runs the program, and presses Ctrl-C after a time. */
async function interrupted(
  context: TestContext,
  folder: string,
  afterMs: number,
  words: readonly string[],
): Promise<End> {
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  context.after(() => child.kill("SIGKILL"));
  let stderr = "";
  let at = Infinity;
  child.stderr.on("data", (data: Uint8Array) => (stderr += String(data)));
  const pressed = setTimeout(() => {
    at = performance.now();
    child.kill("SIGINT");
  }, afterMs);
  return await new Promise((resolve) => {
    child.on("close", (code, by) => {
      clearTimeout(pressed);
      resolve({ exit: by ?? code ?? -1, ms: performance.now() - at, stderr });
    });
  });
}

const COMMANDS = [
  ["init", "--from", "gravity.db"],
  ["audit", "gravity.db"],
] as const;

test(
  "only tables of a database are read: a view may never end",
  { timeout: 60_000 },
  async (context) => {
    const endless = "WITH RECURSIVE c(address) AS (SELECT 'a' UNION ALL SELECT address FROM c)";
    const project = databaseOf(context, `CREATE VIEW adlist AS ${endless} SELECT address FROM c`);
    for (const words of COMMANDS) {
      const { exit, stderr } = await interrupted(context, project.folder, 20_000, words);
      assert.equal(exit, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, /error\[setup-unknown\]/);
      assert.ok(!existsSync(join(project.folder, "compiler-config.yaml")));
    }
  },
);

test(
  "a table with more rows than a person writes is refused",
  { timeout: 60_000 },
  async (context) => {
    const numbers =
      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300000) SELECT n, 'a' FROM c";
    const project = databaseOf(context, `CREATE TABLE adlist AS ${numbers}`);
    for (const words of COMMANDS) {
      const { exit, stderr } = await interrupted(context, project.folder, 40_000, words);
      assert.equal(exit, 2, `${words.join(" ")}: ${stderr}`);
      assert.match(stderr, /error\[setup-unreadable\].*\n.*adlist has more than 250,000 rows/s);
    }
  },
);

test("Ctrl-C ends a query that computes for hours", { timeout: 60_000 }, async (context) => {
  // A computed column of a real table.
  const slow = "length(replace(hex(zeroblob(2000000)), '0', '1'))";
  const numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 99999)";
  const project = databaseOf(
    context,
    `CREATE TABLE adlist (id INTEGER, address TEXT, enabled INTEGER AS (${slow}))`,
    `INSERT INTO adlist ${numbers} SELECT n, 'a.txt' FROM c`,
  );
  for (const words of COMMANDS) {
    const { exit, ms, stderr } = await interrupted(context, project.folder, 2000, words);
    assert.ok(
      exit === 130 || exit === "SIGKILL",
      `${words.join(" ")} ended with ${exit}: ${stderr}`,
    );
    assert.match(stderr, /error\[interrupted\]/);
    assert.ok(ms < 5000, `${words.join(" ")}: ${ms.toFixed(0)} ms after Ctrl-C`);
  }
});

test("no text of another program's settings begins a line of the new configuration", async (context) => {
  const breaks = ["\n", "\r", "\u000b", "\u000c", "\u001b", "\u007f", "\u0085", "\u009b"];
  const more = ["\u2028", "\u2029", "\u202e", "\u2066", "\ufeff"];
  const evil = [...breaks, ...more].map((one) => `a${one}hooks: [{run: [touch, x]}]${one}# b`);
  const filters = evil.flatMap((name, index) => [
    { enabled: true, url: "ads.txt", name: `${name}${index}`, id: 2 * index },
    { enabled: false, url: `https://lists.example/${index}${name}`, name, id: 2 * index + 1 },
    { enabled: true, url: `gone${index}${name}`, name, id: 1000 + index },
  ]);
  const project = new DiskProject(context);
  project.write("ads.txt", "||ads.example^\n");
  project.write("AdGuardHome.yaml", JSON.stringify({ filters, user_rules: ["||mine.example^"] }));
  const { exit, stderr } = await project.run(
    "init",
    "--from",
    "AdGuardHome.yaml",
    "--name",
    evil[6]!,
  );
  assert.equal(exit, 0, stderr);
  const text = project.text("compiler-config.yaml");
  assert.match(text, /# These are disabled:/);
  assert.match(text, /# These could not be read/);
  const raw = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/u.exec(
    text,
  );
  assert.equal(raw, null, `U+${raw?.[0].codePointAt(0)?.toString(16)} is in the file`);
  for (const line of text.split("\n")) assert.doesNotMatch(line, /^\W*hooks/);
  assert.equal((await project.run("validate")).exit, 0);
});
