import { newFileInMemory, openBytes, stampOfBytes } from "./file-in-memory.ts";
import { type Host, HostError } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";

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
