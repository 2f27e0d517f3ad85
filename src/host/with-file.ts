import { type Host, HostError, type OpenFile } from "./host.ts";

/** The same host with one more file, which exists only in memory. */
export function withFile(host: Host, path: string, bytes: Uint8Array): Host {
  const stamp = { text: `${bytes.length} in memory`, changed: -Infinity };
  return {
    ...host,
    readFile: async (one) => (one === path ? bytes : await host.readFile(one)),
    openFile: async (one) => (one === path ? opened(bytes, stamp) : await host.openFile(one)),
    exists: async (one) => one === path || (await host.exists(one)),
    realPath: async (one) => (one === path ? one : await host.realPath(one)),
    sizeOf: async (one) => (one === path ? bytes.length : await host.sizeOf(one)),
    stampOf: async (one) => (one === path ? stamp : await host.stampOf(one)),
    kindOf: async (one) => (one === path ? "file" : await host.kindOf(one)),
    createFile(one, like) {
      if (one === path) throw new HostError("EEXIST", "the file exists");
      return host.createFile(one, like);
    },
  };
}

function opened(bytes: Uint8Array, stamp: OpenFile["stamp"]): OpenFile {
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
