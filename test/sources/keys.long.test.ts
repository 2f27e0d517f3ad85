import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import {
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
  createServer,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type TestContext, test } from "node:test";
import zlib from "node:zlib";
import { runProgram } from "../support/command.ts";
import { zip } from "../support/make-archive.ts";

const PLANTED = {
  header: "Plant3d-header-key",
  bearer: "Plant3d-bearer-key",
  user: "Plant3d-user",
  password: "Plant3d-pass word",
  bad: "Plant3d-bad-line",
} as const;
const BASIC = Buffer.from(`${PLANTED.user}:${PLANTED.password}`).toString("base64");
const SECRETS = [...Object.values(PLANTED), BASIC];

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** The key of a request, as a server sees it. */
function keyIn({ authorization, "x-api-key": header }: IncomingHttpHeaders): string {
  const [scheme, value = ""] = (authorization ?? "").split(" ");
  if (scheme === "Basic") return Buffer.from(value, "base64").toString();
  return value === "" ? String(header) : value;
}

/** Answers that repeat the key of the request. */
const ECHOES: ReadonlyMap<string, (key: string, response: ServerResponse) => void> = new Map([
  ["/json", (key, response) => void response.end(`{"bad key":"${key}"}`)],
  ["/html", (key, response) => void response.end(`<!doctype html><title>${key}</title>`)],
  ["/xml", (key, response) => void response.end(`<error key="${key}"/>`)],
  ["/message", (key, response) => void response.end(`Forbidden: ${key}`)],
  ["/cut", (key, response) => void response.end(`Forbidden: ${"x".repeat(38)}${key}`)],
  ["/include-key", (key, response) => void response.end(`a.example\n!#include http://b/${key}\n`)],
  [
    "/charset",
    (key, response) =>
      void response.setHeader("content-type", `text/plain; charset=${key}`).end("\u00e9.example"),
  ],
  ["/encoding", (key, response) => void response.setHeader("content-encoding", key).end("x")],
  [
    "/zip",
    (key, response) =>
      void response.end(
        zip([
          [`${key}/a`, "x"],
          ["b", "y"],
        ]),
      ),
  ],
]);

/** A server that answers with a list, or redirects where the path says; it notes what it is asked. */
async function server(
  context: TestContext,
  redirects: Readonly<Record<string, string>> = {},
): Promise<{ base: string; asked: Asked[]; server: Server }> {
  const asked: Asked[] = [];
  const listener = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push({ path, headers: request.headers });
    const location = redirects[path];
    if (location !== undefined) response.writeHead(302, { location }).end();
    else if (ECHOES.has(path)) ECHOES.get(path)!(keyIn(request.headers), response);
    else if (path === "/refused") response.writeHead(401).end("no");
    else if (path === "/include") response.end("||own.example^\n!#include inc.txt\n");
    else response.end(`||${path.replace(/\W/g, "")}.example^\n`);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    listener.close();
    listener.closeAllConnections();
  });
  const base = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { base, asked, server: listener };
}

function assertClean(text: string, where: string): void {
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `${secret} in ${where}`);
}

function textOf(path: string): string {
  const bytes = readFileSync(path);
  if (path.endsWith(".zst")) return zlib.zstdDecompressSync(bytes).toString("latin1");
  if (path.endsWith(".gz")) return zlib.gunzipSync(bytes).toString("latin1");
  return bytes.toString("latin1");
}

const KEY_FILES: Readonly<Record<string, string>> = {
  "headers.key": `# for the feed\nX-Api-Key: ${PLANTED.header}\n\nX-Second: two\n`,
  "bearer.key": `${PLANTED.bearer}\n`,
  "basic.key": `${PLANTED.user}:${PLANTED.password}\n`,
};

