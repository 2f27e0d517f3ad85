/**
 * Building again, with `--cache-dir`: the typical corpus (20 sources) as it was, and with one source that has one more
 * line. Medians of interleaved runs, as a share of a build from nothing.
 */
import { appendFileSync, cpSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { interleaved, measure } from "./measure.ts";

const NOTHING_CHANGED = 0.05;
const SLACK = process.argv.includes("--gate") ? 1.5 : 1;

const lists = mkdtempSync(join(tmpdir(), "lists-"));
const { files } = inputOf("typical");
// Files that were changed a moment ago are never taken for unchanged.
const past = new Date(Date.now() - 3_600_000);
const copies = files.map((file) => {
  const copy = join(lists, basename(file));
  cpSync(file, copy);
  utimesSync(copy, past, past);
  return copy;
});
const folder = workFolder({ label: "rebuild", files: copies });
const cache = join(folder, "cache");
const cached = compileCommand(folder, "--cache-dir", cache);
measure(cached);
let changes = 0;
const costs = interleaved(
  {
    cold: () => {
      rmSync(cache, { recursive: true, force: true });
      return measure(cached);
    },
    unchanged: () => measure(cached),
    "one source changed": () => {
      appendFileSync(copies[7]!, `||added-${++changes}.example^\n`);
      const time = new Date(past.getTime() + changes * 1000);
      utimesSync(copies[7]!, time, time);
      return measure(cached);
    },
  },
  7,
);
rmSync(lists, { recursive: true });
rmSync(folder, { recursive: true });
const share = (name: string): number =>
  rounded(costs[name]!.wallSeconds / costs["cold"]!.wallSeconds);
const shares = { unchanged: share("unchanged"), oneSourceChanged: share("one source changed") };
report("rebuild", { costs, shares });
if (shares.unchanged > NOTHING_CHANGED * SLACK) process.exitCode = 1;
