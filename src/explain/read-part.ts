import type { OpenFile } from "../host/host.ts";

/** The bytes of a file from one position to another, or to its end; at the start of other bytes, if there are some. */
export async function readPart(
  file: OpenFile,
  from: number,
  to: number,
  into?: Uint8Array,
): Promise<Uint8Array> {
  const bytes = into?.subarray(0, to - from) ?? new Uint8Array(Math.max(0, to - from));
  let length = 0;
  while (length < bytes.length) {
    const count = await file.read(bytes.subarray(length), from + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}
