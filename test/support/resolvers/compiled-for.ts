import type { FormatOutputReport } from "../../../src/documents/facts.ts";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { listIn } from "../documents.ts";

const BIN = join(import.meta.dirname, "../../../dist/cli/bin.js");

export interface CompiledFor {
  /** The list itself. */
  readonly text: string;
  readonly artifact: FormatOutputReport;
  readonly list: string;
  readonly allow: string;
}

/** Compiles lines into a list and into a format, with the program itself. */
export function compileFor(
  format: string,
  lines: readonly string[],
  folder: string,
  more: object = {},
): CompiledFor {
  writeFileSync(join(folder, "own.txt"), `${lines.join("\n")}\n`);
  const config = {
    name: "List",
    sources: [{ name: "Own", source: "own.txt", type: "adblock" }],
    transformations: ["Compress", "Deduplicate", "InsertFinalNewLine"],
    outputs: [{ format, file: "artifact", ...more }],
  };
  writeFileSync(join(folder, "c.json"), JSON.stringify(config));
  const words = ["compile", "-c", "c.json", "--no-cache", "--json"];
  const accept = ["source-shrunk", "source-grown", "source-replaced", "blocks-protected"];
  const report = execFileSync(
    process.execPath,
    [BIN, ...words, ...accept.flatMap((guard) => ["--accept", guard])],
    { cwd: folder, env: { ...process.env, RULES_DIR: folder }, encoding: "utf8", maxBuffer: 1e9 },
  );
  const { outputs } = listIn(report) as { outputs: FormatOutputReport[] };
  const artifact = outputs.find((one) => one.format === format)!;
  return {
    text: readFileSync(join(folder, "list.txt"), "utf8"),
    artifact,
    list: join(folder, "artifact"),
    allow: join(folder, "artifact.allow"),
  };
}
