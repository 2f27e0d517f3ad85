/**
 * The reference compiler on the whole typical corpus, once (seven minutes), with our runs before and after. Fails below
 * 300 times its speed (CPU time). Needs the corpus, `npm run oracle` and `npm run build`.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig, corpusFolder } from "../test/support/corpus.ts";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, measure, median } from "./measure.ts";

const LIMIT = 300;
const root = join(import.meta.dirname, "..");
const folder = workFolder(inputOf("typical"));
const program = join(root, "test/oracle/node_modules/@adguard/hostlist-compiler/src/cli.js");
const { transformations } = corpusConfig();
const ours: Cost[] = [];
for (let run = 0; run < 5; run++) ours.push(measure(compileCommand(folder)));
const reference = measure(
  [
    process.execPath,
    program,
    "-c",
    join(folder, "config.json"),
    "-o",
    join(folder, "reference.txt"),
  ],
  { cwd: corpusFolder("typical") },
);
for (let run = 0; run < 5; run++) ours.push(measure(compileCommand(folder)));
rmSync(folder, { recursive: true });
const cpuSeconds = median(ours.map((cost) => cost.cpuSeconds));
const wallSeconds = median(ours.map((cost) => cost.wallSeconds));
const speedUp = {
  cpu: rounded(reference.cpuSeconds / cpuSeconds),
  wall: rounded(reference.wallSeconds / wallSeconds),
};
report("reference", { transformations, reference, ours: { cpuSeconds, wallSeconds }, speedUp });
if (speedUp.cpu < LIMIT) process.exitCode = 1;
