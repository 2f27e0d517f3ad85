import { LF } from "../bytes/ascii.ts";
import type { Host } from "./host.ts";
import { readFully } from "./read-fully.ts";

const BLOCK = 1024 * 1024;

/** Passes on the lines of a file, many at a time; a block is valid during the call. Rejects with a `HostError`. */
export async function readLines(
  path: string,
  host: Pick<Host, "openFile">,
  take: (lines: Uint8Array) => void,
): Promise<void> {
  const file = await host.openFile(path);
  try {
    let buffer = new Uint8Array(BLOCK);
    let kept = 0;
    for (;;) {
      const read = await readFully(file, buffer.subarray(kept));
      const filled = buffer.subarray(0, kept + read.length);
      if (read.length === 0) {
        if (kept > 0) take(filled);
        return;
      }
      const end = filled.lastIndexOf(LF) + 1;
      if (end > 0) take(filled.subarray(0, end));
      else if (filled.length === buffer.length) {
        // A line that is longer than the buffer.
        const larger = new Uint8Array(buffer.length * 2);
        larger.set(buffer);
        buffer = larger;
      }
      buffer.copyWithin(0, end, filled.length);
      kept = filled.length - end;
    }
  } finally {
    await file.close();
  }
}
