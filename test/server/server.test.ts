import type { ResolverState } from "../../src/documents/facts.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { type History, NO_HISTORY, isHistory, withRun } from "../../src/server/history.ts";
import { metricsText } from "../../src/server/metrics.ts";
import { BearerToken } from "../../src/server/requests.ts";
import { type RouteContext, route } from "../../src/server/routes.ts";
import { WhyAnswers } from "../../src/server/why.ts";
import { run as program } from "../../src/cli/main.ts";
import { type Host, HostError, memoryHost } from "../support/internals.ts";
import { withoutCodes } from "../support/screen.ts";
import {
  CAUSES,
  HOUR,
  NOW,
  REFUSED,
  STALE,
  build,
  health,
  page,
  run,
} from "../support/server-states.ts";

function metrics(
  history: History,
  more: Partial<Parameters<typeof metricsText>[0]> = {},
): readonly string[] {
  return metricsText({
    history,
    lists: [],
    isHealthy: true,
    isRunning: false,
    startedAt: NOW,
    next: NOW + HOUR,
    lagMs: 0,
    requests: new Map(),
    ...more,
  }).split("\n");
}

function assertLines(text: readonly string[], expected: readonly string[]): void {
  for (const line of expected) assert.ok(text.includes(line), `${line}\n${text.join("\n")}`);
}

const HOME: ResolverState = {
  resolver: 'ho"me',
  list: "My list",
  outcome: "stale",
  detail: "answers from <b>",
  build: "0123456789ab",
  at: "2026-11-15T11:30:00.000Z",
  since: "2026-11-15T11:00:00.000Z",
  latencyMs: 12,
  upstream: true,
  unansweredMs: 700,
  lastProved: { at: "2026-11-15T06:00:00.000Z", build: "ba9876543210" },
};
const NEVER: ResolverState = {
  resolver: "new",
  list: "My list",
  outcome: null,
  detail: null,
  build: null,
  at: null,
  since: null,
  latencyMs: null,
  upstream: null,
  unansweredMs: null,
  lastProved: null,
};

