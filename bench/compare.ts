/**
 * Compares us with other ways to do the work: interleaved runs, medians, process start included, file to file.
 *
 *   node bench/compare.ts [typical | power | synthetic LINES] [--runs N] [--save] [--gate]
 *
 * The others are `sort -u` (bytes, with one thread and with any number), a plain C program for the same compile (`native/compile.c`,
 * the lower bound), and DuckDB, which only computes distinct names and parents. Prints ratios; `--save` writes them to bench/results;
 * `--gate` fails if one is more than 1.5 times the saved one. Needs `npm run build`, gcc, GNU time and, for DuckDB,
 * `npm run duckdb`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { icannRules } from "../src/syntax/public-suffix-list.ts";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, interleaved, measure } from "./measure.ts";

const SLACK = 1.75;

const [name = "typical", size = "10000000"] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith("-"));
const runsAt = process.argv.indexOf("--runs");
const runs = runsAt === -1 ? 5 : Number(process.argv[runsAt + 1]);
const root = join(import.meta.dirname, "..");
const input = inputOf(name, Number(size));
const { files, label } = input;
const work = workFolder(input);
const out = (file: string): string => join(work, file);

writeFileSync(
  out("suffixes.txt"),
  `${icannRules()
    .split(" ")
    .filter((rule) => !/^[*!]/.test(rule))
    .join("\n")}\n`,
);
execFileSync("gcc", ["-O2", "-o", out("native"), join(root, "bench/native/compile.c")]);

const sort = (...threads: string[]): (() => Cost) => {
  const command = ["sort", ...threads, "-u", "-o", out("sorted.txt"), ...files];
  return () => measure(command, { env: { LC_ALL: "C" } });
};
const commands: Record<string, () => Cost> = {
  // The other programs keep no record; record.ts measures its cost.
  ours: () => measure(compileCommand(work, "--no-record")),
  native: () => measure([out("native"), out("native.txt"), out("suffixes.txt"), ...files]),
  "sort -u, one thread": sort("--parallel=1"),
  "sort -u": sort(),
};
if (existsSync(join(root, "bench/duckdb/node_modules"))) {
  const program = join(root, "bench/duckdb/distinct-parents.mjs");
  commands["DuckDB"] = () => measure([process.execPath, program, out("duckdb.txt"), ...files]);
}
const isGate = process.argv.includes("--gate");
let measured = ratiosNow();
// A shared machine is slow at times; a slower program is slower every time.
for (let left = isGate ? 2 : 0; left > 0 && beyond(measured.oursOver).length > 0; left--)
  measured = ratiosNow();
const { costs, oursOver } = measured;
const lines = Number(
  execFileSync("bash", ["-c", `cat "$@" | wc -l`, "_", ...files], { maxBuffer: 1 << 20 }),
);
report(label, {
  input: { label, lines, files: files.length },
  runs,
  costs,
  oursOver,
  difference: differenceOf(out("ours.txt"), out("native.txt")),
});
if (isGate) gate();
rmSync(work, { recursive: true });

type Ratios = Readonly<Record<string, { readonly wall: number; readonly cpu: number }>>;

function ratiosNow(): { costs: Record<string, Cost>; oursOver: Ratios } {
  const taken = interleaved(commands, runs);
  const { ours, ...others } = taken as Record<string, Cost> & { ours: Cost };
  const ratios = Object.entries(others).map(([command, cost]) => [
    command,
    {
      wall: rounded(ours.wallSeconds / cost.wallSeconds),
      cpu: rounded(ours.cpuSeconds / cost.cpuSeconds),
    },
  ]);
  return { costs: taken, oursOver: Object.fromEntries(ratios) as Ratios };
}

/**
 * The gate runs on shared machines: only a ratio that is far off three times is significant. It compares CPU time, which
 * other work on the machine changes less; there is one thread, so that an idle machine needs the same time.
 */
function beyond(ratios: Ratios): string[] {
  const saved = JSON.parse(readFileSync(join(root, "bench/results", `${label}.json`), "utf8")) as {
    oursOver: Ratios;
  };
  return Object.entries(ratios).flatMap(([command, { cpu }]) => {
    const limit = (saved.oursOver[command]?.cpu ?? Infinity) * SLACK;
    return cpu <= limit
      ? []
      : [`${cpu} times the CPU time of ${command}, at most ${rounded(limit)} is allowed`];
  });
}

function gate(): void {
  for (const text of beyond(oursOver)) {
    process.stderr.write(`${label}: ${text}\n`);
    process.exitCode = 1;
  }
}

/** How far the list of the C program, which checks special rules less strictly, is from ours. */
function differenceOf(own: string, native: string): object {
  const count = (flag: string): number =>
    Number(
      execFileSync("bash", [
        "-c",
        `LC_ALL=C comm ${flag} <(grep -v '^!' "$1" | LC_ALL=C sort) <(LC_ALL=C sort "$2") | wc -l`,
        "_",
        own,
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
