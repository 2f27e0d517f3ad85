import {
  type Stats,
  chmodSync,
  closeSync,
  constants,
  fdatasync,
  fsync,
  openSync,
  readFileSync,
  readSync,
  readlinkSync,
  fstatSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import * as asyncFiles from "node:fs/promises";
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
import { createRequire } from "node:module";
import { hostname, tmpdir, totalmem, userInfo } from "node:os";
import nodePath from "node:path";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import {
  type FileStamp,
  type Host,
  HostError,
  type NewFile,
  type OpenFile,
  type ProcessId,
  type Scratch,
  type SignalWatch,
  type TextSink,
  toHostError,
} from "./host.ts";
import { cacheDir } from "./node-code-cache.ts";
import { packFile } from "./node-pack-file.ts";

/** Loads a module of Node that few runs need. */
const onDemand = createRequire(import.meta.url);

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
        ? (await import("./node-fetch.ts")).webFetchOnce(request)
        : (await import("./node-fetch.ts")).fetchOnce(request),
    exchange: async (exchange) => (await import("./node-fetch.ts")).exchangeOnce(exchange),
    wait,
    runSelf: async (run) => (await import("./node-run-program.ts")).runSelf(run),
    runProgram: async (run) => await (await import("./node-run-program.ts")).runProgram(run),
    sendSignal,
    watchSignals,
    listen: async (place, answer, onError) =>
      (await import("./node-http-server.ts")).listenHttp(place, answer, onError),
    onHangup: (listener) => void process.on("SIGHUP", listener),
    packFile,
    importModule: async (path) => (await import(pathToFileURL(path).href)) as unknown,
    queryDatabase: async (path, query) =>
      await (await import("./node-run-program.ts")).queryDatabase(path, query),
    cacheDir,
    stdin: {
      bytes: () => process.stdin as AsyncIterable<Uint8Array>,
      lines: stdinLines,
      get isTerminal() {
        return (onDemand("node:tty") as typeof import("node:tty")).isatty(0);
      },
    },
    stdout: sink(1, () => process.stdout),
    stderr: sink(2, () => process.stderr),
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

/** A read that waits for a key would keep the program running. */
function closeStdin(): void {
  process.stdin.destroy();
}

/** Not `node:readline`: it has one promise per line and a tenth of the speed. */
async function* stdinLines(signal?: AbortSignal): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  signal?.addEventListener("abort", closeStdin);
  try {
    for await (const piece of process.stdin as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0) yield lines;
    }
    if (signal?.aborted !== true) yield [rest];
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  } finally {
    signal?.removeEventListener("abort", closeStdin);
  }
}

/** Streams that have an error handler; a program may create many hosts. */
const watched = new WeakSet<NodeJS.WriteStream>();

/** Opens the stream when it is needed: for a pipe, Node loads its whole network code. */
function sink(descriptor: number, streamOf: () => NodeJS.WriteStream): TextSink {
  const opened = (): NodeJS.WriteStream => {
    const stream = streamOf();
    // `send` reports errors itself; a closed reader of messages must not crash the program.
    if (!watched.has(stream)) stream.on("error", () => {});
    watched.add(stream);
    return stream;
  };
  return {
    write(text) {
      try {
        opened().write(text);
      } catch {
        // Deno throws what Node and Bun emit.
      }
    },
    send: (data) =>
      new Promise<void>((resolve, reject) => {
        opened().write(data, (error) => (error ? reject(error) : resolve()));
      }).catch((error: unknown) => {
        throw toHostError(error);
      }),
    get isTerminal() {
      return mayBeTerminal(descriptor) && (opened() as { isTTY?: boolean }).isTTY === true;
    },
    get columns() {
      return (mayBeTerminal(descriptor) && opened().columns) || 80;
    },
  };
}

function mayBeTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    return true;
  }
}

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return { text: `${size} ${mtimeMs} ${ctimeMs} ${ino}`, changed: Math.max(mtimeMs, ctimeMs) };
}

/** Folders, pipes and devices are rejected: reading one could block for ever. */
export async function openFile(path: string): Promise<OpenFile> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) throw new HostError("EISDIR", "is a folder");
    if (!info.isFile()) throw new HostError("EINVAL", "is not a regular file");
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    let position = 0;
    return {
      size: info.size,
      stamp: stampOf(info),
      async read(into, from = position) {
        try {
          const { bytesRead } = await file.read(into, 0, into.length, from);
          position = from + bytesRead;
          return bytesRead;
        } catch (error) {
          throw toHostError(error);
        }
      },
      close: () => file.close(),
    };
  } catch (error) {
    throw toHostError(error);
  }
}

export function createFile(path: string, like?: string, mode = 0o644): NewFile {
  const flags =
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const file = tryFile(() => openSync(path, flags, mode));
  const old = like === undefined ? undefined : statSync(like, { throwIfNoEntry: false });
  if (old !== undefined) tryFile(() => chmodSync(path, old.mode & 0o777));
  return {
    write: (bytes) => tryFile(() => writeAll(file, bytes)),
    rewrite: (position, bytes) => tryFile(() => writeAll(file, bytes, position)),
    // Asynchronous, so that another list can be compiled meanwhile.
    async finish() {
      try {
        await promisify(fsync)(file);
      } catch (error) {
        throw toHostError(error);
      } finally {
        tryFile(() => closeSync(file));
      }
    },
    abandon() {
      try {
        closeSync(file);
      } catch {
        // Ignored: the caller has a more important error to report.
      }
    },
  };
}

export async function appendFile(path: string, bytes: Uint8Array): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND;
  const file = tryFile(() => openSync(path, flags | (constants.O_NOFOLLOW ?? 0), 0o644));
  try {
    writeAll(file, bytes);
    await promisify(fsync)(file);
  } catch (error) {
    throw toHostError(error);
  } finally {
    tryFile(() => closeSync(file));
  }
}

