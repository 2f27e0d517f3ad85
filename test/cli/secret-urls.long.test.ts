import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import zlib from "node:zlib";
import { PROGRAM, runProgram } from "../support/command.ts";

/** Each is planted in one place. */
const PLANTED = {
  query: "Plant3d-query",
  include: "Plant3d-include",
  path: "Plant3d-path",
  secretInclude: "Plant3d-secret-include",
  user: "Plant3d-user",
  password: "Plant3d-password",
  redirectPath: "Plant3d-redirect-path",
  signature: "Plant3d-signature",
  redirectInclude: "Plant3d-redirect-include",
  mirror: "Plant3d-mirror",
  allow: "Plant3d-allow",
  missing: "Plant3d-missing",
  missingPath: "Plant3d-missing-path",
} as const;

const LINES = Array.from({ length: 30 }, (_, index) => `||n${index}.example^\n`).join("");

/** By path, without the query; what is not here is not found. */
const PAGES: Readonly<Record<string, string>> = {
  "/query/l.txt": `||query.example^\n!#include inc.txt?key=${PLANTED.include}\n`,
  "/query/inc.txt": "||include.example^\n",
  [`/${PLANTED.path}/l.txt`]: `${LINES}!#include ${PLANTED.secretInclude}.txt\n`,
  [`/${PLANTED.path}/${PLANTED.secretInclude}.txt`]: "||secret-include.example^\n",
  "/user/l.txt": "||user.example^\n",
  [`/moved/${PLANTED.redirectPath}/l.txt`]: `||moved.example^\n!#include inc.txt?s=${PLANTED.redirectInclude}\n`,
  [`/moved/${PLANTED.redirectPath}/inc.txt`]: "||moved-include.example^\n",
  "/mirror/l.txt": "||mirror.example^\n",
  "/allow.txt": "allowed.example\n",
};

async function listServer(): Promise<{ base: string; server: Server }> {
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    if (path === "/redirect") {
      const location = `/moved/${PLANTED.redirectPath}/l.txt?sig=${PLANTED.signature}`;
      response.writeHead(302, { location }).end();
    } else if (path === "/redirect-missing") {
      const location = `/gone/${PLANTED.redirectPath}?sig=${PLANTED.signature}`;
      response.writeHead(302, { location }).end();
    } else if (path === "/redirect-strange")
      response.writeHead(302, { location: `ftp://x.example/${PLANTED.redirectPath}` }).end();
    else response.writeHead(PAGES[path] === undefined ? 404 : 200).end(PAGES[path] ?? "no");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function configFor(base: string): object {
  const guarded = base.replace("//", `//${PLANTED.user}:${PLANTED.password}@`);
  const source = (path: string, more: object = {}): object => ({
    source: `${base}${path}`,
    allow_private: true,
    ...more,
  });
  return {
    name: "My list",
    allow: ["allowed.example"],
    guards: { min_rules: 1 },
    sources: [
      source(`/query/l.txt?token=${PLANTED.query}`),
      source(`/query/l.txt?token=${PLANTED.query}&second`),
      source(`/${PLANTED.path}/l.txt`, { secret: true }),
      source("/user/l.txt", { source: `${guarded}/user/l.txt` }),
      source("/redirect"),
      source("/none", { mirrors: [`${base}/mirror/l.txt?t=${PLANTED.mirror}`] }),
      source(`/missing?token=${PLANTED.missing}`, { required: false }),
      source(`/${PLANTED.missingPath}/l.txt`, { required: false, secret: true }),
      source("/redirect-missing", { required: false }),
      source("/redirect-strange", { required: false }),
    ],
  };
}

function assertClean(text: string, where: string): void {
  for (const secret of Object.values(PLANTED))
    assert.ok(!text.includes(secret), `${secret} in ${where}: ${excerpt(text, secret)}`);
}

function excerpt(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return JSON.stringify(text.slice(Math.max(0, at - 120), at + 60));
}

/** What is in a file, unpacked. */
function textOf(path: string): string {
  const bytes = readFileSync(path);
  if (path.endsWith(".zst")) return zlib.zstdDecompressSync(bytes).toString("latin1");
  if (path.endsWith(".gz")) return zlib.gunzipSync(bytes).toString("latin1");
  return bytes.toString("latin1");
}

/** The texts of the lists themselves, which the cache keeps as they are. */
function isOwnText(path: string): boolean {
  return /[/\\]objects[/\\]/.test(path);
}

function assertFilesClean(folder: string, except: readonly string[]): number {
  let files = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    assertClean(path, "the name of a file");
    if (!entry.isFile() || except.includes(path) || isOwnText(path)) continue;
    assertClean(textOf(path), path);
    files++;
  }
  return files;
}

