/** The time of `--version`, `--help`, an error and the smallest compile minus the bare runtime; medians of interleaved runs. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { compileCommand, report, rounded, workFolder } from "./inputs.ts";
import { interleavedMilliseconds } from "./measure.ts";

/** Milliseconds above a bare runtime that takes 40 itself: all take longer on a slow machine. */
const LIMITS = { version: 25, error: 60, compile: 90 };
const BARE = 40;
const SLACK = process.argv.includes("--gate") ? 1.5 : 1;
const node = process.execPath;
const program = join(import.meta.dirname, "../dist/cli/bin.js");
const lists = mkdtempSync(join(tmpdir(), "startup-"));
// Other builds of the program would remove the stored code of this one.
process.env["XDG_CACHE_HOME"] = lists;
const list = join(lists, "list.txt");
writeFileSync(list, "||a.example^\n0.0.0.0 b.example\n");
const folder = workFolder({ label: "startup", files: [list] });
const bare = [node, "-e", "0"];
const milliseconds = interleavedMilliseconds(
  {
    bare,
    version: [node, program, "--version"],
    help: [node, program, "--help"],
    error: [node, program, "--no-such-flag"],
    compile: compileCommand(folder),
  },
  15,
);
rmSync(lists, { recursive: true });
rmSync(folder, { recursive: true });
const over = (name: string): number => rounded(milliseconds[name]! - milliseconds["bare"]!);
const overBare = {
  version: over("version"),
  help: over("help"),
  error: over("error"),
  compile: over("compile"),
};
report("startup", { milliseconds, overBare });
for (const [name, limit] of Object.entries(LIMITS)) {
  const most = (limit * milliseconds["bare"]! * SLACK) / BARE;
  if (over(name) <= most) continue;
  process.stderr.write(`${name}: ${over(name)} ms above the runtime, at most ${rounded(most)}\n`);
  process.exitCode = 1;
}
