/**
 * Prints one hash of the results for the conformance vectors and, if available, the typical corpus, which it compiles with
 * much and with little memory, with one and with four threads: all must agree. `.ci/run` checks that every runtime prints
 * the same hash.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import process from "node:process";
import { compile, nodeHost } from "../test/support/internals.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../test/support/corpus.ts";
import { readVectors, runVector } from "../test/support/vector.ts";

const hash = createHash("sha256");
for (const vector of readVectors()) hash.update(JSON.stringify(await runVector(vector)));
let corpus = "no corpus";
if (missingCorpus === false) {
  const host = { ...nodeHost(), cwd: corpusFolder("typical"), env: { SOURCE_DATE_EPOCH: "0" } };
  const ample = await compile(corpusConfig(), { host, workers: 1 });
  const cramped = await compile(corpusConfig(), {
    host,
    blockBytes: 100_000,
    limits: { chunks: 4_000_000, pages: 2_000_000, pageBytes: 4096, partitions: 64 },
  });
  cramped.close();
  const crowded = await compile(corpusConfig(), { host, workers: 4 });
  crowded.close();
  const { bytes, report } = ample;
  assert.ok(Buffer.compare(bytes, cramped.bytes) === 0, "little memory gives another list");
  assert.ok(Buffer.compare(bytes, crowded.bytes) === 0, "more threads give another list");
  assert.deepEqual(cramped.report, report);
  assert.deepEqual(crowded.report, report);
  hash.update(bytes).update(JSON.stringify(report));
  corpus = `${report.lines} lines, ${report.rules} rules`;
} else {
  process.stderr.write(`${missingCorpus}\n`);
}
process.stdout.write(`${hash.digest("hex")} ${corpus}\n`);
