import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import process from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import type { SignalWatch } from "./host.ts";

/** How long the main thread may take to end by itself, ... */
const PATIENCE_MS = 1500;
/** ... and to be interrupted. Native code, such as parsing a large text, must return first. */
const INTERRUPT_MS = 1000;

/** The internal module of Node that receives signals. Threads can receive them, but have no public API for it. */
interface SignalParts {
  internalBinding(name: "signal_wrap"): {
    readonly Signal: new () => { onsignal?: () => void; start(signal: number): number };
  };
}

const { exits } = workerData as SignalWatch;
let { farewell } = workerData as SignalWatch;
parentPort?.on("message", (text: string) => (farewell = text));
const parts = createRequire(import.meta.url)("internal/test/binding") as SignalParts;
const { Signal } = parts.internalBinding("signal_wrap");
let isEnding = false;

for (const [name, exit] of Object.entries(exits)) {
  const signal = new Signal();
  let heard = 0;
  signal.onsignal = () => {
    // A second signal ends the process at once.
    setTimeout(() => void end(exit), ++heard === 1 ? PATIENCE_MS : 0);
  };
  signal.start(constants.signals[name as NodeJS.Signals]);
}

/** Ends the process while its main thread is busy: by an interruption, which keeps the exit code, or by force. */
async function end(exit: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  setTimeout(() => process.kill(process.pid, "SIGKILL"), INTERRUPT_MS);
  writeSync(2, farewell);
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connectToMainThread();
  // An open inspector session would print a message on standard error.
  const silence = `process.getBuiltinModule("node:fs").closeSync(2)`;
  session.post("Runtime.evaluate", { expression: `${silence}; process.reallyExit(${exit})` });
}
