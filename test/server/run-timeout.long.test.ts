import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../../src/cli/main.ts";
import type { Answerer, Host, SelfRun, SelfRunEnd } from "../../src/host/host.ts";
import { type MemoryHost, memoryHost } from "../support/internals.ts";
import { withDeadline } from "../../src/server/runs.ts";
import { Served } from "../support/served.ts";
import { BUILT } from "../support/built-document.ts";

const TOKEN = "0123456789abcdef";
/** `serve` in memory, with a fake compile. */
async function serving(
  words: readonly string[],
  compile: (run: SelfRun) => Promise<SelfRunEnd>,
): Promise<{
  readonly host: MemoryHost;
  readonly ask: (path: string) => Promise<string>;
  readonly stop: () => Promise<number>;
}> {
  const config = { name: "n", sources: [{ name: "a", source: "a.txt", type: "adblock" }] };
  const memory = memoryHost({
    files: {
      "compiler-config.json": JSON.stringify(config),
      "a.txt": "||a.example^\n",
      token: TOKEN,
    },
    now: new Date("2026-11-15T12:00:00Z"),
  });
  const stop = new AbortController();
  let listening!: (answer: Answerer) => void;
  const answerer = new Promise<Answerer>((resolve) => (listening = resolve));
  const host: Host = {
    ...memory,
    runSelf: compile,
    wait: (_ms, signal) =>
      new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
    listen: async ({ address, port }, answer) => {
      listening(answer);
      return { address, port, close: async () => {} };
    },
  };
  const ended = run(["serve", "--json", "--token-file", "token", ...words], host, stop.signal);
  const answer = await answerer;
  return {
    host: memory,
    ask: async (target) => {
      const method = target === "/compile" ? "POST" : "GET";
      const headers = { host: "localhost", authorization: `Bearer ${TOKEN}` };
      const { body } = await answer({ method, target, headers, address: "127.0.0.1" });
      return typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array);
    },
    stop: async () => {
      stop.abort();
      return await ended;
    },
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((turned) => setTimeout(turned, 5));
}

function endedRuns({ output }: MemoryHost): Record<string, unknown>[] {
  return output.stderr
    .split("\n")
    .filter((line) => line.includes('"run-ended"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test(
  "a run that exceeds its limit is stopped and reported, and the next one runs",
  { timeout: 20_000 },
  async () => {
    let isEndless = true;
    let stops = 0;
    const { host, ask, stop } = await serving(["--run-timeout", "0.2s"], async ({ signal }) => {
      if (!isEndless) return { exit: 0, stdout: JSON.stringify(BUILT) };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      stops++;
      return { exit: undefined, stdout: "" };
    });
    await until(() => endedRuns(host).length === 1);
    assert.equal(stops, 1);
    const [first] = endedRuns(host);
    assert.equal(first!["outcome"], "failed");
    assert.equal(first!["reason"], "run-timeout");
    assert.equal(first!["exit"], null);
    const health = JSON.parse(await ask("/health")) as {
      reason: string;
      running: boolean;
      lastProblem: { code: string };
    };
    assert.equal(health.lastProblem.code, "run-timeout");
    assert.match(health.reason, /run took longer than 0\.2 s/);
    assert.equal(health.running, false);
    const metrics = await ask("/metrics");
    assert.match(metrics, /^rules_compiler_run_timeouts_total 1$/m);
    assert.match(metrics, /^rules_compiler_runs_total\{outcome="failed"\} 1$/m);
    assert.match(await ask("/"), /run took longer than 0\.2 s/);
    isEndless = false;
    assert.match(await ask("/compile"), /"started"/);
    await until(() => endedRuns(host).length === 2);
    assert.equal(endedRuns(host)[1]!["outcome"], "published");
    assert.equal(endedRuns(host)[1]!["reason"], undefined);
    assert.equal(await stop(), 0);
  },
);

test("work that ignores the abort signal is abandoned", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let isTold = false;
  const ended = withDeadline(900_000, new AbortController().signal, (signal) => {
    signal.addEventListener("abort", () => (isTold = true));
    return new Promise(() => {});
  });
  context.mock.timers.tick(899_999);
  assert.equal(isTold, false);
  context.mock.timers.tick(1);
  assert.equal(isTold, true);
  context.mock.timers.tick(10_000);
  assert.deepEqual(await ended, { value: undefined, isLate: true });
});

test("a deadline of 0 means none, and one of years does not fire at once", async () => {
  for (const ms of [0, 1e12])
    assert.deepEqual(
      await withDeadline(ms, new AbortController().signal, async (signal) => {
        await new Promise((turned) => setTimeout(turned, 20));
        return signal.aborted;
      }),
      { value: false, isLate: false },
    );
});

test(
  "a compile that blocks its event loop is ended, and the next one works",
  { timeout: 60_000 },
  async (context) => {
    const served = new Served(context, ["||a.example^", "||b.example^"]);
    const plugin = join(served.folder, "own.mjs");
    const write = (rule: string): void =>
      writeFileSync(
        plugin,
        `export default { transformations: { Own: { summary: "x", rule: ${rule} } } };`,
      );
    const config = {
      name: "My list",
      plugins: ["own.mjs"],
      sources: [{ name: "a", source: "a.txt", type: "adblock" }],
      transformations: ["Own"],
    };
    writeFileSync(join(served.folder, "compiler-config.json"), JSON.stringify(config));
    write("() => { for (;;); }");
    await served.start("--schedule", "0 0 1 1 *", "--permit", "plugins", "--run-timeout", "5s");
    const ended = await served.event("run-ended");
    assert.equal(ended["outcome"], "failed");
    assert.equal(ended["reason"], "run-timeout");
    assert.ok((ended["seconds"] as number) < 12, String(ended["seconds"]));
    write("(text) => text");
    served.child.kill("SIGHUP");
    assert.equal((await served.event("run-ended", 2))["outcome"], "published");
    assert.equal(await served.stop(), 0);
  },
);
