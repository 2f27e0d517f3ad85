import { Worker } from "node:worker_threads";
import type { Thread } from "./host.ts";

/** Undefined if the runtime has no workers or no shared memory. */
export function startThread(entry: URL, data: object): Thread | undefined {
  let worker: Worker;
  try {
    worker = new Worker(entry, { workerData: data });
  } catch {
    return undefined;
  }
  // A thread that fails is not replaced: the others take over its jobs.
  worker.on("error", () => {});
  worker.unref();
  return { stop: () => void worker.terminate() };
}