test("the page says how to release a held list, by name if there are several", () => {
  const good = withRun(NO_HISTORY, run({}), build());
  const held = [{ list: "My <list>", since: null, by: null, build: null }];
  const pageFor = (listNames: readonly string[]): string =>
    page(good, { health: health(good, { held }), asks: { listNames } });
  assert.match(pageFor(["My <list>"]), /<code>rules-compiler hold --end<\/code>/);
  const several = pageFor(["My <list>", "Other"]);
  assert.match(several, /hold --end --filter (?:'|&#39;|&apos;)My &lt;list&gt;/);
});

test("resolvers are in the health, the metrics and on the page, and one that is not proved degrades", () => {
  const good = withRun(NO_HISTORY, run({}), build());
  const degraded = health(good, { resolvers: [HOME, NEVER] });
  assert.equal(degraded.status, "degraded");
  assert.equal(degraded.isHealthy, true, "the list is served all the same");
  assert.match(degraded.reason, /; resolvers that are not proved: ho"me \(stale\)$/);
  assert.deepEqual(degraded.resolvers, [HOME, NEVER]);
  const proved = { ...HOME, outcome: "proved" as const };
  assert.equal(health(good, { resolvers: [proved, NEVER] }).status, "healthy");
  const refused = withRun(good, REFUSED, undefined);
  assert.equal(health(refused, { resolvers: [HOME] }).status, "refused");
  assertLines(metrics(good, { resolvers: [HOME, NEVER] }), [
    'rules_compiler_resolver_proved{resolver="ho\\"me",list="My list"} 0',
    'rules_compiler_resolver_proved{resolver="new",list="My list"} 0',
    'rules_compiler_resolver_outcome{resolver="ho\\"me",list="My list",outcome="stale"} 1',
    'rules_compiler_resolver_outcome{resolver="ho\\"me",list="My list",outcome="proved"} 0',
    `rules_compiler_resolver_asked_timestamp_seconds{resolver="ho\\"me",list="My list"} ${Date.parse(HOME.at!) / 1000}`,
    `rules_compiler_resolver_proved_timestamp_seconds{resolver="ho\\"me",list="My list"} ${Date.parse(HOME.lastProved!.at) / 1000}`,
    'rules_compiler_resolver_latency_seconds{resolver="ho\\"me",list="My list"} 0.012',
  ]);
  const text = page(good, { health: degraded });
  assert.match(text, /ho&quot;me/);
  assert.match(text, /answers from &lt;b&gt;/);
  assert.match(text, /class="bad">stale</);
  assert.match(text, /0123456789ab/);
  assert.match(text, /12 ms/);
  assert.match(text, /not proved yet/);
  assert.doesNotMatch(page(good), /Resolvers/);
});

test("a recent build is healthy, and every other status has a reason", () => {
  const good = withRun(NO_HISTORY, run({}), build());
  assert.equal(health(good).status, "healthy");
  assert.equal(health(good, { now: NOW + 13 * HOUR }).isHealthy, false);
  assert.match(health(good, { now: NOW + 13 * HOUR }).reason, /19\.0 h old, the limit is 18\.0 h/);
  assert.match(health(good, { now: NOW - 6 * HOUR + 90_000 }).reason, / build is 1 min old$/);
  assert.match(health(good, { missing: ["my-list.txt"] }).reason, /missing: my-list\.txt/);
  const stale = health(withRun(NO_HISTORY, run({}), build("stale")));
  assert.equal(stale.status, "degraded");
  assert.equal(stale.isHealthy, true);
  assert.match(stale.reason, /Ads \(stale\)/);
  const known = health(withRun(NO_HISTORY, run({}), build("stale")), { conditions: [STALE] });
  assert.equal(known.isHealthy, true, "a source alone makes nothing unhealthy");
  assert.match(known.reason, /Ads \(stale until 2027-05-09\)/);
  const { message, cause: reason, hint, since, until } = STALE;
  assert.deepEqual(known.conditions, [
    { list: "My list", code: "source-stale", message, cause: reason, hint, since, until },
  ]);
  const { label, state, goodAt, lines, kept, ...why } = known.sources[0]!;
  assert.deepEqual(
    [label, state, goodAt, lines, kept],
    ["Ads", "stale", "2026-11-10T00:00:00.000Z", 10, 6],
  );
  assert.deepEqual(why, { reason, since, until });
  assertLines(metrics(NO_HISTORY, { conditions: [STALE] }), [
    `rules_compiler_condition_since_timestamp_seconds{list="My list",code="source-stale",subject="Ads"} ${Date.parse(since) / 1000}`,
  ]);
  assert.equal(stale.sources[0]!.goodAt, "2026-11-10T00:00:00.000Z");
  const held = withRun(NO_HISTORY, run({}), build("held"));
  assert.equal(health(held).status, "degraded");
  assert.match(health(held).reason, /Ads \(held\)/);
  assert.ok(isHistory(JSON.parse(JSON.stringify(held))));
  assertLines(metrics(held), [
    'rules_compiler_source_state{source="Ads",state="held"} 1',
    'rules_compiler_source_up{source="Ads"} 0',
  ]);
  assert.equal(health(NO_HISTORY, { isRunning: true }).status, "starting");
  assert.equal(health(NO_HISTORY).status, "unhealthy");
  // The list before a refused one is still recent.
  const refused = health(withRun(good, REFUSED, undefined));
  assert.equal(refused.status, "refused");
  assert.equal(refused.isHealthy, true);
  assert.match(refused.reason, /The list shrank from 9 to 1/);
  assert.equal(refused.lastProblem?.code, "too-few-rules");
});

test("after a refusal, health has the sources and all causes of the refused run", () => {
  const good = withRun(NO_HISTORY, run({}), build());
  const history = withRun(good, { ...REFUSED, ...CAUSES }, undefined, build("stale").sources);
  const report = health(history);
  assert.equal(report.sources[0]!.state, "stale");
  assert.equal(report.sources[0]!.goodAt, "2026-11-10T00:00:00.000Z");
  assert.match(
    report.reason,
    /own\.txt:200: \|\|apple\.com\^ blocks time\.apple\.com; .*Ads \(stale\)/,
  );
  assert.deepEqual(report.lastProblem, CAUSES.problem);
  assert.deepEqual(report.problems, [CAUSES.problem, ...CAUSES.further]);
  assertLines(metrics(history), [
    'rules_compiler_source_up{source="Ads"} 0',
    "rules_compiler_list_refused 1",
    'rules_compiler_refusal_cause{guard="blocks-protected",at="own.txt:200"} 1',
    'rules_compiler_refusal_cause{guard="blocks-suffix",at="own.txt:7"} 1',
  ]);
  const shown = page(history);
  for (const text of ["own.txt:200", "own.txt:7", "allow: [time.apple.com]"])
    assert.ok(shown.includes(text), text);
  assert.match(shown, /data-name="State" class="bad">stale/);
  assert.ok(isHistory(JSON.parse(JSON.stringify(history))));
  // The next success ends it.
  const over = withRun(history, run({ at: "2026-11-15T11:30:00.000Z" }), build());
  assert.equal(health(over).status, "healthy");
  assert.equal(health(over).sources[0]!.state, "fetched");
});

test("a last success in the future is not trusted", () => {
  const good = withRun(NO_HISTORY, run({}), build());
  const at = Date.parse(good.lastSuccess!);
  // Clocks are corrected by seconds.
  assert.equal(health(good, { now: at - 5000 }).status, "healthy");
  assert.equal(health(good, { now: at - 5000 }).ageSeconds, 0);
  const future = health(good, { now: at - HOUR });
  assert.equal(future.status, "unhealthy");
  assert.equal(future.ageSeconds, null);
  assert.match(future.reason, /is dated 2026-11-15T06:00:00.000Z, in the future/);
});

test("history keeps a bounded number of runs, but counts all of them", () => {
  let history = NO_HISTORY;
  for (let index = 0; index < 500; index++) history = withRun(history, run({}), build());
  assert.equal(history.runs.length, 400);
  assert.equal(history.totals.published, 500);
  assert.ok(JSON.stringify(history).length < 100_000);
});

test("metrics have names, values and escaped labels", () => {
  const history = withRun(
    withRun(NO_HISTORY, run({}), build("stale", 'a"b\\c\nd')),
    REFUSED,
    undefined,
  );
  assertLines(metrics(history, { lagMs: 1500, requests: new Map([["rules 304", 7]]) }), [
    'rules_compiler_source_up{source="a\\"b\\\\c\\nd"} 0',
    'rules_compiler_source_lines_dropped{source="a\\"b\\\\c\\nd",reason="duplicate"} 3',
    'rules_compiler_guard_refusals_total{guard="too-few-rules"} 1',
    'rules_compiler_runs_total{outcome="refused"} 1',
    "rules_compiler_last_success_timestamp_seconds 1794722400",
    "rules_compiler_schedule_lag_seconds 1.5",
    'rules_compiler_list_rules{list="My list"} 6',
    'rules_compiler_http_requests_total{route="rules",code="304"} 7',
    'rules_compiler_run_duration_seconds_bucket{le="2.5"} 2',
  ]);
});

const TOKEN = "0123456789abcdef";

function context(started: string[]): RouteContext {
  return {
    health: () => health(withRun(NO_HISTORY, run({}), build())),
    metrics: () => "m 1\n",
    page: () => "<p>",
    list: () => undefined,
    report: () => undefined,
    patch: () => undefined,
    compile: () => {
      started.push("run");
      return "started";
    },
    act: async () => assert.fail("no action is expected"),
    token: new BearerToken(TOKEN),
    hostNames: ["lists.example.org"],
    listNames: ["My list"],
    why: new WhyAnswers({
      host: memoryHost(),
      signal: new AbortController().signal,
      resolvers: [],
      answer: async () => [],
      version: () => "",
      onError: (error) => assert.fail(String(error)),
    }),
  };
}

interface Client {
  readonly headers?: Record<string, string>;
  readonly address?: string;
  readonly started?: string[];
}

async function ask(
  method: string,
  target: string,
  { headers = {}, address = "127.0.0.1", started = [] }: Client = {},
): Promise<{ status: number; name: string }> {
  const request = { method, target, headers: { host: "127.0.0.1:5000", ...headers }, address };
  const { name, reply } = route(request, context(started));
  return { status: (await reply).status, name };
}

test("each route answers with its status", async () => {
  assert.equal((await ask("GET", "/health")).status, 200);
  assert.equal((await ask("GET", "/health?x=1")).status, 200);
  assert.equal((await ask("HEAD", "/metrics")).status, 200);
  assert.equal((await ask("GET", "/")).status, 200);
  assert.equal((await ask("POST", "/")).status, 405);
  for (const target of [
    "/x",
    "/report",
    "/rules/",
    "/rules/patches/x.patch",
    "/rules/patches/..%2fx.txt",
    "/rules/..%2f..%2fetc%2fpasswd",
    "/rules/%E0%A4%A",
    "/rules/../serve.json",
    "//",
  ])
    assert.equal((await ask("GET", target)).status, 404, target);
});

test("only a token starts a run, and no sign of being local", async () => {
  const started: string[] = [];
  const none = [
    {},
    { host: "localhost:5000" },
    { via: "1.1 proxy" },
    { "cf-connecting-ip": "::1" },
  ];
  for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.0.2.7", ""])
    for (const headers of none)
      assert.equal((await ask("POST", "/compile", { headers, address, started })).status, 401);
  assert.equal(started.length, 0);
  const authorization = `Bearer ${TOKEN}`;
  const pages = [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }];
  for (const more of pages) {
    const headers = { authorization, ...more };
    assert.equal((await ask("POST", "/compile", { headers, started })).status, 403);
  }
  assert.equal((await ask("GET", "/compile", { started })).status, 405);
  assert.equal(started.length, 0);
  for (const more of none) {
    const headers = { authorization, ...more };
    assert.equal((await ask("POST", "/compile", { headers, started })).status, 202);
  }
  assert.equal(started.length, none.length);
});

test("pages answer to host names that no web site can have", async () => {
  const known = [
    ["localhost", "localhost:5000", "127.0.0.1:5000", "127.0.0.1", "192.0.2.7:80", "[::1]:5000"],
    ["[2001:db8::7]", "nas", "rules-compiler:5000", "nas.local", "NAS.LAN.:5000", "a.home.arpa"],
    ["a.svc", "rules.default.svc.cluster.local", "app.localhost", "lists.example.org:8443", ""],
  ].flat();
  const foreign = [
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "local.evil.com", "a.box"],
    ["lists.example.org.evil.com", "x.lists.example.org", "evil.com:5000", "[::1].evil.com"],
    [
      "1.2.3.4.5",
      "127.0.0.1@evil.com",
      "evil.com/localhost",
      "localhost evil.com",
      "evil.com?.lan",
    ],
    ["evil.com#.lan", "a,localhost", ".", "..local", "127.0.0.1:5000.evil.com", "[evil.com]"],
  ].flat();
  for (const target of ["/", "/health", "/metrics", "/report", "/why?name=a.example", "/x"]) {
    for (const host of known)
      assert.notEqual((await ask("GET", target, { headers: { host } })).status, 421, host);
    for (const host of foreign)
      assert.equal((await ask("GET", target, { headers: { host } })).status, 421, host);
  }
  const headers = { host: "evil.example" };
  assert.equal((await ask("GET", "/rules/x.txt", { headers })).status, 404, "lists are public");
});

/** What `serve` shows on a terminal until Ctrl+C, which comes during its first run. */
async function screenOf(listen: NonNullable<Host["listen"]>, ...words: string[]): Promise<string> {
  const config = { name: "Home", sources: [{ source: "a.txt" }], outputs: [{ format: "hosts" }] };
  const files = { "compiler-config.json": JSON.stringify(config), "a.txt": "||a.example^\n" };
  const memory = memoryHost({ files, isTerminal: true, now: new Date("2026-11-15T12:00:00Z") });
  const stop = new AbortController();
  const host: Host = {
    ...memory,
    listen,
    runSelf: async (child) => {
      stop.abort("SIGINT");
      child.onLine?.('{"code":"interrupted","severity":"error","message":"Interrupted"}');
      return { exit: 130, stdout: "" };
    },
  };
  await program(["serve", ...words], host, stop.signal);
  return withoutCodes(memory.output.stderr);
}

test("serve on a terminal shows addresses to click, and Ctrl+C is not a problem", async () => {
  const screen = await screenOf(
    async ({ address, port }) => ({ address, port, close: async () => {} }),
    "--listen=0.0.0.0",
    "--port=8080",
  );
  assert.match(screen, /^ {2}status page {2}http:\/\/localhost:8080\/$/m);
  assert.match(screen, /^ {2}list {9}http:\/\/localhost:8080\/home\.txt$/m);
  assert.match(screen, /^ {2}list {9}http:\/\/localhost:8080\/home\.hosts$/m);
  assert.match(screen, /^ {2}schedule {5}0 \*\/6 \* \* \*$/m);
  assert.doesNotMatch(screen, /problem|Run it again|note/);
  for (const line of screen.split("\n")) assert.ok(line.length <= 80, line);
});

test("a port in use has a remedy that can be pasted", async () => {
  const text = "listen EADDRINUSE: address already in use 127.0.0.1:5000";
  const screen = await screenOf(async () => {
    throw new HostError("EADDRINUSE", text);
  });
  assert.match(screen, /because: EADDRINUSE: address already in use 127\.0\.0\.1:5000$/m);
  assert.match(screen, /choose another port: --port 5001$/m);
});
