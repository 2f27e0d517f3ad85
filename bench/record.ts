/**
 * The cost and speed of the build record: the typical corpus compiled with and without it, interleaved; `why` for one name,
 * start-up included; `why -` for many. Fails if a run takes more than 15 % longer, or above 12 bytes per line.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { interleaved, interleavedMilliseconds, measure } from "./measure.ts";

const COST_LIMIT = 1.15;
const BYTES_LIMIT = 12;
const NAMES = 500_000;

const folder = workFolder(inputOf("typical"));
const costs = interleaved(
  {
    with: () => measure(compileCommand(folder)),
    without: () => measure(compileCommand(folder, "--no-record")),
    // There are no earlier builds, so a copy of the list is kept as well.
    withCopy: () => {
      rmSync(join(folder, ".rules-compiler"), { recursive: true, force: true });
      return measure(compileCommand(folder));
    },
  },
  process.argv.includes("--gate") ? 5 : 15,
);
measure(compileCommand(folder));
const list = readFileSync(join(folder, "ours.txt"), "latin1").split("\n");
const why = (...words: string[]): string[] => [
  process.execPath,
  join(import.meta.dirname, "../dist/cli/bin.js"),
  "why",
  "-c",
  join(folder, "config.json"),
  "-o",
  join(folder, "ours.txt"),
  ...words,
];
const names = list.flatMap((line) => /^\|\|([a-z0-9.-]+)\^$/.exec(line)?.[1] ?? []);
const one = interleavedMilliseconds(
  { why: why("stats.g.doubleclick.net"), version: [process.execPath, why()[1]!, "--version"] },
  9,
);
const [few, many] = [1, NAMES].map((count) => {
  const path = join(folder, "names.txt");
  const asked = Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? names[index % names.length]! : `x${index}.nowhere.test`,
  );
  writeFileSync(path, asked.join("\n"));
  const began = performance.now();
  const { status } = spawnSync("bash", ["-c", `"$@" < '${path}' > /dev/null`, "bash", ...why("-")]);
  if (status !== 0) throw new Error(`why - ended in ${status}`);
  return performance.now() - began;
}) as [number, number];
const kept = readdirSync(join(folder, ".rules-compiler"));
const [bytes, copyBytes] = [".record.", ".list-"].map((part) => {
  const name = kept.findLast((file) => file.includes(part))!;
  return statSync(join(folder, ".rules-compiler", name)).size;
}) as [number, number];
const lines = 2_273_191;
const cost = rounded(costs["with"]!.wallSeconds / costs["without"]!.wallSeconds);
rmSync(folder, { recursive: true });
report("record", {
  ...costs,
  cost,
  costWithCopy: rounded(costs["withCopy"]!.wallSeconds / costs["without"]!.wallSeconds),
  bytesPerLine: rounded(bytes / lines),
  copyBytesPerLine: rounded(copyBytes / lines),
  whyMilliseconds: rounded(one["why"]!),
  versionMilliseconds: rounded(one["version"]!),
  namesPerSecond: Math.round((NAMES / (many - few)) * 1000),
});
if (cost > COST_LIMIT || (bytes + copyBytes) / lines > BYTES_LIMIT) process.exitCode = 1;
