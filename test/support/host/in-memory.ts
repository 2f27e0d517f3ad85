import { posix, win32 } from "node:path";
import { decodeUtf8, encodeUtf8 } from "../../../src/bytes/utf8.ts";
import {
  type FetchRequest,
  type FetchResponse,
  type FileStamp,
  type Host,
  HostError,
  type NewFile,
  type OpenFile,
  type Scratch,
  type TextSink,
} from "../../../src/host/host.ts";
import { joinBytes } from "../../../src/host/join-bytes.ts";
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
      return newFile((bytes) => files.set(name, bytes));
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
    kindOf: async (path) => (files.has(path) ? "file" : undefined),
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

/** Files are replaced, never modified, so the byte array identifies a version. */
const identities = new WeakMap<Uint8Array, number>();
let lastIdentity = 0;

function stampOfBytes(bytes: Uint8Array): FileStamp {
  const identity = identities.get(bytes) ?? ++lastIdentity;
  identities.set(bytes, identity);
  return { text: `${bytes.length} ${identity}`, changed: -Infinity };
}

function openBytes(bytes: Uint8Array): OpenFile {
  let position = 0;
  return {
    size: bytes.length,
    stamp: stampOfBytes(bytes),
    read: async (into, from = position) => {
      const part = bytes.subarray(from, from + into.length);
      into.set(part);
      position = from + part.length;
      return part.length;
    },
    close: async () => {},
  };
}

function newFile(keep: (bytes: Uint8Array) => void): NewFile {
  const parts: Uint8Array[] = [];
  let length = 0;
  keep(new Uint8Array(0));
  return {
    write(bytes) {
      parts.push(bytes.slice());
      length += bytes.length;
    },
    rewrite(position, bytes) {
      const all = joinBytes(parts, length);
      all.set(bytes, position);
      parts.splice(0, parts.length, all);
    },
    finish: async () => keep(joinBytes(parts, length)),
    abandon: () => keep(joinBytes(parts, length)),
  };
}

function scratchInMemory(): Scratch {
  let bytes = new Uint8Array(1024);
  let end = 0;
  return {
    append(more) {
      if (end + more.length > bytes.length) {
        const grown = new Uint8Array((end + more.length) * 2);
        grown.set(bytes.subarray(0, end));
        bytes = grown;
      }
      bytes.set(more, end);
      end += more.length;
      return end - more.length;
    },
    rewrite: (position, more) => bytes.set(more, position),
    read: (position, into) => into.set(bytes.subarray(position, position + into.length)),
    close: () => void (bytes = new Uint8Array(0)),
  };
}
