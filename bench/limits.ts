/**
 * Little memory: the typical corpus under `--memory 128M`, a synthetic list under `--memory 256M` in a control group of
 * 400 MB compared with `sort -u` without a limit, and ten million lines both ways, which must give the same bytes.
 *
 *   node bench/limits.ts [LINES, default 100000000] [--save]
 *
 * The control group needs root and version 1 of the memory controller. Without it the run is not limited, and the result
 * says so.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { compileCommand, inputOf, report, rounded, workFolder } from "./inputs.ts";
import { type Cost, measure } from "./measure.ts";

const GROUPS = "/sys/fs/cgroup/memory";
const GROUP = join(GROUPS, "rules-compiler-bench");
const GROUP_BYTES = 400 * 1024 * 1024;

const lines = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 100_000_000);
const hasGroup = existsSync(join(GROUPS, "memory.limit_in_bytes")) && process.getuid?.() === 0;
if (hasGroup) {
  if (!existsSync(GROUP)) mkdirSync(GROUP);
  writeFileSync(join(GROUP, "memory.limit_in_bytes"), String(GROUP_BYTES));
}

const typical = workFolder(inputOf("typical"));
const board = measure(compileCommand(typical, "--memory", "128M"));
const free = measure(compileCommand(typical));
rmSync(typical, { recursive: true });

const ten = workFolder(inputOf("synthetic", 10_000_000));
const tenFree = measure(compileCommand(ten));
const expected = await digest(join(ten, "ours.txt"));
const tenLimited = inGroup(compileCommand(ten, "--memory", "256M"));
const isSame = (await digest(join(ten, "ours.txt"))) === expected;
rmSync(ten, { recursive: true });

const input = inputOf("synthetic", lines);
const large = workFolder(input);
const limited = inGroup(compileCommand(large, "--memory", "256M"));
rmSync(join(large, "ours.txt"));
const sorted = measure(["sort", "-u", "-o", join(large, "sorted.txt"), ...input.files], {
  env: { LC_ALL: "C" },
});
rmSync(large, { recursive: true });
if (hasGroup) rmdirSync(GROUP);

const perLine = (cost: Cost, count: number): number => rounded((cost.wallSeconds * 1e9) / count, 4);
report("limits", {
  controlGroupBytes: hasGroup ? GROUP_BYTES : "none",
  typical: { "--memory 128M": board, free },
  tenMillion: { "--memory 256M": tenLimited, free: tenFree, isSame },
  large: {
    lines,
    "--memory 256M": limited,
    "sort -u": sorted,
    oursOverSort: rounded(limited.wallSeconds / sorted.wallSeconds),
    nanosecondsPerLine: perLine(limited, lines),
    overTypicalPerLine: rounded(perLine(limited, lines) / perLine(free, 2_273_189)),
  },
});
if (!isSame || limited.wallSeconds > sorted.wallSeconds) process.exitCode = 1;

function inGroup(command: readonly string[]): Cost {
  if (!hasGroup) return measure(command);
  const enter = `echo $$ > ${join(GROUP, "tasks")}; exec "$@"`;
  return measure(["bash", "-c", enter, "_", ...command]);
}

/** The digest of the text below the date. */
async function digest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { start: 200 })) hash.update(piece as Buffer);
  return hash.digest("hex");
}
