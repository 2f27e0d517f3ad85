import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { decodeUtf8 } from "../bytes/utf8.ts";
import { type SelfRun, type SelfRunEnd, toHostError } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";

/** A run that ignores the request to stop is killed after this time. */
const PATIENCE_MS = 3000;

export function runSelf(run: SelfRun): Promise<SelfRunEnd> {
  const { words, signal, maxBytes = Infinity } = run;
  const child = spawn(process.execPath, [...selfWords(), ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (run.isBackground === true) lowerPriority(child.pid);
  let patience: ReturnType<typeof setTimeout> | undefined;
  function stop(): void {
    child.kill("SIGTERM");
    patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
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