const FLUSH_STEP = 32 * 1024 * 1024;

/** The name is removed at once if the system allows it (not on Windows), so that a killed run leaves nothing. */
export function openScratch(): Scratch {
  const random = Math.random().toString(36).slice(2, 12);
  const path = join(tmpdir(), `rules-compiler-${random}.scratch`);
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
  const file = tryFile(() => openSync(path, flags, 0o600));
  let isNamed = !remove(path);
  let end = 0;
  let flushed = 0;
  let isFlushing = false;
  /** Flushes in the background: unwritten pages count towards the memory limit of a container. */
  function flushAside(): void {
    if (isFlushing || end - flushed < FLUSH_STEP) return;
    isFlushing = true;
    flushed = end;
    fdatasync(file, () => {
      isFlushing = false;
    });
  }
  return {
    append(bytes) {
      tryFile(() => writeAll(file, bytes, end));
      end += bytes.length;
      flushAside();
      return end - bytes.length;
    },
    rewrite: (position, bytes) => tryFile(() => writeAll(file, bytes, position)),
    read(position, into) {
      tryFile(() => {
        let at = 0;
        while (at < into.length) {
          const count = readSync(file, into, at, into.length - at, position + at);
          if (count === 0) throw new HostError("EIO", "the scratch file ends early");
          at += count;
        }
      });
    },
    close() {
      tryFile(() => closeSync(file));
      if (isNamed) isNamed = !remove(path);
    },
  };
}

function remove(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A write may be partial: a full disk is reported only by the next one. */
function writeAll(file: number, bytes: Uint8Array, position?: number): void {
  let at = 0;
  while (at < bytes.length) {
    const from = position === undefined ? null : position + at;
    at += writeSync(file, bytes, at, bytes.length - at, from);
  }
}

function tryFile<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw toHostError(error);
  }
}

/** Files with a container's limit: control groups version 2 and version 1, as seen from inside. */
const LIMIT_FILES = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/** Deno would ask for a permission; a run must not stop for that. */
const DENO_LIMIT = 2 ** 30;

/** The machine's memory, or the container's limit if that is lower. */
export function memoryLimit(): number {
  if (process.versions["deno"] !== undefined) return DENO_LIMIT;
  const limits = [totalmem(), constrainedMemory(), ...LIMIT_FILES.map(readLimit)];
  return Math.min(...limits.filter((limit) => limit > 0));
}

/** Memory that this process may still use. */
export function freeMemory(): number {
  const own = memoryLimit() - process.memoryUsage.rss();
  // Other processes of the control group and files in memory count as well.
  const available = process.availableMemory?.() ?? own;
  return Math.max(0, Math.min(own, available));
}

/** Node knows the limit of its control group. */
function constrainedMemory(): number {
  return process.constrainedMemory?.() ?? 0;
}

/** 0 without a limit: no such file, `max`, or no permission. */
function readLimit(path: string): number {
  try {
    const limit = Number(readFileSync(path, "utf8"));
    return Number.isFinite(limit) ? limit : 0;
  } catch {
    return 0;
  }
}

/** This process. The system reuses pids, so the start time is included if it is known. */
export function processId(): ProcessId {
  return { pid: process.pid, began: beginningOf("self"), machine: machineId() };
}

/** The user of this process. Deno would ask for a permission, so it has only the environment. */
export function userName(): string | undefined {
  const isDeno = process.versions["deno"] !== undefined;
  const name = isDeno ? "" : textOf(() => userInfo().username);
  return name || process.env["USER"] || process.env["LOGNAME"] || undefined;
}

/** Whether a process still runs; undefined for one of another machine or container. */
export function isRunning({ pid, began, machine }: ProcessId): boolean | undefined {
  if (machine !== machineId()) return undefined;
  if (began !== "") return beginningOf(String(pid)) === began;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ESRCH") return false;
    // EPERM means that the process of another user exists; any other error says nothing.
    return code === "EPERM" ? true : undefined;
  }
}

/** Start time in clock ticks since boot: the 22nd field, counted after the name in parentheses, which may contain anything. */
function beginningOf(pid: string): string {
  const fields = textOf(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return fields.slice(fields.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** The scope in which pids are valid: this boot, this host name, this container. */
function machineId(): string {
  const boot = textOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  const space = textOf(() => readlinkSync("/proc/self/ns/pid"));
  // Deno would ask for a permission to read the host name.
  return [textOf(hostname), boot, space].filter((part) => part !== "").join(" ");
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** Linux numbers of file systems in memory. The second one does not report free space. */
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;

/** The folder of scratch files and its free space. */
export async function scratchSpace(): Promise<{ folder: string; free: number }> {
  const folder = tmpdir();
  try {
    // Deno 2.0 lacks this function.
    const { bavail, bsize, type } = await asyncFiles.statfs(folder);
    return { folder, free: freeOf(type >>> 0, bavail * bsize) };
  } catch {
    return { folder, free: Infinity };
  }
}

function freeOf(type: number, free: number): number {
  if (type === RAMFS) return freeMemory();
  return type === TMPFS ? Math.min(free, freeMemory()) : free;
}

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
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const entry = new URL(`./signal-thread.${extension}`, import.meta.url);
    const execArgv = ["--expose-internals", "--no-warnings"];
    const { Worker: Thread } = onDemand(
      "node:worker_threads",
    ) as typeof import("node:worker_threads");
    thread = new Thread(entry, { workerData: watch, execArgv });
    thread.on("error", () => {});
    thread.unref();
  } catch {
    // Without threads, signals are handled when the event loop turns.
  }
}
