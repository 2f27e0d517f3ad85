import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { CompilerError } from "../../src/diagnostics/render.ts";
import { isNightly } from "../support/nightly.ts";
import { run } from "../../src/cli/main.ts";
import { memoryHost, nodeHost } from "../support/internals.ts";
import { packingHost } from "../support/packing-host.ts";
import { COUNTS, QUERIES, readLog } from "../support/read-log.ts";
import { logWriters } from "../support/query-logs.ts";
import { Random } from "../support/random.ts";

test("the database of Pi-hole is counted, with names by text or by number", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ftl-"));
  try {
    const path = join(folder, "pihole-FTL.db");
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE query_storage (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp INTEGER NOT NULL, type INTEGER NOT NULL,
        status INTEGER NOT NULL, domain INTEGER NOT NULL, client INTEGER NOT NULL);
      CREATE TABLE domain_by_id (id INTEGER PRIMARY KEY, domain TEXT NOT NULL);
      CREATE VIEW queries AS SELECT id, timestamp, type, status,
        CASE typeof(domain) WHEN 'integer' THEN (SELECT domain FROM domain_by_id d WHERE d.id = q.domain) ELSE domain END domain,
        client FROM query_storage q;
      INSERT INTO domain_by_id VALUES (1, 'a.example'), (2, 'B.example');
      INSERT INTO query_storage (id, timestamp, type, status, domain, client) VALUES (5, 0, 1, 2, 1, 1), (6, 0, 1, 2, 1, 1), (7, 0, 1, 2, 2, 1),
        (2000007, 0, 1, 2, 1, 1), (3000000, 0, 1, 2, 'c.d.example', 1);`);
    database.close();
    assert.deepEqual(await readLog(path, nodeHost()), {
      counts: COUNTS,
      format: "Pi-hole",
      batches: 1,
    });
    const other = join(folder, "other.db");
    const second = new DatabaseSync(other);
    second.exec("CREATE TABLE things (id INTEGER)");
    second.close();
    await assert.rejects(readLog(other, nodeHost()), /other\.db is not a query log/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Replaces, removes, repeats and inserts bytes. */
function mutated(bytes: Buffer, random: Random): Buffer {
  let out = Buffer.from(bytes);
  for (let step = 1 + random.below(6); step > 0; step--) {
    const at = random.below(out.length + 1);
    const end = Math.min(out.length, at + random.below(40));
    const odd = Buffer.from(
      random.pick([
        "\u001b[31m",
        "\n",
        "\0",
        "\u202e",
        '"',
        "\\",
        "\\u0000",
        "query[",
        " from ",
        "é",
        "\u009b",
      ]),
    );
    out = Buffer.concat(
      random.pick([
        [out.subarray(0, at), odd, out.subarray(at)],
        [out.subarray(0, at), out.subarray(end)],
        [out.subarray(0, end), out.subarray(at)],
        [out.subarray(0, at), Buffer.from([random.below(256)]), out.subarray(end)],
      ]),
    );
  }
  return out;
}

test("mutated logs are counted or refused, and nothing unescaped is printed", async () => {
  const memory = memoryHost({
    files: {
      "c.json": JSON.stringify({
        name: "N",
        sources: [{ name: "S", source: "s.txt", type: "adblock" }],
        guards: { min_rules: 0 },
      }),
      "s.txt": "||a.example^\n||d.example^\n",
    },
  });
  const host = packingHost(memory);
  const { signal } = new AbortController();
  assert.equal(await run(["-c", "c.json", "-q"], host, signal), 0, memory.output.stderr);
  const random = new Random(5);
  const rounds = isNightly ? 10_000 : 300;
  const exits = new Map<number, number>();
  for (const write of logWriters.values()) {
    const text = Buffer.from(write(QUERIES));
    for (let round = 0; round < rounds; round++) {
      const packed = round % 60 === 0 ? gzipSync(text) : text;
      memory.files.set("/project/log", mutated(packed, random));
      if (round % 20 !== 0) {
        await readLog("log", host).catch((error: unknown) =>
          assert.ok(error instanceof CompilerError),
        );
        continue;
      }
      memory.output.stdout = memory.output.stderr = "";
      const exit = await run(["stats", "-c", "c.json", "--traffic", "log"], host, signal);
      exits.set(exit, (exits.get(exit) ?? 0) + 1);
      assert.ok(exit === 0 || exit === 2, memory.output.stderr);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(
        memory.output.stdout + memory.output.stderr,
        /[\0-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
      );
    }
  }
  assert.ok((exits.get(0) ?? 0) > 50, JSON.stringify([...exits]));
});
