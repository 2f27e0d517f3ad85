/** The time of `--version`, `--help` and the smallest compile minus the bare runtime; medians of interleaved runs. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { compileCommand, report, rounded, workFolder } from "./inputs.ts";
import { interleavedMilliseconds } from "./measure.ts";

/** Relative to the bare runtime, because both take longer on a slow machine: 40 ms where the runtime takes 38. */
const LIMIT = 40 / 38;
const SLACK = process.argv.includes("--gate") ? 1.5 : 1;
const node = process.execPath;
const program = join(import.meta.dirname, "../dist/cli/bin.js");
const lists = mkdtempSync(join(tmpdir(), "startup-"));
const list = join(lists, "list.txt");
writeFileSync(list, "||a.example^\n0.0.0.0 b.example\n");
const folder = workFolder({ label: "startup", files: [list] });
const bare = [node, "-e", "0"];
const milliseconds = interleavedMilliseconds(
  {
    bare,
    version: [node, program, "--version"],
    help: [node, program, "--help"],
    compile: compileCommand(folder),
  },
  15,
);
rmSync(lists, { recursive: true });
rmSync(folder, { recursive: true });
const over = (name: string): number => rounded(milliseconds[name]! - milliseconds["bare"]!);
const overBare = { version: over("version"), help: over("help"), compile: over("compile") };
report("startup", { milliseconds, overBare });
if (overBare.version > milliseconds["bare"]! * LIMIT * SLACK) process.exitCode = 1;
