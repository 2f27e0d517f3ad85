/**
 * What compares builds, relative to the build itself: `plan`, a build with a proof by a resolver, `prove`, `diff`, `log`, and five tiers
 * of sixty sources with `covers`, each beside the same build without it. Interleaved runs, in CPU time. The goal is 1.3 times.
 *
 *   node bench/comparisons.ts [LINES, default 10500000] [--gate] [--save]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ComparedLists } from "../test/support/compared-lists.ts";
import { report, rounded } from "./inputs.ts";
import { interleaved, measure } from "./measure.ts";

const AIM = 1.3;
/** What would be lost without notice: on a busy machine, runs differ by a fifth. */
const LIMITS = { plan: 1.9, proof: 1.9, covers: 1.6 };

const isGate = process.argv.includes("--gate");
const given = process.argv.slice(2).find((word) => /^\d+$/.test(word));
const lines = Number(given ?? (isGate ? 2_100_000 : 10_500_000));
const folder = mkdtempSync(join(tmpdir(), "bench-comparisons-"));
const lists = await ComparedLists.start(folder, lines);
lists.writeTiers();
measure(lists.command("compile", "-q"));
let round = 0;
const changed = (command: readonly string[]): ReturnType<typeof measure> => {
  lists.change(++round);
  return measure(command);
};
const costs = interleaved(
  {
    build: () => changed(lists.command("compile", "-q")),
    proof: () => changed(lists.command("compile", "-q", "--permit", "hooks")),
    plan: () => changed(lists.command("plan", "-q")),
    prove: () => measure(lists.command("prove", "-q")),
    diff: () => measure(lists.command("diff", "@1", "@0")),
    log: () => measure(lists.command("log", "--markdown")),
    tiers: () => measure(lists.tiers("tiers")),
    covers: () => measure(lists.tiers("covers")),
  },
  isGate ? 3 : 5,
);
lists.stop();
rmSync(folder, { recursive: true });
const over = (one: string, other: string): number =>
  rounded(costs[one]!.cpuSeconds / costs[other]!.cpuSeconds);
const ratios = {
  plan: over("plan", "build"),
  proof: over("proof", "build"),
  prove: over("prove", "build"),
  diff: over("diff", "build"),
  log: over("log", "build"),
  covers: over("covers", "tiers"),
};
report("comparisons", { lines, ...costs, ratios, aim: AIM, limits: LIMITS });
if (Object.entries(ratios).some(([name, ratio]) => ratio > LIMITS[name as keyof typeof LIMITS]))
  process.exitCode = 1;
