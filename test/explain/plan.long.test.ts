import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import { type Host, HostError, type MemoryHost, memoryHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";
import { listIn } from "../support/documents.ts";

const names = (start: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `||${start}${index}.example^\n`).join("");

const URL_OF = { name: "Tracker", source: "https://lists.example/t.txt", type: "adblock" };

/** A folder in which a list is published, and what may become of its sources. */
class Project {
  readonly memory: MemoryHost;
  private web: string | undefined = names("t", 300);
  private now = "2026-11-10T00:00:00Z";

  constructor(config: object = {}) {
    const sources = [{ name: "Own", source: "own.txt", type: "adblock" }, URL_OF];
    const files = {
      "c.json": JSON.stringify({ name: "My list", sources, ...config }),
      "own.txt": names("o", 200),
    };
    this.memory = memoryHost({ files });
  }

  own(text: string): void {
    this.memory.files.set("/project/own.txt", new TextEncoder().encode(text));
  }

  /** What the server has next, and when; nothing when it is down. */
  later(text: string | undefined, now = "2026-11-13T00:00:00Z"): void {
    this.web = text;
    this.now = now;
  }

  async run(
    command: string,
    ...words: string[]
  ): Promise<{ exit: number; stdout: string; stderr: string }> {
    const { memory } = this;
    memory.output.stdout = memory.output.stderr = "";
    const host: Host = {
      ...packingHost(memory),
      now: () => new Date(this.now),
      fetch: async (request) => {
        if (this.web === undefined) throw new HostError("ECONNREFUSED", "connection refused");
        request.take(new TextEncoder().encode(this.web));
        return { status: 200, headers: {} };
      },
    };
    const cache = command === "diff" ? [] : ["--cache-dir", "/cache"];
    const args = [command, "-q", "-c", "c.json", "-o", "l.txt", ...cache, ...words];
    const exit = await run(args, host, new AbortController().signal);
    return { exit, ...memory.output };
  }

  /** Publishes, and hands itself over. */
  async published(): Promise<this> {
    const { exit, stderr } = await this.run("compile");
    assert.equal(exit, 0, stderr);
    return this;
  }
}

test("the first plan, and a plan without changes", async () => {
  const project = new Project();
  const first = await project.run("plan");
  assert.equal(first.exit, 0, first.stderr);
  assert.equal((await project.run("plan", "--exit-code")).exit, 10);
  assert.match(
    first.stdout,
    /^My list → l\.txt\n {2}2 sources: 1 local, 1 fetched\n {2}\+ 500 {2}− 0 {2}= 500 rules \(was 0\)\n/,
  );
  assert.ok(!project.memory.files.has("/project/l.txt"), "nothing is written");
  await project.published();
  const { exit, stdout } = await project.run("plan", "--exit-code");
  assert.equal(exit, 0);
  assert.equal(
    stdout,
    `My list → l.txt\n  2 sources: 1 local, 1 fetched\n  no change: 500 rules\nnothing to publish\n`,
  );
});

const SCREENS = join(import.meta.dirname, "screens");

for (const [screen, change, exit] of [
  ["whole-suffix", (project: Project) => project.own(`${names("o", 200)}||com^\n`), 5],
  [
    "protected-name",
    (project: Project) => project.own(`${names("o", 199)}||captive.apple.com^\n`),
    0,
  ],
  ["lifeline", (project: Project) => project.own(`${names("o", 199)}||apple.com^\n`), 5],
  ["dead-source", (project: Project) => project.later(undefined), 0],
  [
    "login-page",
    (project: Project) => project.later("<!doctype html><html><body>Login</body></html>"),
    0,
  ],
  ["lost-lines", (project: Project) => project.own(names("o", 20)), 0],
] as const)
  test(`plan screen: ${screen}`, async () => {
    const project = await new Project().published();
    const list = project.memory.files.get("/project/l.txt");
    change(project);
    const planned = await project.run("plan");
    const file = join(SCREENS, `${screen}.txt`);
    if (process.env["UPDATE_SCREENS"] !== undefined) writeFileSync(file, planned.stdout);
    assert.equal(planned.stdout, readFileSync(file, "utf8"));
    assert.equal(planned.exit, exit);
    const asked = await project.run("plan", "--exit-code");
    const isSame = planned.stdout.includes("no change:");
    assert.equal(asked.exit, exit === 5 || isSame ? exit : 10);
    assert.equal(project.memory.files.get("/project/l.txt"), list, "nothing was published");
    // What the plan says is what a compile then does.
    const compiled = await project.run("compile");
    assert.equal(compiled.exit, exit, compiled.stderr);
  });

test("plan as JSON and as Markdown", async () => {
  const project = await new Project().published();
  project.own(`${names("o", 200)}||new.test^\n`);
  const json = await project.run("plan", "--json");
  assert.equal(json.exit, 0);
  const plan = listIn(json.stdout) as {
    added: string[];
    changes: { name: string; from: { line: number } }[];
    violations: unknown[];
  };
  assert.deepEqual(plan.added, ["||new.test^"]);
  assert.deepEqual(
    plan.changes.map(({ name, from }) => [name, from.line]),
    [["new.test", 201]],
  );
  assert.deepEqual(plan.violations, []);
  const markdown = await project.run("plan", "--markdown");
  assert.match(
    markdown.stdout,
    /^### Plan: changes\n\n```text\nMy list → l\.txt\n[^]*\nwould be published\n```\n$/,
  );
});

test("diff of two lists and of two configurations", async () => {
  const project = await new Project().published();
  const { files } = project.memory;
  files.set("/project/a.txt", new TextEncoder().encode("||a.test^\n||b.test^\n"));
  files.set("/project/b.txt", new TextEncoder().encode("||b.test^\n@@||x.b.test^\n"));
  const { exit, stdout } = await project.run("diff", "a.txt", "b.txt");
  assert.equal(exit, 0);
  assert.equal((await project.run("diff", "--exit-code", "a.txt", "b.txt")).exit, 10);
  assert.equal((await project.run("diff", "--exit-code", "a.txt", "a.txt")).exit, 0);
  assert.equal((await project.run("diff", "--exit-code", "a.txt", "none.txt")).exit, 4);
  assert.equal(
    stdout,
    `a.txt → b.txt
  + 1  − 1  = 2 rules (was 2, +0.0 %)
  unblocked: 2 names
    a.test and below    ||a.test^
    x.b.test and below  ||b.test^
`,
  );
  assert.equal((await project.run("diff", "a.txt", "a.txt")).exit, 0);
  assert.match((await project.run("diff", "a.txt", "none.txt")).stderr, /Cannot read none\.txt/);
  assert.match((await project.run("diff", "a.txt")).stderr, /diff needs two lists/);
  assert.match(
    (await project.run("diff", "a.txt", "c.json")).stderr,
    /No record of rules\/my-list\.txt/,
  );
});
