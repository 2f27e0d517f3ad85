import type { Host } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";

/** The first bytes of a file; undefined if it cannot be read. */
export async function readStart(
  path: string,
  length: number,
  host: Host,
): Promise<Uint8Array | undefined> {
  return await ifAvailable(async () => {
    const file = await host.openFile(path);
    try {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, await file.read(bytes));
    } finally {
      await file.close();
    }
  });
}
