import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Config, SourceConfig } from "../../src/index.ts";
import { CompilerError, type Host, compile, memoryHost, nodeHost } from "../support/internals.ts";
import { serve } from "../support/web-server.ts";

const GZIPPED = gzipSync("0.0.0.0 zipped.example.com\n".repeat(50));

/** Raw answers, byte by byte as a server would send them; a missing route never answers. */
const ANSWERS: Readonly<Record<string, readonly (string | Uint8Array)[]>> = {
  "/plain": ["HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\n0.0.0.0 example.com"],
  "/no-length": ["HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n0.0.0.0 example.com\n"],
  "/gzip": [
    `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${GZIPPED.length}\r\n\r\n`,
    GZIPPED,
  ],
  "/file.gz": [
    `HTTP/1.1 200 OK\r\ncontent-type: application/gzip\r\ncontent-length: ${GZIPPED.length}\r\n\r\n`,
    GZIPPED,
  ],
  "/latin1": [
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=iso-8859-1\r\ncontent-length: 20\r\n\r\n",
    Uint8Array.from([
      ...new TextEncoder().encode("0.0.0.0 caf"),
      0xe9,
      ...new TextEncoder().encode(".com.com"),
    ]),
  ],
  "/cut-length": ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0.0.0.0 example.com"],
  "/cut-chunk": ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n0.0.0\r\n"],
  "/cut-gzip": [
    `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${GZIPPED.length - 9}\r\n\r\n`,
    GZIPPED.subarray(0, -9),
  ],
  "/html": [
    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 22\r\n\r\n <!DOCTYPE html><html>",
  ],
  "/binary": ["HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n", Uint8Array.from([80, 75, 0, 4])],
  "/moved": ["HTTP/1.1 302 Found\r\nlocation: /plain\r\ncontent-length: 0\r\n\r\n"],
  "/loop": ["HTTP/1.1 302 Found\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n"],
  "/to-file": ["HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n"],
  "/missing": ["HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno"],
  "/not-http": ["hello\r\n\r\n"],
};

async function withServer<T>(work: (base: string) => Promise<T>): Promise<T> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const path = new TextDecoder().decode(data).split(" ")[1] ?? "";
      const answer = ANSWERS[path];
      if (answer === undefined) return;
      for (const part of answer) socket.write(part);
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

async function fetchList(path: string, signal?: AbortSignal): Promise<string> {
  return withServer(async (base) => {
    const config = {
      name: "n",
      sources: [{ source: base + path }],
      transformations: ["RemoveComments"],
    };
    const result = await compile(config, {
      host: nodeHost(),
      allowPrivate: true,
      fetchLimits: { pauseMs: 1 },
      ...(signal === undefined ? {} : { signal }),
    });
    return new TextDecoder().decode(result.bytes).split("\n").at(-1)!;
  });
}

for (const [path, line] of [
  ["/plain", "0.0.0.0 example.com"],
  ["/no-length", "0.0.0.0 example.com"],
  ["/gzip", "0.0.0.0 zipped.example.com"],
  ["/file.gz", "0.0.0.0 zipped.example.com"],
  ["/latin1", "0.0.0.0 xn--caf-dma.com.com"],
  ["/moved", "0.0.0.0 example.com"],
] as const) {
  test(`${path} is read`, async () => assert.equal(await fetchList(path), line));
}

for (const [path, code, cause] of [
  ["/cut-length", "fetch-failed", /./],
  ["/cut-chunk", "fetch-failed", /./],
  ["/cut-gzip", /^(?:source-not-text|fetch-failed)$/, /./],
  ["/html", "source-is-html", /<!DOCTYPE html>/],
  ["/binary", "source-not-text", /NUL/],
  ["/loop", "fetch-failed", /more than 5 redirects/],
  ["/to-file", "fetch-failed", /neither http nor https/],
  ["/missing", "fetch-failed", /status 404/],
  ["/not-http", "fetch-failed", /./],
] as const) {
  test(`${path} is rejected`, async () => {
    const error = await fetchList(path).catch((reason: unknown) => reason);
    assert.ok(error instanceof CompilerError, String(error));
    const first = error.diagnostics.find(({ severity }) => severity === "error")!;
    assert.match(first.code, code instanceof RegExp ? code : new RegExp(`^${code}$`));
    assert.match(first.cause ?? "", cause);
    assert.equal(error.exit, 4);
  });
}

test("a request to a server that never responds ends with the run, whenever that ends", async () => {
  for (const delay of [0, 1, 3, 200]) {
    const started = performance.now();
    const run = new AbortController();
    setTimeout(() => run.abort(), delay);
    await assert.rejects(fetchList("/hang", run.signal));
    assert.ok(performance.now() - started < 5000, `after ${delay} ms`);
  }
});

test("timeouts end a request", async () => {
  await withServer(async (base) => {
    const request = {
      url: `${base}/hang`,
      headers: {},
      maxBytes: 1000,
      onlyPublic: false,
      take: () => {},
      timeouts: { connectMs: 1000, headersMs: 150, idleMs: 150, totalMs: 5000 },
    };
    await assert.rejects(nodeHost().fetch(request), {
      code: "ETIMEDOUT",
      message: /no answer within 0\.15 s/,
    });
    const short = {
      ...request,
      timeouts: { connectMs: 1000, headersMs: 5000, idleMs: 5000, totalMs: 150 },
    };
    await assert.rejects(nodeHost().fetch(short), {
      code: "ETIMEDOUT",
      message: /not complete within 0\.15 s/,
    });
    await assert.rejects(nodeHost().fetch({ ...request, url: `${base}/plain`, maxBytes: 5 }), {
      code: "EFBIG",
    });
  });
});

function near(source: string): SourceConfig {
  return { source, allow_private: true };
}

test("a file of names in a private network is read with allow_private", async () => {
  const web = await serve({
    "/allow.txt": { body: "good.example\n" },
    "/exclude.txt": { body: "||out.example^\n" },
    "/protect.txt": { body: "precious.example\n" },
  });
  try {
    const host = memoryHost({
      files: { "a.txt": "||good.example^\n||out.example^\n||kept.example^\n" },
    });
    const config = {
      name: "N",
      sources: [{ source: "a.txt", exclusions_sources: [`${web.base}/exclude.txt`] }],
      allow_sources: [`${web.base}/allow.txt`],
      guards: { protect: [`${web.base}/protect.txt`] },
    };
    const real = nodeHost();
    const network: Host = { ...host, fetch: (request) => real.fetch(request) };
    const without = await compile(config, { host: network });
    without.close();
    assert.equal(without.report.degraded, true);
    const hints = without.diagnostics.filter(({ hint = "" }) => /allow_private/.test(hint));
    assert.equal(hints.length, 3);
    const permitted: Config = {
      name: "N",
      sources: [{ source: "a.txt", exclusions_sources: [near(`${web.base}/exclude.txt`)] }],
      allow_sources: [near(`${web.base}/allow.txt`)],
      guards: { protect: [near(`${web.base}/protect.txt`)] },
    };
    const { bytes } = await compile(permitted, { host: network });
    const list = new TextDecoder().decode(bytes);
    assert.match(list, /kept\.example/);
    assert.doesNotMatch(list, /good\.example|out\.example/);
  } finally {
    await web.close();
  }
});
