/**
 * Rebuilds with `--cache-dir`: the typical corpus (20 sources) and the power corpus, unchanged and with one more line in one
 * source. Medians of interleaved runs, as a share of a full build. With `--gate` only the typical corpus. Fails if a
 * rebuild without changes takes more than 5 % of a full build. The typical corpus takes a second, of which the bare runtime
 * alone is 4 %, so its limit is half as much again.
 */
import { appendFileSync, cpSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, interleaved, measure } from "./measure.ts";

const NOTHING_CHANGED = { typical: 0.075, power: 0.05 };
const isGate = process.argv.includes("--gate");

const corpora: ("typical" | "power")[] = isGate ? ["typical"] : ["typical", "power"];
const results = Object.fromEntries(corpora.map((name) => [name, rebuild(name)]));
report("rebuild", results);
for (const name of corpora)
  if (results[name]!.shares.unchanged > NOTHING_CHANGED[name]) process.exitCode = 1;

function rebuild(name: "typical" | "power"): {
  costs: Record<string, Cost>;
  shares: { unchanged: number; oneSourceChanged: number };
} {
  const lists = mkdtempSync(join(tmpdir(), "lists-"));
  const past = new Date(Date.now() - 3_600_000);
  const copies = inputOf(name).files.map((file) => {
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
        letFilesAge();
        return measure(cached);
      },
      unchanged: () => measure(cached),
      oneSourceChanged: () => {
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
  const share = (what: string): number =>
    rounded(costs[what]!.wallSeconds / costs["cold"]!.wallSeconds);
  return {
    costs,
    shares: { unchanged: share("unchanged"), oneSourceChanged: share("oneSourceChanged") },
  };
}

/** A build that reads a file within two seconds of its last change is not cached. */
function letFilesAge(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
}
