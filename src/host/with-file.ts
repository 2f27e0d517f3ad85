import { openBytes } from "./file-in-memory.ts";
import { type Host, HostError } from "./host.ts";

/** The same host with one more file, which exists only in memory. */
export function withFile(host: Host, path: string, bytes: Uint8Array): Host {
  const stamp = { text: `${bytes.length} in memory`, changed: -Infinity };
  return {
    ...host,
    readFile: async (one) => (one === path ? bytes : await host.readFile(one)),
    openFile: async (one) => (one === path ? openBytes(bytes, stamp) : await host.openFile(one)),
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
