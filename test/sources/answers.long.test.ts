import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  type EngineOptions,
  CompilerError,
  type CompileResult,
  type Config,
  compile,
  nodeHost,
} from "../support/internals.ts";
import { missingCorpus } from "../support/corpus.ts";
import { refuseOther } from "../../src/sources/read-file.ts";
import { ScriptedWeb } from "../support/scripted-web.ts";

const URL_A = "https://a.example/l.txt";

/** Answers every request with these very bytes, and closes. */
async function rawServer(
  answer: (head: string) => readonly (string | Uint8Array)[],
): Promise<{ url: string; close(): void }> {
  const server = createServer((socket) => {
    let head = "";
    socket.on("error", () => {});
    socket.on("data", (data) => {
      head += String(data);
      if (!head.includes("\r\n\r\n")) return;
      for (const part of answer(head)) socket.write(part);
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/l.txt`, close: () => void server.close() };
}

async function fetched(
  url: string,
  source: Partial<Config["sources"][number]> = {},
  options: EngineOptions = {},
): Promise<CompileResult> {
  const result = await compile(
    {
      name: "n",
      sources: [{ source: url, ...source }],
      transformations: ["RemoveComments", "RemoveEmptyLines"],
    },
    { host: nodeHost(), allowPrivate: true, fetchLimits: { pauseMs: 1 }, ...options },
  );
  result.close();
  return result;
}

async function listFrom(parts: readonly (string | Uint8Array)[]): Promise<CompileResult> {
  const server = await rawServer(() => parts);
  try {
    return await fetched(server.url);
  } finally {
    server.close();
  }
}

function linesOf({ bytes }: CompileResult): string[] {
  return new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("!"));
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail("accepted"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CompilerError, String(error));
  return error.diagnostics.find(({ severity }) => severity === "error")!.code;
}

const OK = "HTTP/1.1 200 OK\r\n";
const CUT = "||one.example^\n||ads.doubleclick.n";

for (const [name, head] of [
  ["HTTP/1.1 without a length", `${OK}connection: close\r\n\r\n`],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n"],
] as const) {
  test(`${name}: a last line without a line feed is dropped because it may be incomplete`, async () => {
    const result = await listFrom([head, CUT]);
    assert.deepEqual(linesOf(result), ["||one.example^"]);
    assert.equal(result.report.sources[0]!.dropped["cut-line"], 1);
    const warning = result.diagnostics.find(({ code }) => code === "cut-line");
    assert.match(warning!.message, /line 2/);
  });

  test(`${name}: a list that ends with a line feed is published completely`, async () => {
    const result = await listFrom([head, `${CUT}et^\n`]);
    assert.deepEqual(linesOf(result), ["||one.example^", "||ads.doubleclick.net^"]);
    assert.deepEqual(
      result.diagnostics.filter(({ code }) => code === "cut-line"),
      [],
    );
  });
}

test("a last line is complete if the response declares its length", async () => {
  const packed = gzipSync(CUT);
  for (const parts of [
    [`${OK}content-length: ${CUT.length}\r\n\r\n`, CUT],
    [`${OK}transfer-encoding: chunked\r\n\r\n${CUT.length.toString(16)}\r\n${CUT}\r\n0\r\n\r\n`],
    [`${OK}content-encoding: gzip\r\n\r\n`, packed],
  ])
    assert.deepEqual(linesOf(await listFrom(parts)), CUT.split("\n"));
});

test("a cut line is dropped from the copy too, and the next run fetches the list again", async () => {
  const cacheDir = mkdtempSync(join(tmpdir(), "answers-"));
  const heads: string[] = [];
  const server = await rawServer((head) => {
    heads.push(head);
    return [`${OK}etag: "1"\r\n\r\n`, CUT];
  });
  try {
    await fetched(server.url, {}, { cacheDir });
    const copy = await fetched(server.url, {}, { cacheDir, offline: true });
    assert.deepEqual(linesOf(copy), ["||one.example^"]);
    assert.equal(copy.report.sources[0]!.dropped["cut-line"], 1);
    await fetched(server.url, {}, { cacheDir });
    assert.doesNotMatch(heads.at(-1)!, /if-none-match/i);
  } finally {
    server.close();
    rmSync(cacheDir, { recursive: true });
  }
});

test("a response that is a single cut line is not a list", async () => {
  await assert.rejects(listFrom([`${OK}\r\n`, "||ads.exa"]), /is empty/);
});

/** What servers send with status 200 instead of a list, by the code that says so. */
const OTHERS: readonly (readonly [string, string])[] = [
  ["[Adblock]\n", "source-empty"],
  ["! nothing here any more\n", "source-empty"],
  // What a generator of hosts files writes that found no source.
  ["# Hosts\n127.0.0.1 localhost\n::1 ip6-localhost ip6-loopback # IPv6\n", "source-empty"],
  ["127.0.0.1\tlocalhost.localdomain \n", "source-empty"],
  ["404: Not Found", "source-not-list"],
  ["404: Not Found\n", "source-not-list"],
  ["404 page not found\n", "source-not-list"],
  ["Not Found", "source-not-list"],
  ["Error 404", "source-not-list"],
  ["403 Forbidden", "source-not-list"],
  ["error code: 1015", "source-not-list"],
  ["Access denied", "source-not-list"],
  ["Too Many Requests\n", "source-not-list"],
  [
    "upstream connect error or disconnect/reset before headers. reset reason: overflow",
    "source-not-list",
  ],
  ["no healthy upstream", "source-not-list"],
  ["Couldn't find the requested file /gh/a/b@c/d.txt.", "source-not-list"],
  ["Package size exceeded the configured limit of 50 MB.", "source-not-list"],
  ["Your request was blocked. Please contact the owner of the site.\n", "source-not-list"],
  ["null", "source-not-list"],
  ['{"error":"not found"}', "source-not-list"],
  ['{\n  "message": "API rate limit exceeded"\n}\n', "source-not-list"],
  ["{}", "source-not-list"],
  ["[]", "source-not-list"],
  ['\ufeff  ["a.example"]', "source-not-list"],
  ['[{"name":"a.example"}]', "source-not-list"],
  ['<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "source-not-list"],
  ["<Error><Code>NoSuchKey</Code></Error>", "source-not-list"],
  ["<svg xmlns='http://www.w3.org/2000/svg'/>", "source-not-list"],
  ["<!DOCTYPE html><title>Login</title>", "source-is-html"],
  ["<html><body>Hi</body></html>", "source-is-html"],
];

for (const [body, code] of OTHERS)
  test(`${JSON.stringify(body.slice(0, 40))} is not accepted as a list on the first fetch`, async () => {
    const web = new ScriptedWeb();
    web.answers[URL_A] = body;
    const wish = { name: "n", sources: [{ source: URL_A }] };
    assert.equal(await codeOf(compile(wish, { host: web.host })), code);
  });

test("small lists of every kind are accepted", async () => {
  for (const body of [
    "||a.example^",
    "a.example",
    "404.example\n",
    "error.example.com\n",
    "0.0.0.0 a.example\n",
    "127.0.0.1 localhost\n0.0.0.0 a.example\n",
    "! Title: 404 Not Found\n||a.example^\n",
    "# 404: Not Found\na.example\n",
    "[Adblock Plus 2.0]\n||a.example^\n",
    "[uBlock Origin]\n||a.example^\n",
    "@@||a.example^\n",
    "/^ads\\./\n",
    "*.a.example\n",
    "not-found.example\n",
    "List of bad names\na.example\n",
  ]) {
    const web = new ScriptedWeb();
    web.answers[URL_A] = body;
    const result = await compile({ name: "n", sources: [{ source: URL_A }] }, { host: web.host });
    result.close();
    assert.equal(result.report.sources[0]!.state, "fetched", body);
  }
});

test("a source of type json accepts JSON", async () => {
  const web = new ScriptedWeb();
  web.answers[URL_A] = '[\n{"name":"blocked.test","scope":"subtree","action":"block"}\n]\n';
  const wish = { name: "n", sources: [{ source: URL_A, type: "json" as const }] };
  const result = await compile(wish, { host: web.host });
  result.close();
  assert.deepEqual(linesOf(result), ["||blocked.test^"]);
});

test("an included file must be a list too", async () => {
  const web = new ScriptedWeb();
  web.answers[URL_A] = "||a.example^\n!#include more.txt\n";
  web.answers["https://a.example/more.txt"] = "404: Not Found";
  const wish = { name: "n", sources: [{ source: URL_A }] };
  assert.equal(await codeOf(compile(wish, { host: web.host })), "source-not-list");
});

test("every real list is accepted as a list", { skip: missingCorpus }, async () => {
  const { readdirSync, readFileSync } = await import("node:fs");
  const { corpusFolder } = await import("../support/corpus.ts");
  let lists = 0;
  for (const set of ["typical", "power"] as const) {
    const folder = corpusFolder(set);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const bytes = readFileSync(join(entry.parentPath, entry.name));
      refuseOther(bytes.subarray(0, 100_000), bytes.length <= 100_000, entry.name);
      lists++;
    }
  }
  assert.ok(lists >= 382, String(lists));
});

test("an ETag of 15 kB does not prevent the next fetch", async () => {
  const cacheDir = mkdtempSync(join(tmpdir(), "answers-"));
  const etag = `"${"e".repeat(15_000)}"`;
  const body = "||a.example^\n";
  const server = await rawServer((head) =>
    head.length > 8192
      ? ["HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n"]
      : [
          `${OK}etag: ${etag}\r\nlast-modified: ${"x".repeat(500)}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        ],
  );
  try {
    for (let run = 0; run < 3; run++) {
      const { report } = await fetched(server.url, {}, { cacheDir });
      assert.equal(report.sources[0]!.state, "fetched", `run ${run}`);
    }
  } finally {
    server.close();
    rmSync(cacheDir, { recursive: true });
  }
});
