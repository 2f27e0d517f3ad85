import { posix, win32 } from "node:path";
import { decodeUtf8, encodeUtf8 } from "../../../src/bytes/text.ts";
import {
  type FetchRequest,
  type FetchResponse,
  type Host,
  HostError,
  type TextSink,
  joinBytes,
} from "../../../src/host/host.ts";
import {
  newFileInMemory,
  openBytes,
  scratchInMemory,
  stampOfBytes,
} from "../../../src/host/memory-files.ts";
import { MemoryFiles } from "./memory-files.ts";

export interface WebAnswer extends FetchResponse {
  readonly body: Uint8Array;
}

export interface MemoryHostOptions {
  /** Path → content. Relative paths are below `cwd`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Address → answer; a string is a 200 with that body. */
  readonly web?: Readonly<Record<string, string | WebAnswer>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: Date;
  readonly isTerminal?: boolean;
  readonly memoryLimit?: number;
  /** The system whose files are simulated: POSIX by default. */
  readonly system?: "posix" | "windows" | undefined;
}

export interface MemoryHost extends Host {
  /** The current files, by absolute path. */
  readonly files: Map<string, Uint8Array>;
  readonly output: { stdout: string; stderr: string };
}

/** A host in memory: for tests, and for using the library without a disk. */
export function memoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const isWindows = options.system === "windows";
  const paths = isWindows ? win32 : posix;
  const cwd = isWindows ? "C:\\project" : "/project";
  const files = new MemoryFiles(cwd, paths);
  for (const [name, content] of Object.entries(options.files ?? {}))
    files.set(name, typeof content === "string" ? encodeUtf8(content) : content);
  const output = { stdout: "", stderr: "" };

  function read(name: string): Uint8Array {
    const bytes = files.get(name);
    if (bytes !== undefined) return bytes;
    throw files.namesBelow(name).length > 0
      ? new HostError("EISDIR", "is a folder")
      : new HostError("ENOENT", "no such file or folder");
  }

  function memorySink(name: "stdout" | "stderr"): TextSink {
    return {
      write: (text) => void (output[name] += text),
      send: async (data) =>
        void (output[name] += typeof data === "string" ? data : decodeUtf8(data)),
      isTerminal: options.isTerminal ?? false,
      columns: 80,
    };
  }

  return {
    cwd,
    path: paths,
    env: options.env ?? {},
    files,
    output,
    now: () => options.now ?? new Date(0),
    readFile: async (path) => read(path),
    exists: async (path) => files.has(path),
    realPath: async (name) => {
      read(name);
      return files.spellingOf(name);
    },
    makeFolder: async () => {},
    openFile: async (name) => files.open(name, openBytes(read(name))),
    stampOf: async (path) => {
      const bytes = files.get(path);
      return bytes === undefined ? undefined : stampOfBytes(bytes);
    },
    createFile(name) {
      if (files.has(name)) throw new HostError("EEXIST", "the file exists");
      return newFileInMemory((bytes) => files.set(name, bytes));
    },
    appendFile: async (name, bytes) => {
      const old = files.get(name) ?? new Uint8Array(0);
      files.set(name, joinBytes([old, bytes], old.length + bytes.length));
    },
    openScratch: scratchInMemory,
    scratchSpace: async () => ({ folder: paths.resolve(cwd, "/tmp"), free: Infinity }),
    sizeOf: async (path) => files.get(path)?.length ?? 0,
    memoryLimit: () => options.memoryLimit ?? 2 ** 31,
    userName: () => "user",
    processId: () => ({ pid: 1, began: "", machine: "memory" }),
    isRunning: () => false,
    listFolder: async (name) => files.namesBelow(name),
    kindOf: async (path) => {
      if (files.has(path)) return "file";
      return files.namesBelow(path).length > 0 ? "folder" : undefined;
    },
    link: async (from, to) => {
      if (files.has(to)) throw new HostError("EEXIST", "file exists");
      files.set(to, read(from));
    },
    touch: async () => {},
    rename: async (from, to) => {
      files.refuseOpen(to);
      files.set(to, read(from));
      files.delete(from);
    },
    removeFile: async (name) => {
      files.refuseOpen(name);
      files.delete(name);
    },
    syncFolder: async () => {},
    fetch: async (request: FetchRequest): Promise<FetchResponse> => {
      const answer = options.web?.[request.url];
      if (answer === undefined) throw new HostError("ECONNREFUSED", "connection refused");
      if (typeof answer === "string") {
        request.take(encodeUtf8(answer));
        return { status: 200, headers: {} };
      }
      const { body, ...response } = answer;
      if (answer.status === 200) request.take(body);
      return response;
    },
    wait: async () => {},
    cacheDir: () => undefined,
    stdout: memorySink("stdout"),
    stderr: memorySink("stderr"),
  };
}
