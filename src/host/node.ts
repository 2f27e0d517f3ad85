import { type Stats, constants } from "node:fs";
import {
  link,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  utimes,
} from "node:fs/promises";
import nodePath from "node:path";
import process from "node:process";
import { isatty } from "node:tty";
import { pathToFileURL } from "node:url";
import { type Host, HostError, type TextSink, toHostError } from "./host.ts";
import { appendFile, createFile, openFile, openScratch, stampOf } from "./node-files.ts";
import { cacheDir } from "./node-cache-folder.ts";
import { memoryLimit } from "./node-memory.ts";
import { packFile } from "./node-pack-file.ts";
import { isRunning, processId, userName } from "./node-process-id.ts";
import { scratchSpace } from "./node-scratch-space.ts";
import { watchSignals } from "./node-signal-watch.ts";

/** The real system, through the modules of Node, which Deno and Bun provide too. */
export function nodeHost(): Host {
  return {
    cwd: process.cwd(),
    path: nodePath,
    env: process.env,
    now: () => new Date(),
    readFile: (path) => attempt(() => readRegularFile(path)),
    // Not `access`: Deno would ask for a permission to know the user.
    exists: (path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    ...(process.platform !== "win32" && {
      modeOf: (path: string) =>
        stat(path).then(
          ({ mode }) => mode & 0o777,
          () => undefined,
        ),
    }),
    stampOf: (path) => stat(path).then(stampOf, () => undefined),
    realPath: (path) => attempt(() => realpath(path)),
    makeFolder: (path) => attempt(() => makeFolder(path)),
    openFile,
    createFile,
    appendFile,
    openScratch,
    scratchSpace,
    sizeOf: (path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    memoryLimit,
    processId,
    userName,
    isRunning,
    listFolder: (path) => attempt(() => readdir(path)).catch(() => []),
    kindOf: (path) => lstat(path).then(kindOf, () => undefined),
    readLink: (path) => readlink(path).catch(() => undefined),
    link: (from, to) => attempt(() => link(from, to)),
    touch: (path) => attempt(() => utimes(path, new Date(), new Date())),
    rename: (from, to) => attempt(() => rename(from, to)),
    removeFile: (path) => attempt(() => rm(path, { force: true })),
    syncFolder: (path) => attempt(() => syncFolder(path)),
    // Loaded on first use: node:http takes 25 ms and 15 MB, which a build of local files saves.
    fetch: async (request) =>
      isOldDeno()
        ? (await import("./web-fetch-once.ts")).webFetchOnce(request)
        : (await import("./node-fetch-once.ts")).fetchOnce(request),
    exchange: async (exchange) => (await import("./node-exchange.ts")).exchangeOnce(exchange),
    wait,
    runSelf: async (run) => (await import("./node-self-run.ts")).runSelf(run),
    runProgram: async (run) => await (await import("./node-run-program.ts")).runProgram(run),
    sendSignal,
    watchSignals,
    listen: async (place, answer) =>
      (await import("./node-http-server.ts")).listenHttp(place, answer),
    onHangup: (listener) => void process.on("SIGHUP", listener),
    packFile,
    importModule: async (path) => (await import(pathToFileURL(path).href)) as unknown,
    queryDatabase: async (path, query) =>
      await (await import("./node-sqlite.ts")).queryDatabase(path, query),
    cacheDir,
    stdin: {
      bytes: () => process.stdin as AsyncIterable<Uint8Array>,
      lines: stdinLines,
      isTerminal: isatty(0),
    },
    stdout: sink(process.stdout),
    stderr: sink(process.stderr),
  };
}

function kindOf(info: Stats): "file" | "folder" | "link" | "other" {
  if (info.isFile()) return "file";
  if (info.isDirectory()) return "folder";
  return info.isSymbolicLink() ? "link" : "other";
}

function sendSignal(pid: number, signal: string): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    throw toHostError(error);
  }
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}

function isOldDeno(): boolean {
  const version = process.versions["deno"];
  if (version === undefined) return false;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major === 2 && minor < 9;
}

async function attempt<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toHostError(error);
  }
}

/** Not `mkdir(…, { recursive: true })`: below /proc it never returns (Node 24). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = toHostError(error);
    if (code === "EEXIST" || code === "EISDIR" || nodePath.dirname(path) === path) return;
    if (code !== "ENOENT") throw error;
    await makeFolder(nodePath.dirname(path));
    await mkdir(path).catch((again: unknown) => {
      // Another process may have created it meanwhile.
      if (toHostError(again).code !== "EEXIST") throw again;
    });
  }
}

/** Folders, pipes and devices are rejected: reading one could block for ever. */
async function readRegularFile(path: string): Promise<Uint8Array> {
  const info = await stat(path);
  if (info.isDirectory()) throw new HostError("EISDIR", "is a folder");
  if (!info.isFile()) throw new HostError("EINVAL", "is not a regular file");
  return await readFile(path);
}

/** Windows cannot flush a folder. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, constants.O_RDONLY);
  try {
    if (typeof folder.sync === "function") await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Not `node:readline`: it has one promise per line and a tenth of the speed. */
async function* stdinLines(): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of process.stdin as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) yield lines;
  }
  yield [rest];
}

/** Streams that have an error handler; a program may create many hosts. */
const watched = new WeakSet<NodeJS.WriteStream>();

function sink(stream: NodeJS.WriteStream): TextSink {
  // `send` reports errors itself; a closed reader of messages must not crash the program.
  if (!watched.has(stream)) stream.on("error", () => {});
  watched.add(stream);
  return {
    write(text) {
      try {
        stream.write(text);
      } catch {
        // Deno throws what Node and Bun emit.
      }
    },
    send: (data) =>
      new Promise<void>((resolve, reject) => {
        stream.write(data, (error) => (error ? reject(error) : resolve()));
      }).catch((error: unknown) => {
        throw toHostError(error);
      }),
    isTerminal: (stream as { isTTY?: boolean }).isTTY === true,
    columns: stream.columns || 80,
  };
}
