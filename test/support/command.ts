import { type SpawnOptions, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

export const PROGRAM: string = join(import.meta.dirname, "../../dist/cli/bin.js");

export interface Ended {
  /** Exit code, or the name of the signal that ended it. */
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program to its end; `runtime` is the command line of another runtime than this one. */
export function runProgram(
  args: readonly string[],
  options: SpawnOptions = {},
  runtime: string = process.execPath,
): Promise<Ended> {
  const [command = "", ...words] = runtime.split(" ");
  const child = spawn(command, [...words, PROGRAM, ...args], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Uint8Array) => (stdout += String(data)));
  child.stderr.on("data", (data: Uint8Array) => (stderr += String(data)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ exit: signal ?? code ?? -1, stdout, stderr }));
  });
}

/** Does something with every item, a few at a time. */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let next = left.next(); next.done !== true; next = left.next()) await work(next.value);
    }),
  );
}
