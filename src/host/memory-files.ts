import { hashBytes } from "../bytes/hash.ts";
import {
  type FileStamp,
  type Host,
  HostError,
  type NewFile,
  type OpenFile,
  type Scratch,
  joinBytes,
} from "./host.ts";

/** The same host with more files, which exist only in memory. */
export function withMemoryFiles(host: Host, files: ReadonlyMap<string, Uint8Array>): Host {
  const stamps = new Map<Uint8Array, FileStamp>();
  const stampIn = (bytes: Uint8Array): FileStamp => {
    const { length } = bytes;
    const known = stamps.get(bytes);
    if (known !== undefined) return known;
    // Another process must see whether the content is the same.
    const hashes = [1, 2].map((seed) => hashBytes(seed, bytes, 0, length));
    const stamp = { text: `${length} ${hashes.join(" ")} in memory`, changed: -Infinity };
    stamps.set(bytes, stamp);
    return stamp;
  };
  return {
    ...host,
    readFile: async (path) => files.get(path) ?? (await host.readFile(path)),
    openFile: async (path) => {
      const bytes = files.get(path);
      return bytes === undefined ? await host.openFile(path) : openBytes(bytes, stampIn(bytes));
    },
    exists: async (path) => files.has(path) || (await host.exists(path)),
    realPath: async (path) => (files.has(path) ? path : await host.realPath(path)),
    sizeOf: async (path) => files.get(path)?.length ?? (await host.sizeOf(path)),
    stampOf: async (path) => {
      const bytes = files.get(path);
      return bytes === undefined ? await host.stampOf(path) : stampIn(bytes);
    },
    kindOf: async (path) => (files.has(path) ? "file" : await host.kindOf(path)),
    createFile(path, like) {
      if (files.has(path)) throw new HostError("EEXIST", "the file exists");
      return host.createFile(path, like);
    },
  };
}

/** Files are replaced, never modified, so the byte array identifies a version. */
const identities = new WeakMap<Uint8Array, number>();
let lastIdentity = 0;

/** The stamp of a file with these bytes. */
export function stampOfBytes(bytes: Uint8Array): FileStamp {
  const identity = identities.get(bytes) ?? ++lastIdentity;
  identities.set(bytes, identity);
  return { text: `${bytes.length} ${identity}`, changed: -Infinity };
}

/** Bytes as an open file. */
export function openBytes(bytes: Uint8Array, stamp: FileStamp = stampOfBytes(bytes)): OpenFile {
  let position = 0;
  return {
    size: bytes.length,
    stamp,
    read: async (into, from = position) => {
      const part = bytes.subarray(from, from + into.length);
      into.set(part);
      position = from + part.length;
      return part.length;
    },
    close: async () => {},
  };
}

/** A new file whose bytes are kept by the given function. */
export function newFileInMemory(keep: (bytes: Uint8Array) => void): NewFile {
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

/** A scratch file in memory. */
export function scratchInMemory(): Scratch {
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

async function nothing(): Promise<void> {}

/** The same host, except that written files stay in memory, where only this host finds them. Its locks are its own. */
export function shadowHost(host: Host): Host {
  /** What was written, by path; undefined for a file that was removed. */
  const files = new Map<string, Uint8Array | undefined>();
  const written = (path: string): Uint8Array => {
    const bytes = files.get(path);
    if (bytes === undefined) throw new HostError("ENOENT", "no such file or folder");
    return bytes;
  };
  const readFile = async (path: string): Promise<Uint8Array> =>
    files.has(path) ? written(path) : await host.readFile(path);
  return {
    ...host,
    exchange: async () => {
      throw new HostError("ENOSYS", "a dry run asks no other machine");
    },
    readFile,
    openFile: async (path) =>
      files.has(path) ? openBytes(written(path)) : await host.openFile(path),
    exists: async (path) =>
      files.has(path) ? files.get(path) !== undefined : await host.exists(path),
    realPath: async (path) => (files.has(path) ? path : await host.realPath(path)),
    sizeOf: async (path) =>
      files.has(path) ? (files.get(path)?.length ?? 0) : await host.sizeOf(path),
    stampOf: async (path) => {
      if (!files.has(path)) return await host.stampOf(path);
      const bytes = files.get(path);
      return bytes && stampOfBytes(bytes);
    },
    kindOf: async (path) => {
      if (!files.has(path)) return await host.kindOf(path);
      return files.get(path) === undefined ? undefined : "file";
    },
    listFolder: async (folder) => {
      const names = new Set(await host.listFolder(folder));
      for (const [path, bytes] of files) {
        if (host.path.dirname(path) !== folder) continue;
        if (bytes === undefined) names.delete(host.path.basename(path));
        else names.add(host.path.basename(path));
      }
      return [...names];
    },
    createFile: (path) => newFileInMemory((bytes) => files.set(path, bytes)),
    appendFile: async (path, bytes) => {
      const old = await readFile(path).catch(() => new Uint8Array(0));
      files.set(path, joinBytes([old, bytes], old.length + bytes.length));
    },
    link: async (from, to) => {
      // A lock of another run does not count.
      if (files.get(to) !== undefined) throw new HostError("EEXIST", "the file exists");
      files.set(to, await readFile(from));
    },
    rename: async (from, to) => {
      files.set(to, await readFile(from));
      files.set(from, undefined);
    },
    removeFile: async (path) => void files.set(path, undefined),
    makeFolder: nothing,
    touch: nothing,
    syncFolder: nothing,
    wait: nothing,
  };
}
