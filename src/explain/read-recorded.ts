import type { Host, OpenFile } from "../host/host.ts";
import { ifAvailable } from "../host/if-available.ts";
import type { RecordedFile } from "../record/record-format.ts";

/**
 * Reads from a file that a list was built from, or from its cached copy. Undefined if the file has changed or cannot be read,
 * or no copy is cached.
 */
export async function readRecorded<T>(
  { path, stamp, sha256 }: RecordedFile,
  cacheDir: string | undefined,
  host: Host,
  read: (file: OpenFile) => Promise<T>,
): Promise<T | undefined> {
  // A record is stored beside the list and may come from elsewhere: it selects a file that has not changed, or a digest, not a path.
  const isDigest = /^[0-9a-f]{64}$/.test(sha256 ?? "");
  if (path === undefined && (!isDigest || cacheDir === undefined)) return undefined;
  return await ifAvailable(async () => {
    const file = await host.openFile(path ?? host.path.join(cacheDir!, "objects", sha256!));
    try {
      return path === undefined || file.stamp.text === stamp ? await read(file) : undefined;
    } finally {
      await file.close();
    }
  });
}
