import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { isNightly } from "../support/nightly.ts";
import { Served } from "../support/served.ts";
import { longHistory } from "../support/server-history.ts";

const LINES = Array.from({ length: 200 }, (_, index) => `||d${index}.example^`);
const ONCE_A_YEAR = ["--schedule", "0 0 1 1 *"] as const;

/** Starts the hostile client and waits until it has connected everywhere. */
async function attack(context: TestContext, ...words: readonly (string | number)[]): Promise<void> {
  const script = join(import.meta.dirname, "../support/attacker.ts");
  const child: ChildProcess = spawn(
    "sh",
    ["-c", 'ulimit -n 20000; exec "$0" "$@"', process.execPath, script, ...words.map(String)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  context.after(() => child.kill("SIGKILL"));
  await once(child.stdout!, "data");
}

interface Probe {
  readonly isGood: boolean;
  readonly ms: number;
}

/** One question for /health on a connection of its own; no answer within five seconds is a failure. */
function probe(port: number, localAddress: string): Promise<Probe> {
  const began = performance.now();
  return new Promise((resolve) => {
    const end = (isGood: boolean): void => resolve({ isGood, ms: performance.now() - began });
    const request = http.get(
      { port, host: "127.0.0.1", path: "/health", localAddress, agent: false, timeout: 5000 },
      (response) => response.resume().once("end", () => end(response.statusCode === 200)),
    );
    request.once("error", () => end(false));
    request.once("timeout", () => request.destroy());
  });
}

async function probes(count: number, port: number, ...addresses: string[]): Promise<Probe[]> {
  const results: Probe[] = [];
  for (let index = 0; index < count; index++) {
    results.push(await probe(port, addresses[index % addresses.length]!));
    await new Promise((turned) => setTimeout(turned, 10));
  }
  return results;
}

function slowest(results: readonly Probe[], part: number): number {
  const times = results.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return times[Math.ceil(times.length * part) - 1]!;
}

/** Rounds of probes, of which one must be quick enough. */
const MOST_ROUNDS = isNightly ? 1 : 5;

function failures(results: readonly Probe[]): number {
  return results.filter(({ isGood }) => !isGood).length;
}

function megabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
}

test(
  "2,400 pipelined requests on each of 20 connections cost no memory, and /health responds",
  { timeout: 120_000, skip: process.platform !== "linux" },
  async (context) => {
    const served = new Served(context, LINES);
    const state = join(served.folder, "rules/.rules-compiler");
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "serve.json"), JSON.stringify(longHistory()));
    await served.start(...ONCE_A_YEAR);
    await served.event("run-ended");
    const page = await (await fetch(served.url("/"))).text();
    assert.ok(page.length > 15_000, `the page has only ${page.length} bytes`);
    // What an ordinary load takes is not the attack's.
    await probes(200, served.port, "127.0.0.1");
    const before = megabytes(served.child.pid!);
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, megabytes(served.child.pid!))), 20);
    context.after(() => clearInterval(watch));
    await attack(context, "pipeline", served.port, 20, 2400);
    const results: Probe[] = [];
    let p99 = Infinity;
    // A machine that does other work too is slow at times; a server that cannot answer is slow every time.
    for (let round = 0; round < MOST_ROUNDS && p99 > 100; round++) {
      const now = await probes(isNightly ? 1500 : 150, served.port, "127.0.0.1");
      results.push(...now);
      p99 = Math.min(p99, slowest(now, 0.99));
    }
    context.diagnostic(
      `memory +${(most - before).toFixed(0)} MB, health p50 ${slowest(results, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${failures(results)} of ${results.length} failed`,
    );
    assert.equal(failures(results), 0);
    assert.ok(most - before <= 50, `${(most - before).toFixed(0)} MB more`);
    assert.ok(p99 <= 100, `p99 ${p99.toFixed(0)} ms`);
  },
);

test(
  "slow readers from many addresses do not block health probes",
  { timeout: 240_000, skip: process.platform !== "linux" },
  async (context) => {
    const served = new Served(
      context,
      Array.from({ length: 200_000 }, (_, index) => `||a-name-that-takes-room-${index}.example^`),
    );
    await served.start(...ONCE_A_YEAR);
    await served.event("run-ended");
    const [readers, addresses] = isNightly ? [10_000, 200] : [1200, 40];
    await attack(context, "slow", served.port, readers, addresses, "/rules/my-list.txt");
    // From an address of its own, and from two that the attack comes from.
    const results = await probes(
      isNightly ? 600 : 90,
      served.port,
      "127.0.0.1",
      "127.0.1.1",
      "127.0.1.7",
    );
    context.diagnostic(
      `${readers} slow readers: ${failures(results)} of ${results.length} probes failed, p50 ${slowest(results, 0.5).toFixed(1)} ms, p99 ${slowest(results, 0.99).toFixed(1)} ms`,
    );
    assert.equal(failures(results), 0);
  },
);

/** Reads a list at a limited speed, and returns the number of bytes that arrived. */
function download(port: number, localAddress: string, bytesPerMs: number): Promise<number> {
  return new Promise((resolve) => {
    const began = performance.now();
    let length = 0;
    const path = "/rules/my-list.txt";
    const options = { port, host: "127.0.0.1", path, localAddress, agent: false };
    const request = http.get(options, (response) => {
      response.on("data", (piece: Uint8Array) => {
        length += piece.length;
        const early = length / bytesPerMs - (performance.now() - began);
        if (early < 5) return;
        response.pause();
        setTimeout(() => response.resume(), early);
      });
      response.once("close", () => resolve(length));
    });
    request.once("error", () => resolve(length));
  });
}

for (const [mode, what] of [
  ["idle", "ask nothing"],
  ["mute", "ask for the list and read nothing"],
])
  test(
    `600 connections a second from many addresses that ${what} break no download`,
    { timeout: 240_000, skip: process.platform !== "linux" },
    async (context) => {
      const served = new Served(
        context,
        Array.from({ length: 400_000 }, (_, index) => `||a-name-that-takes-room-${index}.example^`),
      );
      await served.start(...ONCE_A_YEAR);
      await served.event("run-ended");
      const whole = (await (await fetch(served.url("/rules/my-list.txt"))).arrayBuffer())
        .byteLength;
      assert.ok(whole > 15e6, `only ${whole} bytes`);
      const before = [1, 2, 3, 4].map((at) => download(served.port, `127.9.0.${at}`, 2000));
      await new Promise((later) => setTimeout(later, 2500));
      await attack(context, mode!, served.port, 600, 400, "/rules/my-list.txt");
      // A client that comes during the attack, and asks at once, is served, too.
      const during: number[] = [];
      const probed = probes(40, served.port, "127.0.0.1", "127.0.1.1");
      for (let at = 0; at < 4; at++)
        during.push(await download(served.port, `127.9.1.${at + 1}`, 20_000));
      const results = await probed;
      const lengths = await Promise.all(before);
      context.diagnostic(
        `${mode}: before ${lengths.filter((one) => one === whole).length} of 4 whole, during ${during.filter((one) => one === whole).length} of 4, ${failures(results)} of ${results.length} probes failed`,
      );
      assert.deepEqual(
        lengths,
        lengths.map(() => whole),
      );
      if (mode === "idle")
        assert.deepEqual(
          during,
          during.map(() => whole),
        );
      if (mode === "idle") assert.equal(failures(results), 0);
    },
  );
