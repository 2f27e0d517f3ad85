import { decodeUtf8, encodeUtf8 } from "../bytes/utf8.ts";
import {
  type FetchRequest,
  type FetchResponse,
  type Host,
  HostError,
  type TextSink,
} from "./host.ts";

export interface MemoryHostOptions {
  /** Path → content. Relative paths stand below `cwd`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Address → answer; a string is a 200 with that body. */
  readonly web?: Readonly<Record<string, string | FetchResponse>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: Date;
  readonly isTerminal?: boolean;
}

export interface MemoryHost extends Host {
  /** What is on the disk now, by absolute path. */
  readonly files: Map<string, Uint8Array>;
  readonly output: { stdout: string; stderr: string };
}

/** A world in memory: for tests, and for using the library without a disk. */
export function memoryHost(options: MemoryHostOptions = {}): MemoryHost {
  const cwd = "/project";
  const files = new Map<string, Uint8Array>();
  for (const [path, content] of Object.entries(options.files ?? {}))
    files.set(absolute(cwd, path), typeof content === "string" ? encodeUtf8(content) : content);
  const output = { stdout: "", stderr: "" };

  function read(path: string): Uint8Array {
    const bytes = files.get(path);
    if (bytes !== undefined) return bytes;
    const isFolder = [...files.keys()].some((file) => file.startsWith(`${path}/`));
    throw isFolder
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
    env: options.env ?? {},
    files,
    output,
    now: () => options.now ?? new Date(0),
    readFile: async (path) => read(path),
    exists: async (path) => files.has(path),
    realPath: async (path) => {
      read(path);
      return path;
    },
    makeFolder: async () => {},
    createFile: async (path, bytes) => {
      if (files.has(path)) throw new HostError("EEXIST", "the file exists");
      files.set(path, bytes);
    },
    rename: async (from, to) => {
      files.set(to, read(from));
      files.delete(from);
    },
    removeFile: async (path) => {
      files.delete(path);
    },
    syncFolder: async () => {},
    fetch: async (request: FetchRequest): Promise<FetchResponse> => {
      const answer = options.web?.[request.url];
      if (answer === undefined) throw new HostError("ECONNREFUSED", "connection refused");
      if (typeof answer !== "string") return answer;
      return { status: 200, headers: {}, body: encodeUtf8(answer) };
    },
    stdout: memorySink("stdout"),
    stderr: memorySink("stderr"),
  };
}

function absolute(cwd: string, path: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path}`;
}
