import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  type EngineOptions,
  CompilerError,
  type CompileResult,
  type Config,
  type Host,
  compile,
} from "../support/internals.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";
import { isNightly } from "../support/nightly.ts";

const EVIL = "https://evil.example/";
const GOOD = "https://good.example/l.txt";
const INCLUDES = isNightly ? 60 : 12;

async function run(
  sources: Config["sources"],
  host: Host,
  options: EngineOptions = {},
): Promise<CompileResult> {
  const result = await compile({ name: "n", sources }, { host, ...options });
  result.close();
  return result;
}

/** A source that includes so many files, and one that does nobody any harm. */
function includingWeb(file: (index: number) => string, count = INCLUDES): ScriptedWeb {
  const web = new ScriptedWeb();
  web.answers[GOOD] = "||other.example^\n";
  web.answers[`${EVIL}l.txt`] = Array.from(
    { length: count },
    (_, index) => `!#include ${file(index)}\n`,
  ).join("");
  return web;
}

async function outcomeOf(
  web: ScriptedWeb,
  fetchLimits: NonNullable<EngineOptions["fetchLimits"]>,
): Promise<{ states: string[]; cause: string; result: CompileResult }> {
  const sources = [{ source: `${EVIL}l.txt`, required: false }, { source: GOOD }];
  const result = await run(sources, web.host, { fetchLimits });
  const { report, diagnostics } = result;
  const cause = diagnostics.find(({ code }) => code === "source-dropped")?.cause ?? "";
  return { states: report.sources.map(({ state }) => state), cause, result };
}

const LINES = "||a.example^\n".repeat(500);

test("the byte limit applies to a source with its includes", async () => {
  const web = includingWeb((index) => `${index}.txt`);
  for (let index = 0; index < INCLUDES; index++) web.answers[`${EVIL}${index}.txt`] = LINES;
  const { states, cause } = await outcomeOf(web, { maxBytes: LINES.length * 5 });
  assert.deepEqual(states, ["dropped", "fetched"]);
  assert.match(cause, /with its includes it is larger than/);
  assert.ok(web.asked.length <= 9, `${web.asked.length} requests`);
});

test("compressed includes count with their decompressed size", async () => {
  const web = includingWeb((index) => `${index}.txt`);
  const body = gzipSync(LINES);
  for (let index = 0; index < INCLUDES; index++)
    web.answers[`${EVIL}${index}.txt`] = { body, headers: { "content-encoding": "gzip" } };
  const { states } = await outcomeOf(web, { maxBytes: LINES.length * 5 });
  assert.deepEqual(states, ["dropped", "fetched"]);
  assert.ok(web.asked.length <= 9, `${web.asked.length} requests`);
});

test("a file that is included repeatedly counts every time", async () => {
  const web = includingWeb(() => "same.txt");
  web.answers[`${EVIL}same.txt`] = LINES;
  const { states, cause } = await outcomeOf(web, { maxBytes: LINES.length * 5 });
  assert.deepEqual(states, ["dropped", "fetched"]);
  assert.match(cause, /with its includes it is larger than/);
});

test("the line limit applies to a source with its includes", async () => {
  const web = includingWeb((index) => `${index}.txt`);
  for (let index = 0; index < INCLUDES; index++)
    web.answers[`${EVIL}${index}.txt`] = `||a.example^${"\n".repeat(1000)}||b.example^\n`;
  const { states, cause } = await outcomeOf(web, { maxLines: 5000 });
  assert.deepEqual(states, ["dropped", "fetched"]);
  assert.match(cause, /more than 5000 lines/);
});

test("a source within its limits is accepted with its includes", async () => {
  const web = includingWeb((index) => `${index}.txt`, 4);
  for (let index = 0; index < 4; index++)
    web.answers[`${EVIL}${index}.txt`] = `||n${index}.example^\n`;
  const { states, result } = await outcomeOf(web, { maxBytes: 2000, maxLines: 20 });
  assert.deepEqual(states, ["fetched", "fetched"]);
  assert.equal(result.report.rules, 5);
});

test("a source with a higher limit of bytes may have as many more lines", async () => {
  const web = new ScriptedWeb();
  web.answers[GOOD] = `||a.example^${"\n".repeat(90)}||b.example^\n`;
  const fetchLimits = { maxBytes: 500, maxLines: 50 };
  const within = await run([{ source: GOOD, max_bytes: "1K" }], web.host, { fetchLimits });
  assert.equal(within.report.rules, 2);
  await assert.rejects(
    run([{ source: GOOD, max_bytes: "800" }], web.host, { fetchLimits }),
    (error) =>
      error instanceof CompilerError &&
      /more than 80 lines/.test(error.diagnostics[0]?.cause ?? ""),
  );
});

/** A web whose temporary folder has so much room, and that says how much was in it at most. */
function withRoom(web: ScriptedWeb, free: number): { host: Host; peak: () => number } {
  let [now, peak] = [0, 0];
  const host: Host = {
    ...web.host,
    scratchSpace: async () => ({ folder: "/tmp", free }),
    openScratch() {
      const scratch = web.host.openScratch();
      let size = 0;
      return {
        ...scratch,
        append(bytes) {
          size += bytes.length;
          now += bytes.length;
          peak = Math.max(peak, now);
          return scratch.append(bytes);
        },
        close() {
          now -= size;
          size = 0;
          scratch.close();
        },
      };
    },
  };
  return { host, peak: () => peak };
}

