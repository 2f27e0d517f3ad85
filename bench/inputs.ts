import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { corpusConfig, corpusFolder } from "../test/support/corpus.ts";
import { writeSynthetic } from "./synthetic.ts";

export interface Input {
  readonly label: string;
  readonly files: readonly string[];
}

/** The files of a corpus, or a synthetic list of a number of lines, which is written once per machine. */
export function inputOf(name: string, lines = 10_000_000): Input {
  if (name === "synthetic") return { files: [syntheticFile(lines)], label: `synthetic-${lines}` };
  const folder = corpusFolder(name === "power" ? "power" : "typical");
  const inSet =
    name === "power"
      ? readdirSync(folder).toSorted()
      : corpusConfig().sources.map(({ source }) => source);
  return {
    files: inSet.filter((file) => file !== "typical.json").map((file) => join(folder, file)),
    label: name,
  };
}

function syntheticFile(lines: number): string {
  const path = join(tmpdir(), `rules-compiler-synthetic-${lines}.txt`);
  if (!existsSync(path)) writeSynthetic(path, lines);
  return path;
}

/** Three files of the power corpus are allowlists, which fail as sources. */
const ALLOW_LIST = /whitelist|Filters_ex(?:ceptions|clusions)/i;

/** A folder for the files of a benchmark, with a configuration that compiles the input with the usual transformations. */
export function workFolder({ label, files }: Input): string {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({
      name: label,
      sources: files.map((source) => ({
        source,
        name: source,
        type: "adblock",
        ...(ALLOW_LIST.test(source) && { required: false }),
      })),
      transformations: corpusConfig().transformations,
    }),
  );
  return folder;
}

const ROOT = join(import.meta.dirname, "..");

/** The command that compiles a folder's configuration. */
export function compileCommand(folder: string, ...more: string[]): string[] {
  const program = join(ROOT, "dist/cli/bin.js");
  // Runs must not share a cache, unless the benchmark measures it.
  const cache = more.includes("--cache-dir") ? [] : ["--no-cache"];
  // One of the lists blocks a protected name, so a guard would refuse the result.
  const accept = ["--accept", "blocks-protected"];
  const [config, output] = [join(folder, "config.json"), join(folder, "ours.txt")];
  return [
    process.execPath,
    program,
    "-c",
    config,
    "-o",
    output,
    "-q",
    ...cache,
    ...accept,
    ...more,
  ];
}

/** Prints the result and, with `--save`, writes it to bench/results with the commit and the date. */
export function report(name: string, result: object): void {
  const all = { ...result, machine: machine(), measured: measured() };
  const text = `${JSON.stringify(all, undefined, 2)}\n`;
  process.stdout.write(`${name}: ${text}`);
  if (process.argv.includes("--save"))
    writeFileSync(join(ROOT, "bench/results", `${name}.json`), text);
}

function git(...words: string[]): string {
  return execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim();
}

function measured(): { readonly commit: string; readonly date: string } {
  // A figure of code that nobody has cannot be measured again.
  const isOfCommit = git("status", "--porcelain", "src", "kernel") === "";
  return {
    commit: isOfCommit ? git("rev-parse", "--short=10", "HEAD") : "uncommitted",
    date: new Date().toISOString().slice(0, 10),
  };
}

function machine(): object {
  return {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}

export function rounded(value: number, digits = 3): number {
  return Number(value.toPrecision(digits));
}
