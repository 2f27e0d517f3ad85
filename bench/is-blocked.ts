/**
 * How many names `isBlocked` of a list in memory answers in a second of processor time, for the typical corpus: a million names, of
 * which every fifth is one of the lists. Also what `compile` and the first question take, which indexes the list. The goal is a
 * million.
 *
 *   node bench/is-blocked.ts [--save]
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { compile } from "../src/index.ts";
import { Random } from "../test/support/random.ts";
import { inputOf, report, rounded } from "./inputs.ts";
import { median } from "./measure.ts";

const NAMES = 1_000_000;
const RUNS = 5;

const { files } = inputOf("typical");
const random = new Random(1);
const listed = files
  .flatMap((file) => readFileSync(file, "latin1").split("\n"))
  .map((line) => /^(?:0\.0\.0\.0 |\|\|)([a-z0-9-]+(?:\.[a-z0-9-]+)+)\^?$/.exec(line)?.[1])
  .filter((name) => name !== undefined);
const names = Array.from({ length: NAMES }, (_, index) =>
  index % 5 === 0
    ? `${random.chance(0.3) ? "www." : ""}${random.pick(listed)}`
    : `${random.pick(["www", "cdn", "api", "m"])}.site-${index.toString(36)}.${random.pick(["com", "net", "de"])}`,
);

/** Processor time, because others may use the machine. */
function seconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

const began = process.cpuUsage();
const list = await compile({
  name: "Typical",
  sources: files.map((source) => ({ source })),
  transformations: ["Compress"],
});
const compiled = seconds(began);
const first = process.cpuUsage();
list.isBlocked("example.org");
const indexed = seconds(first);
let blocked = 0;
const rates = Array.from({ length: RUNS }, () => {
  const start = process.cpuUsage();
  blocked = 0;
  for (const name of names) if (list.isBlocked(name)) blocked++;
  return NAMES / seconds(start);
});
const rate = Math.round(median(rates));
const { rules } = list.report;
const result = { rules, compiled: rounded(compiled), indexed: rounded(indexed), blocked, rate };
report("is-blocked", result);
