import { Worker } from "node:worker_threads";
import type { Thread } from "./host.ts";

/** Undefined where this runtime cannot: without workers, or without memory that they share. */
export function startThread(entry: URL, data: object): Thread | undefined {
  let worker: Worker;
  try {
    worker = new Worker(entry, { workerData: data });
  } catch {
    return undefined;
  }
  // One that dies is one less; nobody waits for what it has not begun with.
  worker.on("error", () => {});
  worker.unref();
  return { stop: () => void worker.terminate() };
}
