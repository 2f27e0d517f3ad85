/**
 * A hundred lists from two hundred sources in one run, compared with the largest of them alone, interleaved; checks that every list
 * is byte for byte what it is when compiled alone. The sources are the typical corpus in 200 parts; one list has all of them,
 * nine are tiers, ninety have one to five. The goal is three times.
 */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig } from "../test/support/corpus.ts";
import { inputOf, report, rounded } from "./inputs.ts";
import { interleaved, measure } from "./measure.ts";

const AIM = 3;
/** On a busy machine, runs differ by a sixth. */
const LIMIT = 3.5;
const SOURCES = 200;
const TIERS = [200, 90, 70, 50, 40, 30, 20, 15, 10, 10];
const LISTS = 100;

const folder = mkdtempSync(join(tmpdir(), "bench-lists-"));
const lines = inputOf("typical").files.flatMap((file) => readFileSync(file, "latin1").split("\n"));
const sources = Array.from({ length: SOURCES }, (_, index) => {
  const source = `source-${index}.txt`;
  const from = Math.floor((lines.length * index) / SOURCES);
  const to = Math.floor((lines.length * (index + 1)) / SOURCES);
  writeFileSync(join(folder, source), `${lines.slice(from, to).join("\n")}\n`, "latin1");
  return { name: `s${index}`, source, type: "adblock" };
});
const lists = Array.from({ length: LISTS }, (_, index) => {
  const count = TIERS[index] ?? (index % 5) + 1;
  const chosen = Array.from(
    { length: count },
    (_none, place) => `s${(index * 37 + place) % SOURCES}`,
  );
  return { name: `list ${index}`, sources: chosen };
});
const config = {
  name: "lists",
  sources,
  transformations: corpusConfig().transformations,
  lists,
};
writeFileSync(join(folder, "config.json"), JSON.stringify(config));
const command = (...words: string[]): string[] => [
  process.execPath,
  join(import.meta.dirname, "../dist/cli/bin.js"),
  "-c",
  join(folder, "config.json"),
  "-q",
  "--no-cache",
  "--accept",
  "blocks-protected",
  "--accept",
  "too-few-rules",
  ...words,
];
const inRules = (name: string): { env: Record<string, string> } => ({
  env: { RULES_DIR: join(folder, name), SOURCE_DATE_EPOCH: "1763200000" },
});
for (const name of ["all", "largest", "alone"]) mkdirSync(join(folder, name));
const costs = interleaved(
  {
    all: () => measure(command(), inRules("all")),
    largest: () => measure(command("--filter", "list 0"), inRules("largest")),
  },
  process.argv.includes("--gate") ? 3 : 5,
);
// Compile every third list alone, and all large ones.
const compared = lists.filter((_, index) => index < TIERS.length || index % 3 === 0);
if (process.env["KEEP"] === undefined)
  for (const { name } of compared) measure(command("--filter", name), inRules("alone"));
const differing = readdirSync(join(folder, "alone")).filter(
  (file) =>
    file.endsWith(".txt") &&
    !readFileSync(join(folder, "alone", file)).equals(readFileSync(join(folder, "all", file))),
);
rmSync(folder, { recursive: true });
const ratio = costs["all"]!.wallSeconds / costs["largest"]!.wallSeconds;
const uses = lists.reduce((sum, list) => sum + list.sources.length, 0);
report("several-lists", {
  ...costs,
  ratio: rounded(ratio),
  /** The lines of all lists relative to those of the largest. */
  usesOverLargest: rounded(uses / SOURCES),
  aim: AIM,
  compared: compared.length,
  differing,
});
if (ratio > LIMIT || differing.length > 0) process.exitCode = 1;
