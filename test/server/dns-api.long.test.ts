import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { run } from "../../src/cli/main.ts";
import { ApiKey, fetchAccountLimits, loadApiKey } from "../../src/dns-api/account-limits.ts";
import { runProgram } from "../support/command.ts";
import { CompilerError, type Host, memoryHost, nodeHost } from "../support/internals.ts";

const KEY = "planted-Key_8731";
const GOOD = JSON.stringify({
  user_rules: { used: 200, limit: 1000 },
  devices: { used: 5, limit: 5 },
  requests: { used: 299_999, limit: 300_000, resets: "monthly" },
  plan: "team",
});

type Play = (response: ServerResponse, request: IncomingMessage, count: number) => void;

async function api(
  context: TestContext,
  play: Play,
): Promise<{ url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    play(response, request, seen.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A real network, waits that take no time, and what was waited for. */
function quickHost(env: Record<string, string> = {}): {
  host: Host;
  waits: number[];
  output: { stdout: string; stderr: string };
} {
  const waits: number[] = [];
  const memory = memoryHost({
    env: { DNSAPI_API_KEY: KEY, ...env },
    now: new Date("2026-11-15T12:00:00Z"),
  });
  const web = nodeHost();
  const host: Host = {
    ...memory,
    fetch: (request) =>
      web.fetch({
        ...request,
        timeouts: { connectMs: 500, headersMs: 500, idleMs: 500, totalMs: 800 },
      }),
    wait: async (ms) => void waits.push(ms),
  };
  return { host, waits, output: memory.output };
}

/** What the program says and how it ends. */
async function limits(
  url: string,
  ...words: string[]
): Promise<{ exit: number; waits: number[]; stdout: string; stderr: string }> {
  const { host, waits, output } = quickHost({ DNS_API_URL: url });
  const exit = await run(["limits", ...words], host, new AbortController().signal);
  return { exit, waits, ...output };
}

function answer(status: number, body: string, headers: Record<string, string> = {}): Play {
  return (response) => response.writeHead(status, headers).end(body);
}

test("limits requests the limits with the key and prints all of them", async (context) => {
  const { url, seen } = await api(context, answer(200, GOOD));
  const { exit, stdout } = await limits(url);
  assert.equal(exit, 0);
  assert.equal(seen[0]!.url, "/v1/limits");
  assert.equal(seen[0]!.method, "GET");
  assert.equal(seen[0]!.headers.authorization, `ApiKey ${KEY}`);
  assert.deepEqual(JSON.parse(stdout), {
    limits: [
      { name: "user_rules", used: 200, limit: 1000 },
      { name: "devices", used: 5, limit: 5 },
      { name: "requests", used: 299_999, limit: 300_000 },
    ],
    other: { "requests.resets": "monthly", plan: "team" },
  });
  const { host } = quickHost({ DNS_API_URL: `${url}/`, DNS_API_PATH: "oapi/v1/account/limits" });
  assert.equal(await run(["limits"], host, new AbortController().signal), 0);
  assert.equal(seen[1]!.url, "/oapi/v1/account/limits");
});

test("a terminal shows a table with bars", async (context) => {
  const { url } = await api(context, answer(200, GOOD));
  const { host, output } = quickHost({ DNS_API_URL: url, NO_COLOR: "1" });
  const terminal: Host = { ...host, stdout: { ...host.stdout, isTerminal: true } };
  assert.equal(await run(["limits"], terminal, new AbortController().signal), 0);
  const shown = [
    "  user_rules       ████░░░░░░░░░░░░░░░░   20 %        200 / 1,000",
    "  devices          ████████████████████  100 %              5 / 5",
    "  requests         ████████████████████  100 %  299,999 / 300,000",
    '  requests.resets  "monthly"',
    '  plan             "team"',
    "",
  ];
  assert.deepEqual(output.stdout.split("\n"), shown);
});

const PROVIDER_ERROR = JSON.stringify({
  error_code: "BAD_REQUEST",
  message: "no such thing",
  fields: [],
});

test("every failure has its message, exit code and hint", async (context) => {
  for (const [name, play, texts] of [
    [
      "400",
      answer(400, PROVIDER_ERROR),
      [
        "Failed to connect to the DNS API",
        "the response has status 400: BAD_REQUEST, no such thing",
      ],
    ],
    [
      "401",
      answer(401, ""),
      [
        "Failed to connect to the DNS API",
        "status 401",
        "Generate a new key in the provider's dashboard",
      ],
    ],
    [
      "403",
      answer(403, "<html>"),
      [
        "Failed to connect to the DNS API",
        "status 403",
        "Generate a new key in the provider's dashboard",
      ],
    ],
    ["404", answer(404, "x"), ["Failed to connect to the DNS API", "the response has status 404"]],
    [
      "500",
      answer(500, "oops"),
      ["Failed to connect to the DNS API", "the response has status 500"],
    ],
    [
      "302",
      answer(302, "", { location: "https://evil.example/" }),
      ["status 302; the key is not sent to the target of a redirect"],
    ],
    [
      "html",
      answer(200, "<!doctype html><h1>Login</h1>"),
      ['the response is not JSON; it begins with "<!doctype html>'],
    ],
    ["array", answer(200, "[1]"), ["the response contains no limits"]],
    ["empty", answer(200, ""), ["the response is not JSON"]],
    [
      "half",
      (response) =>
        void response
          .writeHead(200, { "content-length": "900" })
          .write(GOOD.slice(0, 40), () => response.destroy()),
      ["Failed to connect to the DNS API", "ECONNRESET"],
    ],
    ["half JSON", answer(200, GOOD.slice(0, 40)), ["the response is not JSON"]],
    ["hang", () => {}, ["Failed to connect to the DNS API", "within 0.5 s"]],
    [
      "hang in the body",
      (response) => void response.writeHead(200).write("{"),
      ["Failed to connect to the DNS API", "0.5 s"],
    ],
  ] as readonly (readonly [string, Play, readonly string[]])[]) {
    const { url, seen } = await api(context, play);
    const { exit, stdout, stderr } = await limits(url);
    assert.equal(exit, 8, `${name}: ${stderr}`);
    for (const text of texts) assert.ok(stderr.includes(text), `${name}: ${stderr}`);
    assert.equal(stdout, "");
    assert.equal(seen.length, 1, name);
    assert.ok(!stderr.includes(KEY));
  }
});

test("an unreachable API is reported", async () => {
  const { exit, stderr } = await limits("http://127.0.0.1:1");
  assert.equal(exit, 8);
  assert.match(
    stderr,
    /Failed to connect to the DNS API\n.*because: http:\/\/127\.0\.0\.1:1\/v1\/limits: ECONNREFUSED/,
  );
});

test("429 is retried a few times, with the delay that the server requests", async (context) => {
  const told = await api(context, (response, _request, count) =>
    count === 3
      ? response.end(GOOD)
      : response
          .writeHead(429, { "retry-after": count === 1 ? "7" : "Sun, 15 Nov 2026 12:00:09 GMT" })
          .end(),
  );
  const good = await limits(told.url);
  assert.equal(good.exit, 0, good.stderr);
  assert.deepEqual(good.waits, [7000, 9000]);
  const untold = await api(context, answer(429, ""));
  const never = await limits(untold.url);
  assert.equal(never.exit, 8);
  assert.deepEqual(never.waits, [1000, 2000, 4000]);
  assert.match(never.stderr, /The DNS API is rate limiting \(HTTP 429\) after 4 tries/);
  const long = await api(context, answer(429, "", { "retry-after": "3600" }));
  const refused = await limits(long.url);
  assert.deepEqual(refused.waits, []);
  assert.match(refused.stderr, /HTTP 429\); it allows the next request in 3600 s/);
});

test("the key is read from the first place that has one, and an invalid one is reported", async () => {
  const file = { DNSAPI_DnsApi__ApiKey_FILE: "key" };
  for (const [env, expected] of [
    [{ ...file, DNSAPI_DnsApi__ApiKey: "second", DNSAPI_API_KEY: "third" }, "first"],
    [{ DNSAPI_DnsApi__ApiKey: "second", DNSAPI_API_KEY: "third" }, "second"],
    [{ DNSAPI_DnsApi__ApiKey: "", DNSAPI_API_KEY: "third" }, "third"],
  ] as const) {
    const key = await loadApiKey(memoryHost({ files: { key: "first\n" }, env }));
    assert.equal(key.authorization, `ApiKey ${expected}`);
  }
  for (const [env, message] of [
    [{}, /No key for the DNS API is configured/],
    [
      { DNSAPI_DnsApi__ApiKey_FILE: "none", DNSAPI_API_KEY: "third" },
      /names a file that cannot be read/,
    ],
    [{ DNSAPI_API_KEY: "with space" }, /DNSAPI_API_KEY does not contain a valid key/],
    [{ DNSAPI_API_KEY: "line\nbreak" }, /DNSAPI_API_KEY does not contain a valid key/],
    [{ DNSAPI_API_KEY: "ключ" }, /DNSAPI_API_KEY does not contain a valid key/],
  ] as const)
    await assert.rejects(loadApiKey(memoryHost({ env })), (error: unknown) => {
      assert.ok(error instanceof CompilerError && error.exit === 2);
      assert.match(error.message, message);
      return true;
    });
  const key = new ApiKey(KEY, "test");
  for (const text of [
    String(key),
    JSON.stringify({ key }),
    inspect(key),
    inspect({ key }, { showHidden: true, depth: 9 }),
  ])
    assert.ok(!text.includes(KEY), text);
});

test("the key is only sent over https or to this machine", async () => {
  const key = new ApiKey(KEY, "test");
  for (const url of [
    "http://api.example.com",
    "ftp://127.0.0.1",
    "nonsense",
    "http://127.0.0.1.example.com",
    "https://u:p@api.example.com",
  ])
    await assert.rejects(
      fetchAccountLimits({ url, key }, quickHost().host),
      (error: unknown) =>
        error instanceof CompilerError &&
        error.diagnostics[0]!.code === "api-address" &&
        !error.message.includes(":p@"),
      url,
    );
});

test("limits compares a list with the limits", async (context) => {
  const { url } = await api(context, answer(200, GOOD));
  const folder = mkdtempSync(join(tmpdir(), "limits-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, DNSAPI_API_KEY: KEY, DNS_API_URL: url };
  for (const [rules, exit, text] of [
    [800, 0, /fits: list\.txt has 800 rules, 800 of 1,000 are left/],
    [801, 5, /The list does not fit: list\.txt has 801 rules, 800 of 1,000 are left/],
  ] as const) {
    const lines = Array.from({ length: rules }, (_, index) => `||d${index}.example^`);
    writeFileSync(join(folder, "list.txt"), `! comment\n# comment\n\n${lines.join("\n")}\n`);
    const ended = await runProgram(["limits", "list.txt"], { cwd: folder, env });
    assert.equal(ended.exit, exit, ended.stderr);
    assert.match(ended.stderr, text);
    assert.equal((JSON.parse(ended.stdout) as { check: { rules: number } }).check.rules, rules);
    assert.ok(!`${ended.stdout}${ended.stderr}`.includes(KEY));
  }
  const missing = await runProgram(["limits", "none.txt"], { cwd: folder, env });
  assert.match(missing.stderr, /Cannot read none\.txt/);
});

test("the key appears in no output, whatever fails", async (context) => {
  const echo = await api(context, (response, request) =>
    response.writeHead(400).end(
      JSON.stringify({
        message: `bad ${request.headers.authorization}`,
        error_code: "X",
        given: request.headers.authorization,
      }),
    ),
  );
  for (const [url, ...words] of [
    [echo.url],
    [echo.url, "--json"],
    [echo.url, "-d"],
    ["http://127.0.0.1:1", "-d"],
    ["nonsense", "-d"],
  ]) {
    const env = { PATH: process.env["PATH"], DNSAPI_DnsApi__ApiKey: KEY, DNS_API_URL: url };
    const { stdout, stderr, exit } = await runProgram(["limits", ...words], { env });
    assert.notEqual(exit, 0);
    assert.ok(!`${stdout}${stderr}`.includes(KEY), stderr);
  }
  // There is no way to type it either.
  const { status } = spawnSync(process.execPath, [
    join(import.meta.dirname, "../../dist/cli/bin.js"),
    "limits",
    "--api-key",
    KEY,
  ]);
  assert.equal(status, 2);
});
