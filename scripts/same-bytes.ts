/**
 * Prints one hash for everything the compiler makes of the conformance vectors and, where it is there, the typical
 * corpus. Every runtime must print the same: `.ci/run` compares them.
 */
import { createHash } from "node:crypto";
import process from "node:process";
import { compile, nodeHost } from "../src/index.ts";
import { corpusConfig, corpusFolder, missingCorpus } from "../test/support/corpus.ts";
import { readVectors, runVector } from "../test/support/vector.ts";

const hash = createHash("sha256");
for (const vector of readVectors()) hash.update(JSON.stringify(await runVector(vector)));
let corpus = "no corpus";
if (missingCorpus === false) {
  const host = { ...nodeHost(), cwd: corpusFolder("typical"), env: { SOURCE_DATE_EPOCH: "0" } };
  const { bytes, report } = await compile(corpusConfig(), { host });
  hash.update(bytes).update(JSON.stringify(report));
  corpus = `${report.lines} lines, ${report.rules} rules`;
} else {
  process.stderr.write(`${missingCorpus}\n`);
}
process.stdout.write(`${hash.digest("hex")} ${corpus}\n`);