function project(context: TestContext, config: object): { folder: string; run: Run } {
  const folder = mkdtempSync(join(tmpdir(), "keys-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [file, text] of Object.entries(KEY_FILES))
    writeFileSync(join(folder, file), text, { mode: 0o600 });
  writeFileSync(join(folder, "compiler-config.json"), JSON.stringify(config));
  return {
    folder,
    async run(...args) {
      const { exit, stdout, stderr } = await runProgram(args, {
        cwd: folder,
        env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache") },
      });
      assertClean(stdout + stderr, args.join(" "));
      return { exit, text: stdout + stderr };
    },
  };
}
type Run = (...args: string[]) => Promise<{ exit: number | string; text: string }>;

function assertFilesClean(folder: string): number {
  let files = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || entry.name.endsWith(".key")) continue;
    assertClean(path, "the name of a file");
    assertClean(textOf(path), path);
    files++;
  }
  return files;
}

test("keys reach their server, and nothing else", { timeout: 300_000 }, async (context) => {
  const other = await server(context);
  const redirects = { "/away": `${other.base}/there`, "/near": "/here" };
  const own = await server(context, redirects);
  const source = (path: string, more: object): object => ({
    name: path,
    type: "adblock",
    source: own.base + path,
    allow_private: true,
    ...more,
  });
  const config = {
    name: "L",
    guards: { min_rules: 1 },
    sources: [
      source("/header", { headers_file: "headers.key" }),
      source("/bearer", { auth: { bearer_file: "bearer.key" } }),
      source("/basic", { auth: { basic_file: "basic.key" } }),
      source("/include", { auth: { bearer_file: "bearer.key" } }),
      source("/near", { auth: { bearer_file: "bearer.key" } }),
      source("/away", { headers_file: "headers.key", auth: { bearer_file: "bearer.key" } }),
      source("/refused", {
        auth: { bearer_file: "bearer.key" },
        mirrors: [`${other.base}/mirror`],
        headers_file: "headers.key",
      }),
      source("/plain", {}),
    ],
  };
  const { folder, run } = project(context, config);
  const first = await run("compile", "--update", "--debug");
  assert.equal(first.exit, 0, first.text);
  const sent = (path: string): IncomingHttpHeaders =>
    own.asked.find((one) => one.path === path)!.headers;
  assert.equal(sent("/header")["x-api-key"], PLANTED.header);
  assert.equal(sent("/header")["x-second"], "two");
  assert.equal(sent("/bearer").authorization, `Bearer ${PLANTED.bearer}`);
  assert.equal(sent("/basic").authorization, `Basic ${BASIC}`);
  assert.equal(sent("/inc.txt").authorization, `Bearer ${PLANTED.bearer}`);
  assert.equal(sent("/here").authorization, `Bearer ${PLANTED.bearer}`);
  assertClean(JSON.stringify(sent("/plain")), "a request of another source");
  assert.deepEqual(other.asked.map(({ path }) => path).toSorted(), ["/mirror", "/there"]);
  assertClean(JSON.stringify(other.asked), "requests to another server");
  for (const args of [
    ["compile", "--json"],
    ["compile", "--offline"],
    ["plan", "--save", "a.plan"],
    ["apply", "a.plan"],
    ["validate"],
    ["why", "--json", "header.example"],
    ["stats", "--json"],
    ["stats", "--html", "report.html"],
    ["history"],
  ]) {
    const { exit, text } = await run(...args);
    assert.notEqual(exit, 70, text);
  }
  assert.ok(assertFilesClean(folder) >= 8);
  own.server.close();
  own.server.closeAllConnections();
  assert.match((await run("compile", "--json")).text, /"stale"/);
  assertFilesClean(folder);
});

test("a server that repeats the key does not make an error show it", async (context) => {
  const { base } = await server(context);
  for (const fields of [
    { headers_file: "headers.key" },
    { auth: { bearer_file: "bearer.key" } },
    { auth: { basic_file: "basic.key" } },
  ]) {
    const sources = [...ECHOES.keys()].map((path) => ({
      name: path,
      source: base + path,
      allow_private: true,
      ...fields,
    }));
    const { run } = project(context, { name: "L", sources });
    const { exit, text } = await run("compile");
    assert.equal(exit, 4, text);
    // The one with an unknown encoding can be read, with a warning.
    for (const path of ECHOES.keys())
      if (path !== "/charset") assert.ok(text.includes(path), `${path} in ${text}`);
    assert.doesNotMatch(text, /Plant3d/);
    const read = sources.filter(({ name }) => name === "/charset");
    const alone = await project(context, { name: "L", sources: read }).run("compile");
    assert.ok(alone.text.includes("/charset"), alone.text);
    assert.doesNotMatch(alone.text, /Plant3d/);
  }
});

