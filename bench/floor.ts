/**
 * The floor: ours against the reference compiler on 300,000 lines of real lists, in turns, process start included.
 * Fails below 20 times the speed (CPU time), or above 150 bytes of memory a line on top of the bare runtime.
 * Needs the corpus, `npm run oracle` and `npm run build`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig, corpusFolder, missingCorpus } from "../test/support/corpus.ts";
import { interleaved, measure } from "./measure.ts";

const LINES = 300_000;
const RUNS = 3;
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
const bytesPerLine =
  ((costs["ours"]!.peakMegabytes - costs["runtime"]!.peakMegabytes) * 1_048_576) / lines;
process.stdout.write(
  `${JSON.stringify({ lines, rules: { ours: rules("ours.txt"), reference: rules("reference.txt") }, costs, speedUp, bytesPerLine }, undefined, 2)}\n`,
);
if (process.env["KEEP"] === undefined) rmSync(folder, { recursive: true });
process.stdout.write(
  `${speedUp.toFixed(1)} times the reference's speed; ${bytesPerLine.toFixed(0)} bytes a line\n`,
);
if (speedUp < MIN_SPEED_UP || bytesPerLine > MAX_BYTES_PER_LINE) process.exitCode = 1;

/** The same share of every list, from its start, so that the mix is that of the whole. */
function writeSample(to: string): number {
  const from = corpusFolder("typical");
  const settings = corpusConfig();
  const texts = settings.sources.map(({ source }) =>
    readFileSync(join(from, source), "utf8").split("\n"),
  );
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  let written = 0;
  for (const [index, { source }] of settings.sources.entries()) {
    const part = texts[index]!.slice(0, Math.ceil((texts[index]!.length * LINES) / total)).filter(
      (line) => !line.startsWith("!#"),
    );
    writeFileSync(join(to, source), `${part.join("\n")}\n`);
    written += part.length;
  }
  writeFileSync(join(to, "config.json"), JSON.stringify(settings));
  return written;
}