interface Project {
  readonly folder: string;
  readonly config: string;
  readonly server: Server;
  readonly run: (...args: string[]) => Promise<{ exit: number | string; text: string }>;
}

async function project(context: TestContext): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  const { base, server } = await listServer();
  const config = join(folder, "compiler-config.json");
  writeFileSync(config, JSON.stringify(configFor(base)));
  context.after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    config,
    server,
    async run(...args) {
      const { exit, stdout, stderr } = await runProgram(args, {
        cwd: folder,
        env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache") },
      });
      const text = stdout + stderr;
      assertClean(text, args.join(" "));
      return { exit, text };
    },
  };
}

test("tokens in URLs reach no file and no output", { timeout: 300_000 }, async (context) => {
  const { folder, config, server, run } = await project(context);
  const first = await run("compile", "--update", "--debug");
  // Four of ten sources are missing on the first day.
  assert.equal(first.exit, 3, first.text);
  const list = readFileSync(join(folder, "rules/my-list.txt"), "utf8");
  for (const name of ["query", "include", "user", "moved", "moved-include", "mirror"])
    assert.match(list, new RegExp(`^\\|\\|${name}\\.example\\^$`, "m"));
  assert.match(list, /^\|\|secret-include\.example\^$/m);
  assert.match(list, /^! Source: http:\/\/127\.0\.0\.1:\d+\/query\/l\.txt\?…$/m);
  assert.match(list, /^! Source: http:\/\/127\.0\.0\.1:\d+\/…$/m);
  for (const args of [
    ["compile", "--json"],
    ["compile", "--frozen"],
    ["compile", "--offline", "--strict"],
    ["plan"],
    ["plan", "--save", "a.plan"],
    ["apply", "a.plan"],
    ["validate"],
    ["why", "n1.example", "include.example", "moved-include.example", "secret-include.example"],
    ["why", "--json", "query.example"],
    ["stats"],
    ["stats", "--json"],
    ["stats", "--html", "report.html"],
    ["log"],
    ["log", "--markdown"],
    ["compile", "--update", "http://x.example/?Plant3d-query"],
  ]) {
    const { exit, text } = await run(...args);
    assert.notEqual(exit, 70, text);
  }
  const { text } = await run("why", "moved-include.example", "secret-include.example");
  assert.doesNotMatch(text, /not cached|not checked/);
  assert.ok(assertFilesClean(folder, [config]) >= 8);
  server.close();
  server.closeAllConnections();
  const stale = await run("compile", "--json");
  assert.equal(stale.exit, 0, stale.text);
  assert.match(stale.text, /"stale"/);
  assert.match(readFileSync(join(folder, "rules/my-list.txt"), "utf8"), /\|\|moved-include/);
  assertFilesClean(folder, [config]);
});

test("tokens in URLs reach no page of the server", { timeout: 300_000 }, async (context) => {
  const { folder, config } = await project(context);
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0"], {
    cwd: folder,
    env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  context.after(() => child.kill("SIGKILL"));
  let port = 0;
  for await (const line of createInterface({ input: child.stderr })) {
    assertClean(line, "the log");
    if (!line.startsWith("{")) continue;
    const event = JSON.parse(line) as { event: string; port?: number };
    port = event.port ?? port;
    if (event.event === "run-ended") break;
  }
  for (const path of ["/", "/health", "/metrics", "/report", "/rules/my-list.txt", "/nothing"]) {
    const page = await fetch(`http://127.0.0.1:${port}${path}`);
    assertClean(await page.text(), path);
  }
  child.kill("SIGTERM");
  await once(child, "exit");
  assertFilesClean(folder, [config]);
});

test("an invalid configuration is shown without its tokens", async (context) => {
  const { folder, run } = await project(context);
  const broken = `{"name": "n", "sources": [{"source": "http://[broken/?x=${PLANTED.query}"},
    {"source": "https://u:${PLANTED.password}@a.example/${PLANTED.path}/l.txt?t=${PLANTED.query}", "secret": true, "typ": 1}
  ], "lists": [{"name": "x", "sources": ["nothing"]}]}`;
  writeFileSync(join(folder, "broken.json"), broken);
  const { text } = await run("validate", "-c", "broken.json");
  assert.match(text, /typ/);
});
