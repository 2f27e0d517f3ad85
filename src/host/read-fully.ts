import type { OpenFile } from "./host.ts";

/** Reads until the buffer is full or the file ends, and returns the bytes read. Rejects with a `HostError`. */
export async function readFully(
  file: OpenFile,
  into: Uint8Array,
  position?: number,
): Promise<Uint8Array> {
  let length = 0;
  while (length < into.length) {
    const from = position === undefined ? undefined : position + length;
    const count = await file.read(into.subarray(length), from);
    if (count === 0) break;
    length += count;
  }
  return into.subarray(0, length);
}
