import assert from "node:assert/strict";
import {
  createReadStream,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runProgram } from "../support/command.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../support/corpus.ts";

/** A quarter: the runtime and the program take half of that to start, and twenty copies are looked at. */
const LIMIT = 0.25;

test("twenty unchanged sources are neither fetched nor compiled again", async (context) => {
  if (missingCorpus !== false) {
    context.skip(missingCorpus);
    return;
  }
  const lists = corpusFolder("typical");
  const names = new Set(readdirSync(lists));
  let sent = 0;
  let unchanged = 0;
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url!.slice(1));
    const etag = `"${statSync(join(lists, name)).size}"`;
    if (request.headers["if-none-match"] === etag) {
      unchanged++;
      response.writeHead(304, { etag }).end();
      return;
    }
    response.writeHead(200, { etag });
    createReadStream(join(lists, name))
      .on("data", (data) => (sent += data.length))
      .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), "warm-"));
  try {
    const { sources, ...rest } = corpusConfig();
    const config = {
      ...rest,
      sources: sources.map(({ source, ...more }) => ({
        ...more,
        source: `http://127.0.0.1:${port}/${encodeURIComponent(source)}`,
        allow_private: true,
      })),
    };
    assert.ok(sources.every(({ source }) => names.has(source)));
    writeFileSync(join(folder, "c.json"), JSON.stringify(config));
    const args = [
      "-c",
      "c.json",
      "-o",
      "l.txt",
      "--cache-dir",
      "cache",
      "--accept",
      "blocks-protected",
    ];
    const timed = async (): Promise<number> => {
      const started = performance.now();
      const { exit, stderr } = await runProgram(args, { cwd: folder });
      assert.equal(exit, 0, stderr);
      return performance.now() - started;
    };
    const cold = await timed();
    const first = sent;
    assert.ok(first > 40_000_000);
    const warm = Math.min(await timed(), await timed(), await timed());
    assert.equal(sent, first, "bytes of lists");
    assert.equal(unchanged, sources.length * 3);
    context.diagnostic(
      `cold ${cold.toFixed(0)} ms, warm ${warm.toFixed(0)} ms: ${((warm / cold) * 100).toFixed(1)} %`,
    );
    assert.ok(warm / cold <= LIMIT);
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
