/**
 * Ours beside what else could do the work, in turns, medians, process start included, file to file:
 *
 *   node bench/compare.ts [typical | power | synthetic LINES] [--runs N] [--save]
 *
 * `sort -u` (one thread, bytes), a plain C program that does the same compile (`native/compile.c`, the limit), and DuckDB doing
 * distinct names and parents only. Prints ratios; `--save` writes bench/results/<name>.json. Needs `npm run build`, gcc,
 * GNU time and `npm ci --prefix bench/duckdb`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ICANN_RULES } from "../src/syntax/public-suffix-list.ts";
import { corpusConfig, corpusFolder } from "../test/support/corpus.ts";
import { type Cost, interleaved, measure } from "./measure.ts";
import { writeSynthetic } from "./synthetic.ts";

const [name = "typical", size = "10000000"] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith("-"));
const runsAt = process.argv.indexOf("--runs");
const runs = runsAt === -1 ? 5 : Number(process.argv[runsAt + 1]);
const root = join(import.meta.dirname, "..");
const work = mkdtempSync(join(tmpdir(), "compare-"));
const { files, label } = inputFiles();
const out = (file: string): string => join(work, file);

writeFileSync(
  out("suffixes.txt"),
  `${ICANN_RULES.split(" ")
    .filter((rule) => !/^[*!]/.test(rule))
    .join("\n")}\n`,
);
execFileSync("gcc", ["-O2", "-o", out("native"), join(root, "bench/native/compile.c")]);
writeFileSync(
  out("config.json"),
  JSON.stringify({
    name: label,
    sources: files.map((source) => ({ source, name: source, type: "adblock" })),
    transformations: corpusConfig().transformations,
  }),
);

const node = process.execPath;
const commands: Record<string, () => Cost> = {
  ours: () =>
    measure([
      node,
      join(root, "dist/cli/bin.js"),
      "-c",
      out("config.json"),
      "-o",
      out("ours.txt"),
      "-q",
    ]),
  native: () => measure([out("native"), out("native.txt"), out("suffixes.txt"), ...files]),
  "sort -u": () =>
    measure(["sort", "--parallel=1", "-u", "-o", out("sorted.txt"), ...files], {
      env: { LC_ALL: "C" },
    }),
};
if (existsSync(join(root, "bench/duckdb/node_modules")))
  commands["DuckDB"] = () =>
    measure([node, join(root, "bench/duckdb/distinct-parents.mjs"), out("duckdb.txt"), ...files]);
const costs = interleaved(commands, runs);

const lines = Number(
  execFileSync("bash", ["-c", `cat "$@" | wc -l`, "_", ...files], { maxBuffer: 1 << 20 }),
);
const ratios = Object.fromEntries(
  Object.entries(costs).map(([command, cost]) => [
    command,
    {
      wall: costs["ours"]!.wallSeconds / cost.wallSeconds,
      cpu: costs["ours"]!.cpuSeconds / cost.cpuSeconds,
    },
  ]),
);
const result = {
  input: { label, lines, files: files.length },
  costs,
  oursOver: ratios,
  difference: differenceOf(out("ours.txt"), out("native.txt")),
  machine: {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  },
};
const text = `${JSON.stringify(result, undefined, 2)}\n`;
process.stdout.write(text);
if (process.argv.includes("--save"))
  writeFileSync(join(root, "bench/results", `${label}.json`), text);
rmSync(work, { recursive: true });

function inputFiles(): { files: string[]; label: string } {
  if (name === "synthetic") {
    const path = join(tmpdir(), `rules-compiler-synthetic-${size}.txt`);
    if (!existsSync(path)) writeSynthetic(path, Number(size));
    return { files: [path], label: `synthetic-${size}` };
  }
  const folder = corpusFolder(name === "power" ? "power" : "typical");
  const inSet =
    name === "power"
      ? readdirSync(folder).toSorted()
      : corpusConfig().sources.map(({ source }) => source);
  return {
    files: inSet.filter((file) => file !== "typical.json").map((file) => join(folder, file)),
    label: name,
  };
}

/** How far the C program, which judges odd rules less closely, is from our list. */
function differenceOf(ours: string, native: string): object {
  const count = (flag: string): number =>
    Number(
      execFileSync("bash", [
        "-c",
        `LC_ALL=C comm ${flag} <(grep -v '^!' "$1" | LC_ALL=C sort) <(LC_ALL=C sort "$2") | wc -l`,
        "_",
        ours,
        native,
      ]),
    );
  return {
    onlyOurs: count("-23"),
    onlyNative: count("-13"),
    both: count("-12"),
    why: "the C program does not judge odd rules closely (reach, addresses, notes, upper case)",
  };
}
