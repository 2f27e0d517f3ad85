import { type ChildProcess, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { decodeUtf8 } from "../bytes/text.ts";
import {
  HostError,
  type ProgramEnd,
  type ProgramRun,
  type SelfRun,
  type SelfRunEnd,
  joinBytes,
  toHostError,
} from "./host.ts";

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

/** A run that ignores the request to stop is killed after this time. */
const CHILD_PATIENCE_MS = 3000;

export function runSelf(run: SelfRun): Promise<SelfRunEnd> {
  const { words, signal, maxBytes = Infinity } = run;
  const child = spawn(process.execPath, [...selfWords(), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (run.isBackground === true) lowerPriority(child.pid);
  let patience: ReturnType<typeof setTimeout> | undefined;
  function stop(): void {
    child.kill("SIGTERM");
    patience = setTimeout(() => child.kill("SIGKILL"), CHILD_PATIENCE_MS);
  }
  function end(): void {
    clearTimeout(patience);
    signal.removeEventListener("abort", stop);
  }
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const pieces: Uint8Array[] = [];
  let length = 0;
  child.stdout.on("data", (piece: Uint8Array) => {
    if (length + piece.length > maxBytes) return void child.kill("SIGKILL");
    pieces.push(piece);
    length += piece.length;
  });
  createInterface({ input: child.stderr }).on("line", (line) => run.onLine(line));
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      end();
      reject(toHostError(error));
    });
    child.on("close", (code) => {
      end();
      resolve({ exit: code ?? undefined, stdout: decodeUtf8(joinBytes(pieces, length)) });
    });
  });
}

function lowerPriority(pid: number | undefined): void {
  // Deno would ask for a permission.
  if (pid === undefined || process.versions["deno"] !== undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended.
  }
}

/** What precedes the program's arguments on its command line. A child starts as its parent did, and may do what its parent may. */
function selfWords(): string[] {
  const script = process.argv[1] ?? "";
  // A single executable is its own script.
  if (/^(?:\/\$bunfs|B:[\\/]~BUN)[\\/]/.test(script)) return [];
  // Deno finds its configuration by the path of the script, and inherits its settings from the environment.
  const { Deno: deno } = globalThis as { readonly Deno?: DenoPermissions };
  if (deno !== undefined) return ["run", ...grantedBy(deno), script];
  return [...process.execArgv, script];
}

interface DenoPermissions {
  readonly permissions: {
    querySync(descriptor: { readonly name: string }): { readonly state: string };
  };
}

function grantedBy({ permissions }: DenoPermissions): string[] {
  const names = ["read", "write", "net", "run", "env", "sys", "ffi"];
  const granted = names.filter((name) => permissions.querySync({ name }).state === "granted");
  // More than the sum: without it, Deno refuses files such as those in /proc.
  if (granted.length === names.length) return ["--allow-all"];
  return granted.map((name) => `--allow-${name}`);
}

/** Rows of a query. The module is loaded on use: not every runtime has it, and Node 22 warns that it is experimental. */
export async function queryDatabase(
  path: string,
  query: string,
): Promise<readonly Record<string, unknown>[]> {
  const { DatabaseSync } = await loadQuietly();
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return database.prepare(query).all();
    } finally {
      database.close();
    }
  } catch (error) {
    throw toHostError(error);
  }
}

/** Suppresses the warning of some versions that the module is experimental. */
async function loadQuietly(): Promise<typeof import("node:sqlite")> {
  const own = Object.getOwnPropertyDescriptor(process, "emitWarning")!;
  Object.defineProperty(process, "emitWarning", { ...own, value: () => {} });
  try {
    return await import("node:sqlite");
  } catch {
    throw new HostError(
      "ENOTSUP",
      "this runtime cannot read SQLite; use Node, or export the lists",
    );
  } finally {
    Object.defineProperty(process, "emitWarning", own);
  }
}
