import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { type ProgramEnd, type ProgramRun, toHostError } from "./host.ts";

/** How much of the end of its output is kept. */
const MOST_OUTPUT = 4096;
/** A program that ignores the request to end is killed after this time. */
const PATIENCE_MS = 1000;
/** How long to wait for output after its end: a process that it started may keep its output open for ever. */
const DRAIN_MS = 200;

/** Runs a program in a process group of its own, so that everything it started can be ended with it. */
export function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const [program = "", ...words] = run.words;
  return new Promise((resolve, reject) => {
    let child: ChildProcess;
    try {
      child = spawn(program, words, {
        cwd: run.folder,
        env: { ...run.env },
        stdio: ["pipe", "pipe", "pipe"],
        detached: hasGroups,
        windowsHide: true,
      });
    } catch (error) {
      // For example an argument with a NUL character.
      return reject(toHostError(error));
    }
    const running = new RunningProgram(child, run);
    child.on("error", (error) => {
      running.end();
      reject(toHostError(error));
    });
    running.onEnd = resolve;
  });
}

const hasGroups = process.platform !== "win32";

class RunningProgram {
  onEnd: (end: ProgramEnd) => void = () => {};
  private readonly child: ChildProcess;
  private readonly signal: AbortSignal;
  private tail = new Uint8Array(0);
  private bytes = 0;
  private isLate = false;
  private isStopped = false;
  private readonly timers: ReturnType<typeof setTimeout>[] = [];
  private readonly stop = (): void => this.stopGroup();

  constructor(child: ChildProcess, { input, timeoutMs, signal }: ProgramRun) {
    this.child = child;
    this.signal = signal;
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (piece: Uint8Array) => this.keep(piece));
    // A program need not read its input.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    this.after(timeoutMs, () => {
      this.isLate = true;
      this.stopGroup();
    });
    child.on("exit", (code) => {
      // Those that it started may have ignored the request to end.
      if (this.isStopped) this.kill("SIGKILL");
      this.after(DRAIN_MS, () => this.finish(code));
    });
    child.on("close", (code) => this.finish(code));
    signal.addEventListener("abort", this.stop);
    if (signal.aborted) this.stopGroup();
  }

  end(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.signal.removeEventListener("abort", this.stop);
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr])
      stream?.destroy();
  }

  private finish(code: number | null): void {
    const { isLate, bytes } = this;
    this.end();
    this.onEnd({ exit: code ?? undefined, isLate, output: decodeUtf8(this.tail), bytes });
  }

  private after(ms: number, action: () => void): void {
    this.timers.push(setTimeout(action, ms));
  }

  private keep(piece: Uint8Array): void {
    this.bytes += piece.length;
    const joined = new Uint8Array(this.tail.length + Math.min(piece.length, MOST_OUTPUT));
    joined.set(this.tail);
    joined.set(piece.subarray(-MOST_OUTPUT), this.tail.length);
    this.tail = joined.slice(-MOST_OUTPUT);
  }

  private stopGroup(): void {
    this.isStopped = true;
    this.kill("SIGTERM");
    this.after(PATIENCE_MS, () => this.kill("SIGKILL"));
  }

  private kill(signal: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      if (hasGroups) process.kill(-pid, signal);
      else this.child.kill(signal);
    } catch {
      // Nothing of the group runs any more.
    }
  }
}
