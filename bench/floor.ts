/**
 * Compares us with the reference compiler on 300,000 lines of the typical corpus: interleaved runs, process start included.
 * There are two samples, because the reference is quadratic in the lines it removes: the first lines of the corpus, which
 * fails below 20 times the speed (CPU time), and an equal share of every list, for information. Also fails above 150 bytes
 * of memory per line of the whole corpus on top of the bare runtime. Needs the corpus, `npm run oracle` and
 * `npm run build`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig, corpusFolder, missingCorpus } from "../test/support/corpus.ts";
import { type Cost, interleaved, measure } from "./measure.ts";

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
const allLines = corpusConfig().sources.reduce(
  (sum, { source }) =>
    sum + readFileSync(join(corpusFolder("typical"), source), "utf8").split("\n").length,
  0,
);
writeSample(join(folder, "first"), firstLines());
writeSample(join(folder, "share"), equalShares(allLines));
writeSample(join(folder, "all"), (lines) => lines);
const reference = join(root, "test/oracle/node_modules/@adguard/hostlist-compiler/src/cli.js");
const ours = join(root, "dist/cli/bin.js");

function compileWith(program: string, sample: string, ...more: string[]): () => Cost {
  const cwd = join(folder, sample);
  return () =>
    measure([process.execPath, program, "-c", "config.json", "-o", "out.txt", ...more], { cwd });
}

const costs = interleaved(
  {
    runtime: () => measure([process.execPath, "-e", "0"]),
    oursOnFirst: compileWith(ours, "first", "--no-cache", "--accept", "blocks-protected", "-q"),
    referenceOnFirst: compileWith(reference, "first"),
    oursOnShare: compileWith(ours, "share", "--no-cache", "--accept", "blocks-protected", "-q"),
    referenceOnShare: compileWith(reference, "share"),
    oursOnAll: compileWith(ours, "all", "--no-cache", "--accept", "blocks-protected", "-q"),
  },
  RUNS,
);
rmSync(folder, { recursive: true });
const speedUp = costs["referenceOnFirst"]!.cpuSeconds / costs["oursOnFirst"]!.cpuSeconds;
const speedUpOnShare = costs["referenceOnShare"]!.cpuSeconds / costs["oursOnShare"]!.cpuSeconds;
const extra = costs["oursOnAll"]!.peakMegabytes - costs["runtime"]!.peakMegabytes;
const bytesPerLine = (extra * 1_048_576) / allLines;
process.stdout.write(
  `${JSON.stringify({ costs, speedUp, speedUpOnShare, bytesPerLine }, undefined, 2)}
${speedUp.toFixed(1)} times the reference's speed on the first ${LINES} lines, ${speedUpOnShare.toFixed(1)} times on an equal share of every list; ${bytesPerLine.toFixed(0)} bytes a line
`,
);
// The gate runs on shared machines, where a deviation of one half is not significant.
const slack = process.argv.includes("--gate") ? 1.5 : 1;
if (speedUp * slack < MIN_SPEED_UP || bytesPerLine > MAX_BYTES_PER_LINE * slack)
  process.exitCode = 1;

/** Writes a sample of the corpus with its configuration: the lines of each list that `share` keeps. */
function writeSample(to: string, share: (lines: readonly string[]) => readonly string[]): void {
  mkdirSync(to);
  const from = corpusFolder("typical");
  const settings = corpusConfig();
  const sources = settings.sources.filter(({ source }) => {
    const part = share(readFileSync(join(from, source), "utf8").split("\n"));
    if (part.length > 0) writeFileSync(join(to, source), `${part.join("\n")}\n`);
    return part.length > 0;
  });
  writeFileSync(join(to, "config.json"), JSON.stringify({ ...settings, sources }));
}

/** The first lines of the corpus, list after list. */
function firstLines(): (lines: readonly string[]) => readonly string[] {
  let left = LINES;
  return (lines) => {
    const part = lines.slice(0, left);
    left -= part.length;
    return part;
  };
}

/** The same share of every list; without directives, which sampling would separate. */
function equalShares(total: number): (lines: readonly string[]) => readonly string[] {
  return (lines) =>
    lines
      .slice(0, Math.ceil((lines.length * LINES) / total))
      .filter((line) => !line.startsWith("!#"));
}
