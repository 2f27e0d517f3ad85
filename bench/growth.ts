/**
 * Growth of the time with the input: synthetic lists of 1, 2, 4, 8 and 16 million lines (with `--gate` up to 4), minimum of
 * several interleaved runs, process start included. Fails if the fitted exponent is above 1.08.
 */
import { rmSync } from "node:fs";
import process from "node:process";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { measure } from "./measure.ts";

const LIMIT = 1.08;
const isGate = process.argv.includes("--gate");
const sizes = isGate ? [1, 2, 4] : [1, 2, 4, 8, 16];
const folders = sizes.map((millions) => workFolder(inputOf("synthetic", millions * 1_000_000)));
const seconds = sizes.map(() => Infinity);
for (let run = 0; run < 5; run++) {
  for (const [index, folder] of folders.entries()) {
    const { cpuSeconds } = measure(compileCommand(folder));
    seconds[index] = Math.min(seconds[index]!, cpuSeconds);
  }
}
for (const folder of folders) rmSync(folder, { recursive: true });
const exponent = slope(sizes.map(Math.log), seconds.map(Math.log));
report("growth", {
  cpuSeconds: Object.fromEntries(sizes.map((size, index) => [`${size} M`, seconds[index]])),
  exponent: rounded(exponent),
});
if (exponent > LIMIT) process.exitCode = 1;

/** Least squares. */
function slope(x: readonly number[], y: readonly number[]): number {
  const [meanX, meanY] = [mean(x), mean(y)];
  const covariance = x.reduce(
    (sum, value, index) => sum + (value - meanX) * (y[index]! - meanY),
    0,
  );
  return covariance / x.reduce((sum, value) => sum + (value - meanX) ** 2, 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
