/**
 * The cost and speed of the build record: its share of the time of a run; the typical corpus compiled with and without it,
 * interleaved; `why` for one name, start-up included; `why -` for many. Fails above 15 % of the rest of a run or 12 bytes
 * per line.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { interleaved, interleavedMilliseconds, measure, median } from "./measure.ts";

const SHARE_LIMIT = 0.15;
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
const share = median(Array.from({ length: 9 }, () => recordShare(folder)));
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
rmSync(folder, { recursive: true });
report("record", {
  ...costs,
  share: rounded(share),
  cost: rounded(costs["with"]!.wallSeconds / costs["without"]!.wallSeconds),
  costWithCopy: rounded(costs["withCopy"]!.wallSeconds / costs["without"]!.wallSeconds),
  bytesPerLine: rounded(bytes / lines),
  copyBytesPerLine: rounded(copyBytes / lines),
  whyMilliseconds: rounded(one["why"]!),
  versionMilliseconds: rounded(one["version"]!),
  namesPerSecond: Math.round((NAMES / (many - few)) * 1000),
});
if (share > SHARE_LIMIT || (bytes + copyBytes) / lines > BYTES_LIMIT) process.exitCode = 1;

/** The time of the record relative to the rest of the run. */
function recordShare(work: string): number {
  const file = join(work, "stopwatch.json");
  const [program, ...words] = compileCommand(work);
  measure([program!, "--import", join(import.meta.dirname, "record-stopwatch.ts"), ...words], {
    env: { STOPWATCH_FILE: file },
  });
  const { recordMilliseconds, milliseconds } = JSON.parse(readFileSync(file, "utf8")) as {
    recordMilliseconds: number;
    milliseconds: number;
  };
  return recordMilliseconds / (milliseconds - recordMilliseconds);
}
