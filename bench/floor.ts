/**
 * The floor: ours against the reference compiler on the first 300,000 lines of the typical corpus, in turns, process
 * start included. Fails below 20 times the speed (CPU time), or above 150 bytes of memory a line of the whole corpus on
 * top of the bare runtime.
 * Needs the corpus, `npm run oracle` and `npm run build`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig, corpusFolder, missingCorpus } from "../test/support/corpus.ts";
import { interleaved, measure } from "./measure.ts";

const LINES = 300_000;
const RUNS = 5;
const MIN_SPEED_UP = 20;
const MAX_BYTES_PER_LINE = 150;

if (missingCorpus !== false) {
  process.stderr.write(`${missingCorpus}\n`);
  process.exit(1);
}
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "floor-"));
const lines = writeSample(folder);
const config = join(folder, "config.json");
const oracle = join(root, "test/oracle/node_modules/@adguard/hostlist-compiler/src/cli.js");
const ours = join(root, "dist/cli/bin.js");

const costs = interleaved(
  {
    runtime: () => measure([process.execPath, "-e", "0"]),
    ours: () =>
      measure([process.execPath, ours, "-c", config, "-o", join(folder, "ours.txt"), "-q"], {
        cwd: folder,
      }),
    oursOnAll: () =>
      measure(
        [
          process.execPath,
          ours,
          "-c",
          join(corpusFolder("typical"), "typical.json"),
          "-o",
          join(folder, "all.txt"),
          "-q",
        ],
        { cwd: folder },
      ),
    reference: () =>
      measure([process.execPath, oracle, "-c", config, "-o", join(folder, "reference.txt")], {
        cwd: folder,
      }),
  },
  RUNS,
);
const rules = (file: string): number =>
  readFileSync(join(folder, file), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("!")).length;
const speedUp = costs["reference"]!.cpuSeconds / costs["ours"]!.cpuSeconds;
const allLines = corpusConfig().sources.reduce(
  (sum, { source }) =>
    sum + readFileSync(join(corpusFolder("typical"), source), "utf8").split("\n").length,
  0,
);
const bytesPerLine =
  ((costs["oursOnAll"]!.peakMegabytes - costs["runtime"]!.peakMegabytes) * 1_048_576) / allLines;
process.stdout.write(
  `${JSON.stringify({ lines, rules: { ours: rules("ours.txt"), reference: rules("reference.txt") }, costs, speedUp, bytesPerLine }, undefined, 2)}\n`,
);
if (process.env["KEEP"] === undefined) rmSync(folder, { recursive: true });
process.stdout.write(
  `${speedUp.toFixed(1)} times the reference's speed; ${bytesPerLine.toFixed(0)} bytes a line\n`,
);
// The gate runs on machines that others use too; a figure that is off by a half there says nothing about the code.
const slack = process.argv.includes("--gate") ? 1.5 : 1;
if (speedUp * slack < MIN_SPEED_UP || bytesPerLine > MAX_BYTES_PER_LINE * slack)
  process.exitCode = 1;

/** The first lines of the corpus, list after list. */
function writeSample(to: string): number {
  const from = corpusFolder("typical");
  const settings = corpusConfig();
  const sources = [];
  let left = LINES;
  for (const source of settings.sources) {
    if (left <= 0) break;
    const part = readFileSync(join(from, source.source), "utf8").split("\n").slice(0, left);
    writeFileSync(join(to, source.source), `${part.join("\n")}\n`);
    sources.push(source);
    left -= part.length;
  }
  writeFileSync(join(to, "config.json"), JSON.stringify({ ...settings, sources }));
  writeFileSync(join(from, "typical.json"), JSON.stringify(settings));
  return LINES;
}
