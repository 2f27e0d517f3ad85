import process from "node:process";
import { Worker } from "node:worker_threads";
import type { SignalWatch } from "./host.ts";

let thread: Worker | undefined;

/**
 * Starts a thread that hears signals too, and ends the process when the main thread does not. Node only, and by parts of it
 * that may change: elsewhere, and should they be gone, signals are heard when the event loop turns, as without it. Called
 * again, it takes the new farewell.
 */
export function watchSignals(watch: SignalWatch): void {
  const { deno, bun } = process.versions as Record<string, string | undefined>;
  if (deno !== undefined || bun !== undefined) return;
  if (thread !== undefined) return thread.postMessage(watch.farewell, []);
  try {
    const entry = new URL(`./signal-thread${import.meta.url.slice(-3)}`, import.meta.url);
    const execArgv = ["--expose-internals", "--no-warnings"];
    thread = new Worker(entry, { workerData: watch, execArgv });
    thread.on("error", () => {});
    thread.unref();
  } catch {
    // Without threads nothing is watched.
  }
}
