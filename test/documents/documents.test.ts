import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { commands } from "../../src/cli/commands/registry.ts";
import type { Options } from "../../src/cli/flags/options.ts";
import { whyApart } from "../../src/cli/serve-children.ts";
import { NO_STYLE } from "../../src/diagnostics/render.ts";
import type { Documents } from "../../src/documents/documents.ts";
import type { Host, WebReply } from "../../src/host/host.ts";
import { Actions } from "../../src/server/actions.ts";
import { NO_HISTORY, withRun } from "../../src/server/history.ts";
import { type ActionRequest, BearerToken } from "../../src/server/requests.ts";
import { type RouteContext, route } from "../../src/server/routes.ts";
import type { Runner } from "../../src/server/runs.ts";
import { EventLog } from "../../src/server/serve.ts";
import { WhyAnswers } from "../../src/server/why.ts";
import { DiskProject } from "../support/disk-project.ts";
import { BAD, HookProject, script, webhook } from "../support/hook-project.ts";
import { memoryHost } from "../support/internals.ts";
import { type Schema, schemaFaults } from "../support/json-schema.ts";
import { projectOf } from "../support/lists-project.ts";
import { MemoryProject, type Said } from "../support/memory-project.ts";
import { CAUSES, STALE, build, health, run } from "../support/server-states.ts";

/** Everything that leaves the program as JSON is what `documents.schema.json` says. */
const SCHEMA = JSON.parse(
  readFileSync(new URL("../../documents.schema.json", import.meta.url), "utf8"),
) as Schema;
const NEVER = new AbortController().signal;

const seen = new Set<string>();

