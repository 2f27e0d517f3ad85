/** Runs all benchmarks and writes their results to bench/results: forty minutes on two cores. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

const BENCHES = [
  ["compare.ts", "typical", "--runs", "9"],
  ["compare.ts", "power"],
  ["compare.ts", "synthetic", "10000000"],
  ["growth.ts"],
  ["rebuild.ts"],
  ["startup.ts"],
  ["record.ts"],
  ["formats.ts"],
  ["several-lists.ts"],
  ["comparisons.ts"],
  ["unchanged-lists.ts"],
  ["watch.ts"],
  ["traffic.ts"],
  ["feeds.ts"],
  ["limits.ts"],
  ["switches.ts"],
  ["reference.ts"],
];
for (const [file, ...words] of BENCHES) {
  const command = [join(import.meta.dirname, file!), ...words, "--save"];
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status !== 0) {
    process.stderr.write(`${file} ${words.join(" ")}: limit exceeded\n`);
    process.exitCode = 1;
  }
}
