import type { FileStamp, NewFile, OpenFile, Scratch } from "./host.ts";
import { joinBytes } from "./join-bytes.ts";

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
