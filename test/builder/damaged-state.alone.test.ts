import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { NO_STYLE } from "../../src/diagnostics/render.ts";
import type { Answerer, Host } from "../../src/host/host.ts";
import type { SuccessfulBuild } from "../../src/server/history.ts";
import { BearerToken } from "../../src/server/requests.ts";
import { Schedule } from "../../src/server/runs.ts";
import { EventLog, serve } from "../../src/server/serve.ts";
import { type Damage, damagesOf } from "../support/damaged-json.ts";
import { memoryHost } from "../support/internals.ts";
import { isNightly } from "../support/nightly.ts";
import { Random, seedFrom } from "../support/random.ts";
import { Served } from "../support/served.ts";
import { longHistory } from "../support/server-history.ts";

const NOW = new Date("2026-11-15T12:00:00Z");
const TOKEN = "0123456789abcdef";
const FOLDER = "/project/rules/.rules-compiler";
const SCHEDULE = new Schedule("0 */6 * * *", "UTC");
const BUILD: SuccessfulBuild = {
  name: "My list",
  lines: 1,
  kept: 1,
  rules: 1,
  bytes: 12,
  degraded: false,
  outputs: [{ file: "rules/my-list.txt", outcome: "written" }],
  sources: [
    {
      label: "List 0",
      source: "a.txt",
      state: "local",
      bytes: 1,
      lines: 1,
      kept: 1,
      dropped: {},
    },
  ],
};

/** Starts the server over a damaged file, asks for everything, runs once and asks again; returns what went wrong. */
async function problemsWith(damage: Damage): Promise<string[]> {
  const problems: string[] = [];
  const memory = memoryHost({
    files: {
      [`${FOLDER}/serve.json`]: damage.bytes,
      "/project/rules/my-list.txt": "||a.example^\n",
    },
    now: NOW,
  });
  const stop = new AbortController();
  let answer!: Answerer;
  let listening!: () => void;
  const isListening = new Promise<void>((resolve) => (listening = resolve));
  const host: Host = {
    ...memory,
    wait: (_ms, signal) =>
      new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
    listen: async ({ address, port }, answerer) => {
      answer = answerer;
      listening();
      return { address, port, close: async () => {} };
    },
  };
  const ask = async (target: string, method = "GET"): Promise<number> => {
    const headers = { host: "localhost", authorization: `Bearer ${TOKEN}` };
    const { status } = await answer({ method, target, headers, address: "127.0.0.1" });
    return status;
  };
  let runs = 0;
  const log = new EventLog(host, { json: true, style: NO_STYLE, isEnabled: () => true });
  const settings = {
    listenOn: { address: "127.0.0.1", port: 0, connectionsPerClient: 64 },
    schedule: SCHEDULE,
    jitterMs: 0,
    retryMs: 0,
    requests: {
      listNames: ["My list"],
      resolvers: [],
      token: new BearerToken(TOKEN),
      hostNames: [],
      act: async () => ({ exit: 0, problems: [] }),
      why: async () => [],
    },
    ownToken: undefined,
    runTimeoutMs: 0,
    folder: FOLDER,
    lists: ["/project/rules/my-list.txt"],
    outputs: [],
    partsOf: async (path: string) => [path],
    compile: async () => {
      runs++;
      return { exit: 0, build: BUILD };
    },
    published: async () => [],
    held: async () => [],
    proofs: async () => [],
    hooks: [],
    conditions: async () => [],
    reports: ["/project/rules/.rules-compiler/report.html"],
    report: async () => {},
  };
  const served = serve(settings, host, log, stop.signal);
  const ended = served.catch((error: unknown) => problems.push(`ended: ${String(error)}`));
  const asked = async (when: string): Promise<void> => {
    for (const target of ["/health", "/", "/metrics"])
      try {
        const status = await ask(target);
        if (status !== 200 && status !== 503) problems.push(`${when} ${target}: ${status}`);
      } catch (error) {
        problems.push(`${when} ${target}: ${String(error)}`);
      }
  };
  await Promise.race([isListening, ended]);
  if (problems.length > 0) return problems;
  await asked("before");
  const before = runs;
  await ask("/compile", "POST");
  // A run in memory takes a few turns.
  for (let turn = 0; turn < 200 && !memory.output.stderr.includes('"run-ended"'); turn++)
    await new Promise((turned) => setImmediate(turned));
  if (runs === before && runs === 0) problems.push("no run");
  if (!memory.output.stderr.includes('"run-ended"')) problems.push("the run did not end");
  await asked("after");
  // Whatever the file said, a run that went well just now makes it healthy.
  const health = await ask("/health");
  if (health !== 200) problems.push(`after a good run /health: ${health}`);
  stop.abort();
  await ended;
  return problems;
}

test("a damaged serve.json never stops the server or hides problems", async (context) => {
  const seed = seedFrom(process.env["SEED"]);
  const damages = damagesOf(longHistory(new Date("2026-11-15T06:00:00Z")), new Random(seed));
  const chosen = isNightly ? damages : damages.filter((_, index) => index % 8 === 0);
  const unhandled: string[] = [];
  const onUnhandled = (error: unknown): void => void unhandled.push(String(error));
  process.on("unhandledRejection", onUnhandled);
  context.after(() => process.off("unhandledRejection", onUnhandled));
  const found = new Map<string, number>();
  for (const damage of chosen)
    for (const problem of await problemsWith(damage)) {
      const kind = problem.slice(0, 90);
      if (!found.has(kind)) context.diagnostic(`${damage.name}: ${problem}`);
      found.set(kind, (found.get(kind) ?? 0) + 1);
    }
  context.diagnostic(`${chosen.length} damages, seed ${seed}`);
  assert.deepEqual(unhandled, []);
  assert.deepEqual([...found], []);
});

test(
  "serve starts, answers and compiles with an invalid state file",
  { timeout: 300_000 },
  async (context) => {
    const served = new Served(context, ["||a.example^", "||b.example^"]);
    const folder = join(served.folder, "rules/.rules-compiler");
    mkdirSync(folder, { recursive: true });
    const future = JSON.stringify({ ...longHistory(), lastSuccess: "2199-01-01T00:00:00.000Z" });
    for (const text of ["", "null", '{"version":1,"runs":[],"totals":null}', future]) {
      writeFileSync(join(folder, "serve.json"), text);
      await served.start("--schedule", "0 0 1 1 *");
      const run = await served.event("run-ended");
      assert.match(String(run["outcome"]), /published|unchanged/, text.slice(0, 60));
      for (const path of ["/health", "/", "/metrics"])
        assert.equal((await fetch(served.url(path))).status, 200, path);
      assert.equal(await served.stop(), 0);
      const kept = JSON.parse(readFileSync(join(folder, "serve.json"), "utf8")) as {
        lastSuccess: string;
      };
      assert.ok(Date.parse(kept.lastSuccess) <= Date.now());
    }
  },
);
