import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EngineOptions,
  CompilerError,
  type Config,
  type CompileResult,
  compile,
} from "../support/internals.ts";
import { turnoverOf } from "../../src/sources/size-judge.ts";
import { staleLimit } from "../../src/sources/acquire.ts";
import { type Answer, ScriptedWeb } from "../support/scripted-web.ts";

const URL_A = "https://a.example/l.txt";
const URL_B = "https://b.example/l.txt";
const GOOD = Array.from({ length: 100 }, (_, index) => `||n${index}.example^\n`).join("");
const DAY = 86_400_000;

function config(
  source: Partial<Config["sources"][number]> = {},
  more: Partial<Config> = {},
): Config {
  return {
    name: "n",
    sources: [{ source: URL_A, ...source }, { source: URL_B }],
    ...more,
  };
}

async function build(
  web: ScriptedWeb,
  wish: Config = config(),
  options: EngineOptions = {},
): Promise<CompileResult> {
  const result = await compile(wish, { host: web.host, cacheDir: "/cache", ...options });
  result.close();
  return result;
}

/** A web on which both sources were good once. */
async function seeded(wish?: Config): Promise<ScriptedWeb> {
  const web = new ScriptedWeb();
  web.answers[URL_A] = { body: GOOD, headers: { etag: '"1"' } };
  web.answers[URL_B] = "||other-b.example^\n";
  const { report } = await build(web, wish);
  assert.deepEqual(
    report.sources.map(({ state }) => state),
    ["fetched", "fetched"],
  );
  assert.equal(report.degraded, false);
  return web;
}