test("an address with a secret path is not shown when the server repeats it", async (context) => {
  const web = createServer((request, response) => response.end(`Error: ${request.url}`));
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  context.after(() => web.close());
  const base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const source = { name: "a", source: `${base}/Plant3d-path`, secret: true, allow_private: true };
  const { run } = project(context, { name: "L", sources: [source] });
  const { exit, text } = await run("compile");
  assert.equal(exit, 4, text);
  assert.doesNotMatch(text, /Plant3d/);
});

test("a bad file of keys is reported without its text", async (context) => {
  const { base } = await server(context);
  const bad: readonly (readonly [string, object, RegExp])[] = [
    ["x", { headers_file: "missing" }, /missing cannot be used[^]*ENOENT/],
    [PLANTED.bad, { headers_file: "bad.key" }, /line 1 must be a name/],
    [`Host: ${PLANTED.bad}`, { headers_file: "bad.key" }, /line 1 must be a name/],
    [`X-A: 1\r\nIf-None-Match: ${PLANTED.bad}`, { headers_file: "bad.key" }, /line 2 must be/],
    [`X: ${PLANTED.bad}\u0000`, { headers_file: "bad.key" }, /line 1 must be/],
    [`${PLANTED.bad} x`, { auth: { bearer_file: "bad.key" } }, /one line without spaces/],
    [`a\n${PLANTED.bad}`, { auth: { bearer_file: "bad.key" } }, /one line without spaces/],
    [PLANTED.bad, { auth: { basic_file: "bad.key" } }, /a user name, a colon and a password/],
  ];
  for (const [text, fields, expected] of bad) {
    const source = { name: "a", type: "adblock", source: `${base}/a`, allow_private: true };
    const { folder, run } = project(context, { name: "L", sources: [{ ...source, ...fields }] });
    writeFileSync(join(folder, "bad.key"), text, { mode: 0o600 });
    const ended = await run("compile");
    assert.equal(ended.exit, 4, ended.text);
    assert.match(ended.text, expected);
  }
});

test(
  "a file of keys that others may read is reported",
  { skip: process.platform === "win32" },
  async (context) => {
    const { base } = await server(context);
    const source = { name: "a", type: "adblock", source: `${base}/a`, allow_private: true };
    const config = { name: "L", sources: [{ ...source, auth: { bearer_file: "bearer.key" } }] };
    const { folder, run } = project(context, config);
    assert.doesNotMatch((await run("compile")).text, /key-file-open/);
    chmodSync(join(folder, "bearer.key"), 0o644);
    const { exit, text } = await run("compile", "--update");
    assert.equal(exit, 0);
    assert.match(text, /key-file-open\]: Other users of this machine may read/);
  },
);

test("max_bytes limits one source", async (context) => {
  const { base } = await server(context);
  const source = { name: "a", type: "adblock", source: `${base}/a`, allow_private: true };
  for (const [max_bytes, exit] of [
    [5, 4],
    ["1k", 0],
  ] as const) {
    const { run } = project(context, { name: "L", sources: [{ ...source, max_bytes }] });
    const ended = await run("compile");
    assert.equal(ended.exit, exit, ended.text);
    if (exit === 4) assert.match(ended.text, /larger than 5 bytes/);
  }
});

test("keys are checked with the configuration", async (context) => {
  for (const [fields, expected] of [
    [{ source: "a.txt", headers_file: "x" }, /has keys, but no URL/],
    [{ auth: {} }, /must have either bearer_file or basic_file/],
    [{ auth: { bearer_file: "a", basic_file: "b" } }, /must have either/],
    [{ max_bytes: "big" }, /must be a size/],
  ] as const) {
    const source = { name: "a", type: "adblock", source: "https://a.example/l", ...fields };
    const { run } = project(context, { name: "L", sources: [source] });
    const { exit, text } = await run("compile");
    assert.equal(exit, 2, text);
    assert.match(text, expected);
  }
});
