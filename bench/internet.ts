/**
 * All registered names: N lines after the real distribution of suffixes, lengths and labels, compiled under `--memory 512M`, beside
 * `sort -u -S 512M` and DuckDB with the same limit, in one run.
 *
 *   node bench/internet.ts [NAMES, default 400000000] [--record] [--save]
 *
 * Needs `npm run build`, GNU time, and about 120 bytes of disk per name in the temporary folder. DuckDB takes part after
 * `npm run duckdb`. Fails if one of them is faster, by CPU time with `--cpu` (for a shared machine).
 */
import { existsSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { compileCommand, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, measure } from "./measure.ts";
import { writeRegistered } from "./registered.ts";

const MEMORY = "512M";

const names = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 400_000_000);
const input = join(tmpdir(), `rules-compiler-registered-${names}.txt`);
if (!existsSync(input)) writeRegistered(input, names);
const folder = workFolder({ label: `internet-${names}`, files: [input] });
const out = (file: string): string => join(folder, file);
const record = process.argv.includes("--record") ? [] : ["--no-record"];

const costs: Record<string, Cost> = {};
const failures: Record<string, string> = {};
costs["ours"] = measure(compileCommand(folder, "--memory", MEMORY, ...record));
const outputBytes = statSync(out("ours.txt")).size;
rmSync(out("ours.txt"));
const sort = ["sort", "-u", "-S", MEMORY, "-T", folder, "-o", out("sorted.txt"), input];
costs["sort -u"] = measure(sort, { env: { LC_ALL: "C" } });
rmSync(out("sorted.txt"));
const database = join(import.meta.dirname, "duckdb");
if (existsSync(join(database, "node_modules"))) {
  const program = join(database, "distinct-names.mjs");
  const command = [process.execPath, program, out("duckdb.txt"), "512MB", folder, input];
  // With all cores it runs out of memory between 20 and 100 million names. One thread needs less.
  for (const [name, words] of [
    ["DuckDB", []],
    ["DuckDB, one thread", ["1"]],
  ] as const) {
    if (Object.keys(costs).some((known) => known.startsWith("DuckDB"))) break;
    try {
      costs[name] = measure([...command, ...words]);
    } catch (error) {
      const [reason = "failed"] = /Out of Memory Error[^\n]*/.exec(String(error)) ?? [];
      failures[name] = reason;
    }
    rmSync(join(folder, "duckdb"), { recursive: true, force: true });
  }
}
rmSync(folder, { recursive: true });

const of = process.argv.includes("--cpu") ? "cpuSeconds" : "wallSeconds";
const { ours, ...others } = costs as Record<string, Cost> & { ours: Cost };
const oursOver = Object.fromEntries(
  Object.entries(others).map(([name, cost]) => [name, rounded(ours[of] / cost[of])]),
);
report(`internet-${names}`, {
  names,
  inputBytes: statSync(input).size,
  outputBytes,
  costs,
  failures,
  oursOver,
  nanosecondsPerName: rounded((ours[of] * 1e9) / names),
});
if (Object.values(oursOver).some((ratio) => ratio > 1)) process.exitCode = 1;