function check(name: keyof Documents, value: unknown): void {
  seen.add(name);
  const faults = schemaFaults(value, SCHEMA.properties![name]!, SCHEMA, name);
  assert.deepEqual(faults, [], JSON.stringify(value, undefined, 1));
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Checks what a command printed: one line, unless it answers line by line. */
function checkSaid(name: keyof Documents, { stdout, stderr }: Said): void {
  const isStream = name === "why -" || name === "stats --fate NAME";
  assert.ok(isStream || linesOf(stdout).length === 1, `${name}: ${stdout}${stderr}`);
  for (const line of linesOf(stdout)) check(name, JSON.parse(line));
  for (const line of linesOf(stderr)) check("problem", JSON.parse(line));
}

const TEXTS = {
  A: "! note\n||a.example^\n||x.a.example^\n||com^\n||b.example^\n0.0.0.0 bad name\n",
  B: "||b.example^\n@@||ok.a.example^\n/^ads[0-9]+\\./\n",
};
const OUTPUTS = [
  { format: "hosts", file: "{slug}.hosts" },
  { format: "rpz", file: "{slug}.rpz" },
];
const COMBINED = [{ format: "cdb", file: "all.cdb", lists: ["one", "two"] }];
const MORE = { outputs: OUTPUTS, manifest: { file: "{slug}.manifest.json" }, allow: ["c.example"] };

function project(count: number): MemoryProject {
  const stdin: Host["stdin"] = {
    isTerminal: false,
    bytes: async function* () {},
    lines: async function* () {
      yield ["a.example", "nowhere.example"];
    },
  };
  const names = ["one", "two", "three"].slice(0, count);
  const lists = names.map((name) => ({ name, sources: name === "two" ? ["B"] : ["A", "B"] }));
  const files = projectOf(TEXTS, lists, count === 1 ? MORE : { ...MORE, combined: COMBINED });
  const made = new MemoryProject({}, { stdin });
  for (const [path, bytes] of files.memory.files) made.memory.files.set(path, bytes);
  made.write("queries.log", "a.example\nnowhere.example\n");
  return made;
}

for (const count of [1, 3])
  test(`what commands print about ${count === 1 ? "one list" : "three lists"}`, async () => {
    const home = project(count);
    const say = async (name: keyof Documents, ...words: string[]): Promise<void> =>
      checkSaid(name, await home.run(...words, "--json"));
    const one = count === 1 ? [] : ["--filter", "one"];
    await say("plan", "plan", "--markdown", "--save", "all.plan");
    await say("apply", "apply", "all.plan");
    await say("validate", "validate");
    home.now = "2026-11-11T00:00:00Z";
    home.write("A.txt", `${TEXTS.A}||new.example^\n`);
    await say("plan", "plan", "--traffic", "queries.log", "--verbose");
    await say("compile", "compile", "--debug");
    await say("compile", "compile");
    await say("diff", "diff", "@1", "@0");
    await say("log", "log", "--markdown");
    await say(
      "why",
      "why",
      "a.example",
      "x.a.example",
      "nowhere.example",
      "--traffic",
      "queries.log",
    );
    await say("why -", "why", "-");
    await say("stats", "stats", "--traffic", "queries.log", "--verbose");
    await say("stats --fate", "stats", "--fate");
    await say("stats --fate NAME", "stats", "--fate", "kept");
    await say("stats --html", "stats", "--html", "pages/");
    home.write("dead.txt", "a.example\nb.example NOERROR\n");
    await say("alive", "alive", "--from", "dead.txt=0.7");
    await say("why", "why", "a.example");
    if (count > 1) await say("stats --matrix", "stats", "--matrix");
    await say("export", "export", "lines.csv");
    await say("verify", "verify", "rules/one.manifest.json");
    await say("rollback", "rollback", ...one);
    await say("hold", "hold", ...one);
    await say("plan", "plan");
    await say("compile", "compile");
    await say("hold", "hold", "--end", ...one);
    await say("allow", "allow", "a.example.com", "--reason", "a test", "--until", "7d");
    await say("block", "block", "b.example.com", "--exact");
    await say("allow", "allow", "--list");
    await say("allow", "allow", "a.example.com", "--remove");
    await say("hold BUILD", "hold", "@1", ...one);
    await home.run("hold", "--end", ...one);
    // One source is gone, and a guard refuses the list of the other.
    home.memory.files.delete("/project/A.txt");
    home.write("B.txt", "||com^\n");
    await say("compile", "compile");
    // Lists without a record.
    for (const path of home.memory.files.keys())
      if (path.includes("/.rules-compiler/")) home.memory.files.delete(path);
    for (const words of [["why", "a.example"], ["stats"], ["log"]] as const)
      await say(words[0], ...words);
  });

test("what commands print about files and servers", async (context) => {
  const home = project(1);
  const say = async (name: keyof Documents, ...words: string[]): Promise<void> =>
    checkSaid(name, await home.run(...words, "--json"));
  await say("lint", "lint", "A.txt", "B.txt");
  await say("diff", "diff", "A.txt", "B.txt");
  await say("audit", "audit", "compiler-config.json", "--traffic", "queries.log");
  await say("init", "init", "new.yaml", "-i", "A.txt", "-i", "gone.txt");
  home.write("broken.json", "{}");
  await say("verify", "verify", "broken.json");
  const state = withRun(NO_HISTORY, run(CAUSES), build("stale"));
  const body = JSON.stringify(health(state, { conditions: [STALE] }));
  const server = await webhook(context, () => ({ body }));
  const disk = new DiskProject(context, { env: {} });
  checkSaid("status", { ...(await disk.run("status", server.base, "--json")), stdout: body });
  const api = await webhook(context, () => ({
    body: '{"user_rules":{"used":200,"limit":1000},"plan":"team"}',
  }));
  const env = { DNS_API_URL: api.base, DNSAPI_API_KEY: "a-key-of-some-length" };
  const account = new DiskProject(context, { env });
  account.write("l.txt", "||a.example^\n");
  checkSaid("limits", await account.run("limits", "l.txt", "--json"));
  const sources = [{ name: "A", source: "a.txt", type: "adblock" }];
  const resolvers = [{ name: "gone", address: "tcp://127.0.0.1:1" }];
  disk.write("c.json", JSON.stringify({ name: "L", sources, resolvers }));
  disk.write("a.txt", "||a.example^\n");
  await disk.run("-c", "c.json", "--no-cache");
  checkSaid("prove", await disk.run("prove", "-c", "c.json", "--wait", "0", "--json"));
});

test("what hooks receive", async (context) => {
  const append = script(
    "process.stdin.on('data', (text) => require('node:fs').appendFileSync('said.jsonl', text))",
  );
  const hooks = [{ run: append, on: ["published", "refused", "recovered"] }];
  const home = new HookProject(context, hooks);
  for (const lines of [["||a.example^"], BAD, ["||a.example^", "||b.example^"]]) {
    home.lines(lines);
    checkSaid("compile", await home.run("-c", "c.json", "--permit", "hooks", "--json"));
  }
  const messages = home.said("said.jsonl");
  assert.ok(messages.length >= 3, `${messages.length} messages`);
  for (const message of messages) check("hook", message);
});

test("what a server answers, with what its children tell it", async () => {
  const home = project(3);
  assert.equal((await home.run("compile", "--filter", "one", "--filter", "two")).exit, 0);
  const runSelf: Host["runSelf"] = async (request) => {
    const said = await home.run(...request.words);
    checkSaid("why", said);
    for (const line of linesOf(said.stderr)) request.onLine(line);
    return { exit: said.exit, stdout: said.stdout };
  };
  const host = { ...memoryHost(), runSelf, wait: () => new Promise<void>(() => {}) };
  const listNames = ["one", "two", "three"];
  const args = { values: new Map(), switches: new Set(), operands: [] };
  const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => false });
  const actions = new Actions({
    host,
    log,
    signal: NEVER,
    timeoutMs: 0,
    act: async () => ({ exit: 5, problems: [{ severity: "error", code: "x", message: "y" }] }),
    onDone: async () => [{ list: "one", since: null, by: null, build: null }],
  });
  const runner = { alone: async (work: () => Promise<WebReply>) => await work() } as Runner;
  const context = {
    health: () => health(withRun(NO_HISTORY, run({}), build()), { conditions: [STALE] }),
    compile: () => "started",
    act: async (request: ActionRequest) => await actions.answer(request, runner),
    token: new BearerToken("secret"),
    hostNames: [],
    listNames,
    why: new WhyAnswers({
      host,
      signal: NEVER,
      resolvers: [],
      version: () => "",
      onError: (error) => assert.fail(String(error)),
      answer: whyApart(listNames, { args } as unknown as Options, host),
    }),
  } as unknown as RouteContext;
  for (const [name, method, target] of [
    ["/health", "GET", "/health"],
    ["/why", "GET", "/why?name=a.example"],
    ["/why", "GET", "/why?name=-"],
    ["/compile", "POST", "/compile"],
    ["/hold", "POST", "/hold?list=one"],
  ] as const) {
    const headers = { host: "127.0.0.1", authorization: "Bearer secret" };
    const { body } = await route({ method, target, headers, address: "127.0.0.1" }, context).reply;
    check(name, JSON.parse(body as string));
  }
});

/** They print text, or run until they are stopped. */
const WITHOUT_DOCUMENT = new Set(["watch", "serve", "completions", "help"]);

test("every document was checked", () => {
  assert.deepEqual([...seen].toSorted(), Object.keys(SCHEMA.properties!).toSorted());
  for (const { name } of commands)
    if (!WITHOUT_DOCUMENT.has(name)) assert.ok(seen.has(name), `${name} has a document`);
});
