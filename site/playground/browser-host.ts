import type { PlatformPath } from "node:path";
import {
  type FetchResponse,
  type Host,
  HostError,
  type TextSink,
  joinBytes,
} from "../../src/host/host.ts";
import {
  newFileInMemory,
  openBytes,
  scratchInMemory,
  stampOfBytes,
} from "../../src/host/memory-files.ts";
import * as paths from "./node/path.ts";

/** Where the files of the user are. */
export const FOLDER = "/lists";
/** The kernel's memory is beside this. A tab may use 4 GB. */
const MEMORY = 3 * 2 ** 30;

export interface BrowserHost extends Host {
  readonly files: Map<string, Uint8Array>;
}

/**
 * The outside world of a page: files in memory. An address is answered by the user's file that stands for it; nothing is ever
 * fetched.
 */
export function browserHost(
  given: ReadonlyMap<string, Uint8Array>,
  addresses: ReadonlyMap<string, string> = new Map(),
): BrowserHost {
  const files = new Map<string, Uint8Array>();
  for (const [name, bytes] of given) files.set(paths.resolve(FOLDER, name), bytes);

  const read = (path: string): Uint8Array => {
    const bytes = files.get(path);
    if (bytes !== undefined) return bytes;
    throw [...files.keys()].some((file) => file.startsWith(`${path}/`))
      ? new HostError("EISDIR", "is a folder")
      : new HostError("ENOENT", "it is not among the files of this page");
  };

  return {
    cwd: FOLDER,
    path: paths as unknown as PlatformPath,
    env: {},
    files,
    now: () => new Date(),
    readFile: async (path) => read(path),
    openFile: async (path) => openBytes(read(path)),
    exists: async (path) => files.has(path),
    realPath: async (path) => {
      read(path);
      return path;
    },
    makeFolder: async () => {},
    createFile(path) {
      if (files.has(path)) throw new HostError("EEXIST", "the file exists");
      return newFileInMemory((bytes) => files.set(path, bytes));
    },
    appendFile: async (path, bytes) => {
      const old = files.get(path) ?? new Uint8Array(0);
      files.set(path, joinBytes([old, bytes], old.length + bytes.length));
    },
    openScratch: scratchInMemory,
    scratchSpace: async () => ({ folder: "/tmp", free: MEMORY }),
    sizeOf: async (path) => files.get(path)?.length ?? 0,
    stampOf: async (path) => {
      const bytes = files.get(path);
      return bytes && stampOfBytes(bytes);
    },
    memoryLimit: () => MEMORY,
    processId: () => ({ pid: 1, began: "", machine: "page" }),
    isRunning: () => false,
    listFolder: async (folder) => {
      const below = [...files.keys()].filter((path) => path.startsWith(`${folder}/`));
      return [...new Set(below.map((path) => path.slice(folder.length + 1).split("/")[0]!))];
    },
    kindOf: async (path) => (files.has(path) ? "file" : undefined),
    link: async (from, to) => {
      if (files.has(to)) throw new HostError("EEXIST", "the file exists");
      files.set(to, read(from));
    },
    touch: async () => {},
    rename: async (from, to) => {
      files.set(to, read(from));
      files.delete(from);
    },
    removeFile: async (path) => void files.delete(path),
    syncFolder: async () => {},
    fetch: async (request): Promise<FetchResponse> => {
      const { url } = request;
      const name = addresses.get(url) ?? fileOf(url);
      const bytes = files.get(paths.resolve(FOLDER, name));
      if (bytes === undefined)
        throw new HostError("ENOTSUP", `this page fetches nothing; add the file ${name}`);
      request.take(bytes);
      return { status: 200, headers: { "content-type": "text/plain" } };
    },
    wait: async () => {},
    packFile: (from, to, packing) => {
      if (packing !== "gzip") return undefined;
      const packed = new Blob([read(from) as Uint8Array<ArrayBuffer>])
        .stream()
        .pipeThrough(new CompressionStream("gzip"));
      return new Response(packed)
        .arrayBuffer()
        .then((bytes) => void files.set(to, new Uint8Array(bytes)));
    },
    cacheDir: () => "/cache",
    stdout: SILENT,
    stderr: SILENT,
  };
}

const SILENT: TextSink = {
  write: () => {},
  send: async () => {},
  isTerminal: false,
  columns: 80,
};

/** The name of the file that stands for an address: the last part of its path. */
export function fileOf(address: string): string {
  const parts = new URL(address).pathname.split("/").filter((part) => part !== "");
  return decodeURIComponent(parts.at(-1) ?? new URL(address).hostname);
}
