import type { Health } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { withoutEscapes } from "../../src/cli/output/reporter.ts";
import { DiskProject } from "../support/disk-project.ts";
import { type Replies, webhook } from "../support/hook-project.ts";
import type { Said } from "../support/memory-project.ts";

const EVIL = "\u001b[2J\u009b31m\u202e\r\n<evil>";

/** A name of a field that a server does not send would not compile. */
const HEALTH = {
  status: "healthy",
  isHealthy: true,
  reason: "the last successful build is 0.1 h old; held: Home",
  running: false,
  next: "2026-11-16T10:30:00.000Z",
  lastRun: {
    at: "2026-11-16T04:30:00.000Z",
    trigger: "schedule",
    outcome: "published",
    seconds: 1.94,
  },
  lists: [
    { list: "Home", rules: 181_032, publishedAt: "2026-11-15T04:30:00.000Z" },
    { list: "Work", rules: 20, publishedAt: "2026-11-16T04:30:00.000Z" },
  ],
  held: [
    {
      list: "Home",
      since: "2026-11-16T01:00:00.000Z",
      by: "anna",
      build: "2026-11-14T04:30:00.000Z",
    },
  ],
  sources: [
    { label: "Ads", state: "stale", goodAt: "2026-11-10T00:00:00.000Z", lines: 9, kept: 8 },
    { label: "Own", state: "local", goodAt: null, lines: 1, kept: 1 },
  ],
  resolvers: [
    {
      resolver: "kitchen",
      list: "Home",
      outcome: "proved",
      build: "0123456789ab",
      at: "2026-11-16T04:31:00.000Z",
      latencyMs: 2.4,
    },
  ],
} satisfies Partial<Omit<Health, "resolvers">> & { resolvers: unknown };

async function status(context: TestContext, reply: Replies, ...words: string[]): Promise<Said> {
  const { base, received } = await webhook(context, () => reply);
  const said = await new DiskProject(context).run("status", `${base}/`, ...words);
  assert.deepEqual(
    received.map(({ method, url }) => `${method} ${url}`),
    ["GET /health"],
  );
  return said;
}

test("status shows a server on one screen", async (context) => {
  const { exit, stdout } = await status(context, { body: JSON.stringify(HEALTH) });
  assert.equal(exit, 0);
  assert.equal(
    stdout,
    `healthy: the last successful build is 0.1 h old; held: Home
last run  2026-11-16 04:30 UTC, published, 1.9 s, by schedule
next run  2026-11-16 10:30 UTC
sources   2 sources, 1 not available
lists
  Home  181,032 rules  held at the build of 2026-11-14 04:30 UTC
  Work       20 rules  published 2026-11-16 04:30 UTC
sources that are not available
  Ads  stale  last available 2026-11-10 00:00 UTC
resolvers
  kitchen  Home  proved  0123456789ab  2 ms  2026-11-16 04:31 UTC
`,
  );
});

test("status says what is not known yet, and what an earlier server does not report", async (context) => {
  const body = { ...HEALTH, lastRun: null, resolvers: [{ resolver: "new", outcome: null }] };
  const { stdout } = await status(context, { body: JSON.stringify(body) });
  assert.match(stdout, /^last run {2}none yet$/m);
  assert.match(stdout, /^ {2}new .*not proved yet/m);
  const old = { status: "healthy", reason: "the last successful build is 0.1 h old" };
  const { stdout: said } = await status(context, { body: JSON.stringify(old) });
  assert.match(said, /^last run {2}not reported by this server$/m);
  assert.match(said, /^sources {3}not reported by this server$/m);
});

function many<T>(one: T): T[] {
  return Array<T>(500).fill(one);
}

test("a server with many lists, sources and resolvers fits on the screen, too", async (context) => {
  const { lists, held, sources, resolvers } = HEALTH;
  const body = JSON.stringify({
    ...HEALTH,
    reason: "long ".repeat(500),
    lists: many(lists[0]),
    held: many(held[0]),
    sources: many(sources[0]),
    resolvers: many({ ...resolvers[0], resolver: "x".repeat(500) }),
  });
  const { stdout } = await status(context, { body });
  const lines = stdout.trimEnd().split("\n");
  assert.ok(lines.length <= 25, `${lines.length} lines`);
  assert.equal(lines.filter((line) => line === "  and 496 more").length, 3);
});

test("nothing that a server sends reaches the terminal unescaped", async (context) => {
  const evil = (value: unknown): unknown => {
    if (typeof value === "string") return EVIL;
    if (Array.isArray(value)) return value.map(evil);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, /At$|^at$|next/.test(key) ? one : evil(one)]),
    );
  };
  const wrong: readonly unknown[] = [
    evil(HEALTH),
    ...["lists", "held", "sources", "resolvers", "lastRun", "next"].flatMap((field) =>
      [7, EVIL, null, [EVIL], [null], [[EVIL]], { x: EVIL }].map((value) => ({
        ...HEALTH,
        [field]: value,
      })),
    ),
  ];
  for (const health of wrong)
    for (const words of [[], ["--json"], ["--color", "always"]]) {
      const { exit, stdout, stderr } = await status(
        context,
        { body: JSON.stringify(health) },
        ...words,
      );
      assert.equal(exit, 0, stderr);
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(
        withoutEscapes(stdout + stderr),
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
      );
      if (words[0] === "--json") assert.deepEqual(JSON.parse(stdout), health);
    }
});

test("an unhealthy server, another program or no answer ends in exit code 11", async (context) => {
  const unwell = { ...HEALTH, status: "unhealthy", reason: "no build has succeeded yet" };
  const sick = await status(context, { status: 503, body: JSON.stringify(unwell) });
  assert.equal(sick.exit, 11);
  assert.match(sick.stdout, /^unhealthy: no build has succeeded yet\nlast run/);
  assert.match(sick.stderr, /error\[health-failed\]/);
  for (const body of ["<html>", "null", "[]", '{"status":1}', ""]) {
    const other = await status(context, { body }, "--json");
    assert.equal(other.exit, 11);
    assert.equal(other.stdout, "");
  }
  const silent = await new DiskProject(context).run("status", "--port", "1");
  assert.equal(silent.exit, 11);
  assert.match(silent.stderr, /No server responds at http:\/\/127\.0\.0\.1:1\/health/);
});

test("status takes the URL of a server, and a password in it is not repeated", async (context) => {
  const project = new DiskProject(context);
  for (const url of [
    "example.org",
    "file:///etc/passwd",
    "ftp://example.org",
    "http://anna:hunter2@example.org/",
    "http://example.org/?token=hunter2",
    "http://",
  ]) {
    const { exit, stderr } = await project.run("status", url);
    assert.equal(exit, 2, url);
    assert.match(stderr, /status takes the URL of a server/);
    assert.doesNotMatch(stderr, /hunter2/);
  }
});