async function errorOf(work: Promise<unknown>): Promise<CompilerError> {
  const error = await work.then(
    () => assert.fail("no error"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompilerError, String(error));
  return error;
}

/** Everything that makes a source a failed one, by the code that says so. */
const FAILURES: Readonly<Record<string, readonly [Answer, string]>> = {
  "nobody is there": [{ error: "ECONNREFUSED" }, "fetch-failed"],
  "it takes too long": [{ error: "ETIMEDOUT" }, "fetch-timeout"],
  "its address is private": [{ error: "EPRIVATE" }, "private-address"],
  "404": [{ status: 404 }, "fetch-failed"],
  "500": [{ status: 500 }, "fetch-failed"],
  "304 that nobody asked for": [{ status: 304 }, "fetch-failed"],
  "it is empty": ["", "source-empty"],
  "it is blank": [" \n\t\n", "source-empty"],
  "it is a web page": ["<!DOCTYPE html><html>Login</html>", "source-is-html"],
  "it is binary": [{ body: Uint8Array.from([80, 75, 0, 4]) }, "source-not-text"],
  "it cannot be unpacked": [
    { body: GOOD, headers: { "content-encoding": "gzip" } },
    "source-not-text",
  ],
  "its encoding is unknown": [
    { body: GOOD, headers: { "content-encoding": "rot13" } },
    "source-not-text",
  ],
  "a condition is not closed": [`!#if adguard\n${GOOD}`, "bad-directive"],
  "what it includes is not there": [`!#include gone.txt\n${GOOD}`, "fetch-failed"],
  "it includes itself": [`!#include l.txt\n${GOOD}`, "bad-directive"],
};

for (const [what, [answer, code]] of Object.entries(FAILURES)) {
  test(`${what}: the last good copy is used and reported everywhere`, async () => {
    const web = await seeded();
    // The validators must not help an answer that is not 304.
    web.answers[URL_A] = async (request) =>
      typeof answer !== "string" && "status" in answer && answer.status === 304
        ? request.headers["if-none-match"] === undefined
          ? answer
          : { status: 404 }
        : answer;
    web.time = new Date(web.time.getTime() + 6 * DAY);
    const { report, diagnostics, bytes } = await build(web);
    assert.equal(report.degraded, true);
    assert.equal(report.sources[0]!.state, "stale");
    assert.equal(report.sources[0]!.goodAt, "2026-01-01T00:00:00.000Z");
    assert.equal(report.rules, 101);
    const said = diagnostics.find((one) => one.code === "source-stale")!;
    assert.match(said.message, /2026-01-01/);
    assert.ok((said.cause ?? "").length > 10);
    assert.equal(/allow_private/.test(said.hint ?? ""), code === "private-address");
    assert.match(
      new TextDecoder().decode(bytes),
      /! Source: https:\/\/a\.example\/l\.txt\n! .*2026-01-01/,
    );
  });

  test(`${what}: without a copy it is left out, or an error if it is required`, async () => {
    const web = new ScriptedWeb();
    web.answers[URL_A] = answer;
    web.answers[URL_B] = "||other-b.example^\n";
    for (const error of [
      await errorOf(build(web, config({ required: true }))),
      // Like the reference.
      ...(["source-empty", "private-address"].includes(code)
        ? []
        : [await errorOf(build(web, config(), { compat: true, cacheDir: undefined }))]),
    ]) {
      assert.equal(error.diagnostics[0]!.code, code);
      assert.equal(error.exit, 4);
    }
    const { report, diagnostics } = await build(web);
    assert.equal(report.degraded, true);
    assert.equal(report.sources[0]!.state, "dropped");
    assert.equal(report.rules, 1);
    assert.ok(diagnostics.some((one) => one.code === "source-dropped"));
  });
}

test("a copy is used for half a year, or for max_stale", async () => {
  for (const [days, wish, isUsed] of [
    [179.9, config(), true],
    [180.1, config(), false],
    [200, config({ max_stale: "365d" }), true],
    [7.1, config({ max_stale: "10d" }), true],
    [10.1, config({ max_stale: "10d" }), false],
    [1.1, config({ max_stale: "1d" }), false],
    [0.9, config({ max_stale: "1d" }), true],
    // A copy from the future counts as one of now.
    [-3650, config(), true],
    [-0.04, config(), true],
  ] as const) {
    const web = await seeded();
    web.answers[URL_A] = { status: 503 };
    web.time = new Date(web.time.getTime() + days * DAY);
    const { report, diagnostics } = await build(web, wish);
    assert.equal(report.sources[0]!.state, isUsed ? "stale" : "dropped", `${days}`);
    assert.equal(report.rules, isUsed ? 101 : 1);
    // The day of its end is announced, and named after it.
    const { usedUntil } = report.sources[0]!;
    assert.match(
      diagnostics.find(({ code }) => /stale|dropped/.test(code))!.message,
      new RegExp(`until ${usedUntil!.slice(0, 10)}${isUsed ? ", then it is left out" : "$"}`),
    );
    const [a, b] = wish.sources;
    const needed = { ...wish, sources: [{ ...a!, required: true }, b!] };
    if (isUsed) {
      const { diagnostics: told } = await build(web, needed);
      const { message } = told.find(({ code }) => code === "source-stale")!;
      assert.match(message, /, then nothing is published$/);
      continue;
    }
    const error = await errorOf(build(web, needed));
    assert.deepEqual(
      error.diagnostics.map(({ code }) => code),
      ["fetch-failed", "copy-too-old"],
    );
  }
});

/** A source that replaces this share of its names every so many days. */
function steps(share: number, days = 1): { days: number; share: number }[] {
  return Array.from({ length: 5 }, () => ({ days, share }));
}

test("a copy of a source whose names change quickly is used for a week", () => {
  for (const [turnover, limit] of [
    [turnoverOf([]), 180],
    [turnoverOf(steps(0.005)), 180],
    [turnoverOf(steps(0.03)), 7],
    [turnoverOf(steps(0.3, 30)), 180],
    [turnoverOf(steps(0.6, 30)), 7],
  ] as const)
    assert.equal(staleLimit(undefined, turnover), limit * DAY, String(turnover));
  assert.equal(staleLimit(DAY, turnoverOf(steps(0.001))), DAY);
  assert.equal(staleLimit(99 * DAY, turnoverOf(steps(0.9))), 99 * DAY);
});

test("using a copy does not extend its age limit", async () => {
  const web = await seeded();
  web.answers[URL_A] = { status: 404 };
  const wish = config({ max_stale: "7d" });
  for (let day = 1; day <= 7; day++) {
    web.time = new Date(Date.UTC(2026, 0, 1 + day) - 1000);
    assert.equal((await build(web, wish)).report.sources[0]!.state, "stale");
  }
  web.time = new Date(Date.UTC(2026, 0, 9));
  assert.equal((await build(web, wish)).report.sources[0]!.state, "dropped");
});

test("a source that the server reports as unchanged is not sent again and counts as current", async () => {
  const web = await seeded();
  web.answers[URL_A] = async (request) =>
    request.headers["if-none-match"] === '"1"' ? { status: 304 } : GOOD;
  web.time = new Date(web.time.getTime() + 5 * DAY);
  const { report } = await build(web);
  assert.equal(report.sources[0]!.state, "unchanged");
  assert.equal(report.degraded, false);
  web.answers[URL_A] = { status: 404 };
  web.time = new Date(web.time.getTime() + 5 * DAY);
  assert.equal((await build(web)).report.sources[0]!.state, "stale");
});

test("a copy with changed bytes is not used", async () => {
  const web = await seeded();
  const { files } = web.host as unknown as { files: Map<string, Uint8Array> };
  for (const [path, bytes] of files)
    if (path.startsWith("/cache/objects/"))
      files.set(
        path,
        bytes.map((byte) => byte ^ 1),
      );
  web.answers[URL_A] = async (request) =>
    request.headers["if-none-match"] === undefined ? GOOD : { status: 304 };
  assert.equal((await build(web)).report.sources[0]!.state, "fetched");
});

test("--offline makes no requests and uses copies of any age", async () => {
  const web = await seeded();
  web.asked.length = 0;
  web.time = new Date(web.time.getTime() + 400 * DAY);
  const { report, diagnostics } = await build(web, config(), { offline: true });
  const said = diagnostics.filter(({ code }) => code !== "source-incomplete");
  assert.deepEqual(
    report.sources.map(({ state }) => state),
    ["offline", "offline"],
  );
  assert.equal(report.degraded, false);
  // What the user asked for is no warning.
  assert.deepEqual(
    said.map(({ code, severity, message }) => [code, severity, message]),
    [["offline-copies", "note", "offline: 2 cached copies, oldest from 2026-01-01 00:00 UTC"]],
  );
  assert.equal(web.asked.length, 0);
  const error = await errorOf(build(new ScriptedWeb(), config(), { offline: true }));
  assert.deepEqual(
    error.diagnostics.map(({ code, cause }) => [code, cause]),
    [
      ["offline-copies", "--offline is set"],
      ["offline-copies", "--offline is set"],
      ["sources-missing", undefined],
    ],
  );
});

test("a mirror is tried when the source fails, and its text is cached for the source", async () => {
  const mirror = "https://mirror.example/x.txt";
  const wish = config({ mirrors: [mirror] });
  const web = new ScriptedWeb();
  web.answers[URL_A] = { status: 404 };
  web.answers[URL_B] = "||other-b.example^\n";
  web.answers[mirror] = { body: GOOD, headers: { etag: '"m"' } };
  assert.equal((await build(web, wish)).report.rules, 101);
  web.answers[mirror] = { status: 404 };
  assert.equal((await build(web, wish)).report.sources[0]!.state, "stale");
  const asked = web.asked.filter(({ url }) => url === URL_A);
  assert.ok(asked.every(({ headers }) => headers["if-none-match"] === undefined));
});

test("a mirror is also tried when the source is slow, and the first good response wins", async () => {
  const mirror = "https://mirror.example/x.txt";
  const web = new ScriptedWeb();
  let wasStopped = false;
  web.answers[URL_A] = (request) =>
    new Promise((resolve) => {
      request.signal!.addEventListener("abort", () => {
        wasStopped = true;
        resolve({ error: "ECANCELED" });
      });
    });
  web.answers[URL_B] = "||other-b.example^\n";
  web.answers[mirror] = GOOD;
  assert.equal((await build(web, config({ mirrors: [mirror] }))).report.rules, 101);
  assert.ok(wasStopped);
});

test("transient failures are retried with pauses, permanent ones are not", async () => {
  for (const [answers, tries, waits] of [
    [[{ status: 503 }, { error: "ECONNRESET" }, GOOD], 3, 2],
    [[{ status: 429, headers: { "retry-after": "3" } }, GOOD], 2, 1],
    [[{ status: 404 }], 1, 0],
    [[{ status: 503, headers: { "retry-after": "3600" } }], 1, 0],
    [[{ status: 500 }], 3, 2],
  ] as const) {
    const web = new ScriptedWeb();
    web.answers[URL_A] = [...answers];
    web.answers[URL_B] = "||other-b.example^\n";
    const result = await build(web, config({ required: true })).catch((error: unknown) => error);
    assert.equal(web.asked.filter(({ url }) => url === URL_A).length, tries);
    assert.equal(web.waits.length, waits);
    assert.equal(result instanceof CompilerError, answers.at(-1) !== GOOD);
    if (answers[0].status === 429) assert.ok(web.waits[0]! >= 3000);
  }
});

function hop(to: string): Answer {
  return { status: 302, headers: { location: to } };
}

test("up to five redirects are followed, and each is checked", async () => {
  const web = new ScriptedWeb();
  web.answers[URL_B] = "||other-b.example^\n";
  for (let index = 0; index < 7; index++)
    web.answers[`https://a.example/${index}`] = hop(`/${index + 1}`);
  web.answers["https://a.example/7"] = GOOD;
  web.answers[URL_A] = hop("/3");
  assert.equal((await build(web)).report.rules, 101);
  web.answers[URL_A] = hop("/2");
  const needed = config({ required: true });
  assert.match(
    (await errorOf(build(web, needed, { cacheDir: undefined }))).diagnostics[0]!.cause!,
    /5 redirects/,
  );
  for (const [to, why] of [
    ["http://a.example/7", /https to http/],
    ["file:///etc/passwd", /neither http nor https/],
    ["data:text/plain,x", /neither http nor https/],
  ] as const) {
    web.answers[URL_A] = hop(to);
    const error = await errorOf(build(web, needed, { cacheDir: undefined }));
    assert.match(error.diagnostics[0]!.cause!, why);
  }
});

test("the includes of a list are cached and restored with it", async () => {
  const web = new ScriptedWeb();
  web.answers[URL_A] = `!#include more.txt\n${GOOD}`;
  web.answers["https://a.example/more.txt"] = "||more.example^\n";
  web.answers[URL_B] = "||other-b.example^\n";
  assert.equal((await build(web)).report.rules, 102);
  web.answers["https://a.example/more.txt"] = { status: 404 };
  const { report } = await build(web);
  assert.equal(report.rules, 102);
  assert.equal(report.sources[0]!.state, "stale");
});

test("no password is written to the cache", async () => {
  const secret = "https://user:hunter22@a.example/l.txt?x=1";
  const web = new ScriptedWeb();
  web.answers[secret] = `!#include more.txt\n${GOOD}`;
  web.answers["https://user:hunter22@a.example/more.txt"] = "||more.example^\n";
  web.answers[URL_B] = "||other-b.example^\n";
  await build(web, config({ source: secret }));
  const { files } = web.host as unknown as { files: Map<string, Uint8Array> };
  assert.ok(files.size >= 4);
  for (const [path, bytes] of files)
    assert.doesNotMatch(path + new TextDecoder().decode(bytes), /hunter22/);
  web.answers[secret] = { status: 404 };
  assert.equal((await build(web, config({ source: secret }))).report.rules, 102);
});

test("an unwritable cache causes one warning and changes nothing", async () => {
  const web = new ScriptedWeb();
  web.answers[URL_A] = GOOD;
  web.answers[URL_B] = "||other-b.example^\n";
  const host = {
    ...web.host,
    createFile: () => {
      throw Object.assign(new Error("read-only"), { code: "EROFS", name: "HostError" });
    },
  };
  const { HostError } = await import("../support/internals.ts");
  const refusing = {
    ...host,
    createFile: (): never => {
      throw new HostError("EROFS", "read-only file system");
    },
  };
  const result = await compile(config(), { host: refusing, cacheDir: "/cache" });
  assert.equal(result.report.rules, 101);
  assert.equal(result.diagnostics.filter(({ code }) => code === "cache-unusable").length, 1);
});

test("an interrupted run leaves no copy open, even if a server answers after it stopped", async () => {
  const web = await seeded();
  let open = 0;
  const host = {
    ...web.host,
    openFile: async (path: string) => {
      const file = await web.host.openFile(path);
      open++;
      return { ...file, close: async () => void open-- };
    },
  };
  const stop = new AbortController();
  const { signal } = stop;
  web.answers[URL_A] = async () => {
    await new Promise((go) => signal.addEventListener("abort", go));
    // The other source has failed by now.
    for (let turn = 0; turn < 5; turn++) await new Promise((go) => setTimeout(go, 0));
    return { status: 304 };
  };
  web.answers[URL_B] = async () => {
    stop.abort();
    return "||other-b.example^\n";
  };
  await assert.rejects(compile(config(), { host, cacheDir: "/cache", signal }), /abort/i);
  // Closing a file takes a turn.
  for (let turn = 0; turn < 20; turn++) await new Promise((go) => setTimeout(go, 0));
  assert.equal(open, 0);
});
