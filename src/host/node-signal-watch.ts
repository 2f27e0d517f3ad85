import process from "node:process";
import { Worker } from "node:worker_threads";
import type { SignalWatch } from "./host.ts";

let thread: Worker | undefined;

/**
 * Starts a thread that also receives signals, and ends the process if the main thread does not. Node only, with internal
 * modules that may change: without them, signals are handled when the event loop turns. A further call replaces the
 * message.
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
    // Without threads, signals are handled when the event loop turns.
  }
}