test("downloads may use a quarter of the temporary folder; beyond that the largest is stopped", async () => {
  const web = new ScriptedWeb();
  const good = Array.from({ length: 8 }, (_, index) => `https://good${index}.example/l.txt`);
  for (const url of good) web.answers[url] = "||good.example^\n".repeat(400);
  // It sends for as long as anybody listens, and the others come in between.
  web.answers[EVIL] = async (request) => {
    const piece = new TextEncoder().encode("||evil.example^\n".repeat(64));
    for (let round = 0; round < 100_000; round++) {
      if (request.signal?.aborted === true) return { error: "ECANCELED" };
      request.take(piece);
      if (round % 16 === 0) await new Promise((turned) => setImmediate(turned));
    }
    return "";
  };
  const { host, peak } = withRoom(web, 1_000_000);
  const sources = [{ source: EVIL, required: false }, ...good.map((source) => ({ source }))];
  const { report, diagnostics } = await run(sources, host);
  assert.deepEqual(
    report.sources.map(({ state }) => state),
    ["dropped", ...good.map(() => "fetched")],
  );
  const dropped = diagnostics.find(({ code }) => code === "source-dropped");
  assert.match(dropped?.cause ?? "", /250000 bytes into the temporary folder/);
  assert.ok(peak() < 320_000, `${peak()} bytes`);
});

/** A server that takes its time. */
function slowly(web: ScriptedWeb, url: string, ms: number, body = "||a.example^\n"): void {
  web.answers[url] = async ({ signal }) => {
    await new Promise((done) => setTimeout(done, ms));
    return signal?.aborted === true ? { error: "ECANCELED" } : body;
  };
}

test("a download leaves the temporary folder as soon as it is cached", async () => {
  const web = new ScriptedWeb();
  const body = "||good.example^\n".repeat(1000);
  const urls = Array.from({ length: 40 }, (_, index) => `https://good${index}.example/l.txt`);
  for (const url of urls) slowly(web, url, 3, body);
  const { host, peak } = withRoom(web, body.length * 4 * 20);
  const { report } = await run(
    urls.map((source) => ({ source })),
    host,
    { cacheDir: "/cache", fetchLimits: { atOnce: 2 } },
  );
  assert.equal(report.sources.filter(({ state }) => state === "fetched").length, 40);
  assert.ok(peak() <= body.length * 20, `${peak()} bytes`);
});

test("waiting for a slot does not count towards the timeout of a source", async () => {
  const web = new ScriptedWeb();
  const urls = Array.from({ length: 30 }, (_, index) => `https://one.example/${index}.txt`);
  for (const url of urls) slowly(web, url, 40);
  const { report } = await run(
    urls.map((source) => ({ source })),
    web.host,
    { fetchLimits: { atOnce: 16, atOnceWithHost: 3, sourceMs: 200 } },
  );
  assert.ok(report.sources.every(({ state }) => state === "fetched"));
});

test("sources that never end do not delay the others", async () => {
  const web = new ScriptedWeb();
  const evil = Array.from({ length: 4 }, (_, index) => `https://evil${index}.example/`);
  for (const url of evil)
    web.answers[url] = (request) =>
      new Promise((resolve) => {
        request.signal?.addEventListener("abort", () => resolve({ error: "ECANCELED" }));
      });
  const good = Array.from({ length: 4 }, (_, index) => `https://good${index}.example/`);
  for (const url of good) slowly(web, url, 20);
  const { report } = await run(
    [...evil.map((source) => ({ source, required: false })), ...good.map((source) => ({ source }))],
    web.host,
    { fetchLimits: { atOnce: 4, sourceMs: 150 } },
  );
  assert.deepEqual(
    report.sources.map(({ state }) => state),
    [...evil.map(() => "dropped"), ...good.map(() => "fetched")],
  );
});

test("a source with many mirrors uses one slot while others wait", async () => {
  const web = new ScriptedWeb();
  const good = Array.from({ length: 6 }, (_, index) => `https://good${index}.example/`);
  let [evil, most, left] = [0, 0, good.length];
  const mirrors = Array.from({ length: 8 }, (_, index) => `https://mirror${index}.example/`);
  for (const url of [EVIL, ...mirrors])
    web.answers[url] = async () => {
      evil++;
      if (left > 1) most = Math.max(most, evil);
      await new Promise((done) => setTimeout(done, 20));
      evil--;
      return { status: 404 };
    };
  for (const url of good) {
    // Who is redirected has to wait again.
    web.answers[url] = async () => {
      await new Promise((done) => setTimeout(done, 20));
      return { status: 302, headers: { location: `${url}l.txt` } };
    };
    web.answers[`${url}l.txt`] = async () => {
      left--;
      await new Promise((done) => setTimeout(done, 20));
      return "||a.example^\n";
    };
  }
  const sources = [
    { source: EVIL, mirrors, required: false },
    ...good.map((source) => ({ source })),
  ];
  const { report } = await run(sources, web.host, { fetchLimits: { atOnce: 2, hedgeMs: 0 } });
  assert.equal(report.sources.filter(({ state }) => state === "fetched").length, 6);
  assert.equal(most, 1);
});

test("a source that waits for a slot stops with the run", async () => {
  const web = new ScriptedWeb();
  const stop = new AbortController();
  let asked = 0;
  const urls = Array.from({ length: 20 }, (_, index) => `https://one.example/${index}.txt`);
  for (const url of urls)
    web.answers[url] = async () => {
      if (++asked === 2) setTimeout(() => stop.abort(), 10);
      await new Promise((done) => setTimeout(done, 100));
      return { error: "ECANCELED" };
    };
  const error = await run(
    urls.map((source) => ({ source })),
    web.host,
    { signal: stop.signal, fetchLimits: { atOnce: 2 } },
  ).catch((reason: unknown) => reason);
  assert.ok(error instanceof CompilerError, String(error));
  assert.equal(asked, 2);
});
