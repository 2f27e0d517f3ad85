import type { OpenFile } from "./host.ts";

/** Fills the bytes from a position, or from where the last read ended, and returns what there was. Rejects with a `HostError`. */
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
