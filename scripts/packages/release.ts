import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** What every package of a release is made from. */
export interface Release {
  /** The repository. */
  readonly root: string;
  /** Where the files of the release are written. */
  readonly folder: string;
  readonly version: string;
  /** The executables by target: `linux-x64`, `windows-x64`. */
  readonly executables: ReadonlyMap<string, string>;
}

export const DESCRIPTION =
  "Compiles DNS blocklists: many lists in, one list out, every line accounted for";
export const HOMEPAGE = "https://github.com/rules-compiler/rules-compiler";

/** Files in packages have this time, so that the same sources give the same package. */
export const PACKAGE_TIME = "2020-01-01T00:00:00Z";

/** Runs a program that must succeed, and returns what it printed. */
export function run(program: string, words: readonly string[], cwd?: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    ...(cwd === undefined ? {} : { cwd }),
    encoding: "utf8",
    maxBuffer: 1 << 26,
    // Packers that know SOURCE_DATE_EPOCH write the same bytes on every day.
    env: { ...process.env, TZ: "UTC", SOURCE_DATE_EPOCH: String(Date.parse(PACKAGE_TIME) / 1000) },
  });
  if (status !== 0) throw new Error(`${program} ${words[0]}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Calls `work` with an empty folder, and removes the folder afterwards. */
export function inFolder(work: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "package-"));
  try {
    work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packs all files of `folder` into a new zip file, in the order of their names. */
export function zip(folder: string, file: string): void {
  run("find", [folder, "-exec", "touch", "-h", "-d", PACKAGE_TIME, "{}", "+"]);
  const names = run("find", [".", "-type", "f", "-printf", "%P\\n"], folder).trim().split("\n");
  run("zip", ["-X", "-q", file, ...names.toSorted()], folder);
}

/** The name of the program inside packages. */
export function programName(target: string): string {
  return target.startsWith("windows") ? "rules-compiler.exe" : "rules-compiler";
}
